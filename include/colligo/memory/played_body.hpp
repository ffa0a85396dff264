// SPDX-License-Identifier: BSL-1.0
/// @file
/// The body of shared_steps.hpp that plays a prepared call.
#pragma once

#include <exception>

#include "shared_steps.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

// So often a rank with a core of its own looks for a line before it does anything else.
inline constexpr unsigned polls_at_once = 128;

COLLIGO_BODY std::exception_ptr shared_steps::play(prepared_call const& prepared, call const& now, scratch& memory,
                                                   std::uint32_t number) {
  std::byte const* line = nullptr;
  auto const to = [&](action::place const& at) {
    return (at.in == action::where::output ? now.out.data : prepared.own) + at.offset;
  };
  auto const from = [&](action::place const& at) -> std::byte const* {
    if (at.in == action::where::input) return now.in.data + at.offset;
    return at.in == action::where::line ? line : to(at);
  };
  begin_call(number, prepared.hash_in_tags);
  action const* next = prepared.actions.begin();
  action const* const end = prepared.actions.end();
  // Other ranks wait for these messages, and for nothing else that this rank does here.
  for (; next != end && next->what == action::kind::put && next->to->has_room_for(next->lines); ++next)
    put_short(*next->to, from(next->from), next->bytes, tag_.of(next->bytes));
  call_ = prepared.identity;
  report(number, *now.of);
  working_vector data(now, memory);
  work_on(data);
  was_hopeless_ = false;
  for (; next != end; ++next) {
    action const& a = *next;
    switch (a.what) {
      case action::kind::put:
        if (a.to->has_room_for(a.lines)) [[likely]] put_short(*a.to, from(a.from), a.bytes, sent_tag(a.bytes));
        else add_out(a.peer, a.all, from(a.from), a.bytes), run();
        break;
      case action::kind::take:
      case action::kind::fold: {
        unsigned polls = 0;
        awaited const m = message(a.peer, a.bytes);
        if (host_.spins()) a.by->poll(m, polls_at_once);
        auto const wait = [&] { wait_for(m, *a.by, polls); };
        if (a.what == action::kind::take) {
          a.by->take_lines(to(a.into), a.bytes, m, wait, a.written > a.bytes);
          break;
        }
        while (!a.by->has_line(m)) wait();
        line = a.by->line();
        data.combine(from(a.from), from(a.right), to(a.into), a.n);
        a.by->took_line();
        break;
      }
      case action::kind::combine: data.combine(from(a.from), from(a.right), to(a.into), a.n); break;
      case action::kind::copy: copy_bytes(from(a.from), a.bytes, to(a.into)); break;
    }
  }
  return data.failure();
}

}  // namespace colligo
