// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of shared_steps.hpp that play a prepared call.
#pragma once

#include "shared_steps.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

// So often a rank with a core of its own looks for a line before it does anything else.
inline constexpr unsigned polls_at_once = 128;

// False if there is no room.
inline bool shared_steps::play_put(action const& a, std::uint64_t tag) {
  if (a.lines == action::in_a_chunk || a.lines == action::one_way)
    return put_chunk(*a.to, place_from(a.from), a.bytes, a.bytes, a.lines == action::one_way, tag);
  if (!a.to->has_room_for(a.lines)) return false;
  put_short(*a.to, place_from(a.from), a.bytes, tag);
  return true;
}
inline void shared_steps::play_taken(action const& a, std::byte const* taken, working_vector& data) {
  if (a.what == action::kind::fold)
    data.combine(place_from(a.from, taken), place_from(a.right, taken), place_to(a.into), a.n);
  else
    copy_bytes(taken, a.bytes, place_to(a.into));
}

COLLIGO_BODY void shared_steps::begin_playing(prepared_call const& prepared, call const& now, std::uint32_t number) {
  begin_call(number, prepared.hash_in_tags, *now.of);
  played_ = {&prepared, &now, prepared.actions.begin()};
  was_hopeless_ = false;
  // The first messages come before this rank's report, because other ranks wait for them.
  action const*& next = played_.next;
  while (next != prepared.actions.end() && next->what == action::kind::put && play_put(*next, tag_.of(next->bytes)))
    ++next;
  call_ = prepared.identity;
  report(number, *now.of);
}

// Counts a look for a message in vain, and now and then checks whether the other ranks are still there.
COLLIGO_BODY bool shared_steps::is_stuck(single const& alone) {
  if (std::exchange(stuck_at_, played_.next) != played_.next) was_hopeless_ = false;   // something has moved
  if (++stuck_ % 256 == 0) check_ranks(&alone);
  return false;
}

[[gnu::noinline]] COLLIGO_BODY bool shared_steps::play_chunk(action const& a, working_vector& data, bool waits) {
  unsigned polls = 0;
  awaited const m = message(a.peer, a.bytes);
  std::byte const* chunk;
  while (!(chunk = a.by->chunk(a.bytes, m))) {
    if (!waits) return is_stuck({m, *a.by, way::ring});
    wait_for(m, *a.by, polls, way::ring);
  }
  std::uint64_t const began = a.by->is_timed() ? cycles() : 0;
  play_taken(a, chunk, data);
  if (a.by->is_timed()) a.by->took(a.bytes, cycles() - began);
  a.by->release(a.bytes);
  return true;
}

[[gnu::always_inline]] inline bool shared_steps::play_lines(action const& a, working_vector& data, bool waits) {
  unsigned polls = 0;
  awaited const m = message(a.peer, a.bytes);
  if (waits && host_.spins()) a.by->poll(m, polls_at_once);
  auto const wait = [&] { wait_for(m, *a.by, polls); };
  if (!a.by->has_line(m)) {
    if (!waits) return is_stuck({m, *a.by});
    do wait();
    while (!a.by->has_line(m));
  }
  if (a.what == action::kind::take) {
    a.by->take_lines(place_to(a.into), a.bytes, m, wait, a.written > a.bytes);
  } else {
    play_taken(a, a.by->line(), data);
    a.by->took_line();
  }
  return true;
}

COLLIGO_BODY shared_steps::state shared_steps::play(working_vector& data, bool waits) {
  work_on(data);
  for (action const* const end = played_.prepared->actions.end(); played_.next != end; ++played_.next) {
    action const& a = *played_.next;
    if (!traffic_.out.empty() && advance() != state::done) return state::stuck;   // a message that found no room
    switch (a.what) {
      case action::kind::put:
        if (play_put(a, sent_tag(a.bytes))) [[likely]] break;
        add_out(a.peer, a.all, place_from(a.from), a.bytes);
        waits ? run() : begin_added();
        break;
      case action::kind::take:
      case action::kind::fold:
        if (!(a.lines == action::in_a_chunk ? play_chunk(a, data, waits) : play_lines(a, data, waits)))
          return state::stuck;
        break;
      case action::kind::combine:
        data.combine(place_from(a.from), place_from(a.right), place_to(a.into), a.n);
        break;
      case action::kind::copy: copy_bytes(place_from(a.from), a.bytes, place_to(a.into)); break;
    }
  }
  return traffic_.out.empty() || waits ? state::done : advance();
}

}  // namespace colligo
