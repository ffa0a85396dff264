// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of run_record.hpp.
#pragma once

#include "run_record.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

[[gnu::cold]] COLLIGO_BODY void run_record::add(action const& what, addresses const& data) {
  if (!steps_) return;
  if (actions_.size() == most_actions) return spoil();
  try {
    actions_.push_back(what);
    data_.push_back(data);
  } catch (std::bad_alloc const&) {   // the call itself goes on
    spoil();
  }
}
[[gnu::cold]] COLLIGO_BODY void run_record::put(outlet& to, audience* all, int peer, std::byte const* from,
                                                std::size_t bytes, std::uint32_t lines) {
  add({.what = action::kind::put, .peer = peer, .bytes = static_cast<std::uint32_t>(bytes), .lines = lines, .to = &to,
       .all = all},
      {.from = {from, from + bytes}});
}
[[gnu::cold]] COLLIGO_BODY void run_record::take(inlet& from, int peer, std::byte* into, std::size_t bytes,
                                                 std::uint32_t lines, std::size_t room) {
  add({.what = action::kind::take, .is_padded = room > bytes, .peer = peer, .bytes = static_cast<std::uint32_t>(bytes),
       .lines = lines, .by = &from},
      {.into = {into, into + room}});
}
[[gnu::cold]] COLLIGO_BODY void run_record::combine(std::byte const* left, std::byte const* right, std::byte* into,
                                                    std::size_t n) {
  std::size_t const bytes = call_.of->bytes(n);
  add({.what = action::kind::combine, .bytes = static_cast<std::uint32_t>(bytes), .n = static_cast<std::uint32_t>(n)},
      {{left, left + bytes}, {right, right + bytes}, {into, into + bytes}});
}
[[gnu::cold]] COLLIGO_BODY void run_record::copy(std::byte const* from, std::size_t bytes, std::byte* to) {
  if (bytes == 0) return;
  add({.what = action::kind::copy, .bytes = static_cast<std::uint32_t>(bytes)},
      {{from, from + bytes}, {}, {to, to + bytes}});
}

// Gives each address its place: in the output, in the input, or in memory of the call's own, which has the stretches
// that the run used one after the other.
[[gnu::cold]] COLLIGO_BODY bool run_record::place_data(std::size_t& own_bytes) {
  element const& of = *call_.of;
  stretch const input{call_.in.data, call_.in.data + of.bytes(call_.in.covers.size())};
  stretch const output{call_.out.data, call_.out.data + of.bytes(call_.out.covers.size())};
  auto const holds = [](stretch const& all, stretch const& part) {
    return all.first <= part.first && part.last <= all.last;
  };
  auto const meet = [](stretch const& a, stretch const& b) { return a.first < b.last && b.first < a.last; };
  struct part {
    stretch used;
    std::size_t offset;
  };
  row<part> own;   // disjoint
  auto const each = [&](auto f) {
    for (std::size_t i = 0; i < actions_.size(); ++i)
      for (auto const& [data, place] : {std::pair(&data_[i].from, &actions_[i].from),
                                       std::pair(&data_[i].right, &actions_[i].right),
                                       std::pair(&data_[i].into, &actions_[i].into)})
        if (data->first != data->last) f(*data, *place);
  };
  bool is_possible = true;
  each([&](stretch used, action::place&) {
    if (holds(output, used) || holds(input, used)) return;
    if (meet(output, used) || meet(input, used)) is_possible = false;   // partly an argument's
    for (std::size_t k = 0; k < own.size();) {
      if (!meet(own[k].used, used)) {
        ++k;
        continue;
      }
      used = {std::min(used.first, own[k].used.first), std::max(used.last, own[k].used.last)};
      own[k] = own[own.size() - 1];
      own.pop_back();
      k = 0;
    }
    own.push_back({used, 0});
  });
  own_bytes = 0;
  for (part& p : own) {   // alignment stays
    own_bytes = (own_bytes + lines_apart - 1) / lines_apart * lines_apart;
    p.offset = own_bytes + reinterpret_cast<std::uintptr_t>(p.used.first) % lines_apart;
    own_bytes = p.offset + static_cast<std::size_t>(p.used.last - p.used.first);
  }
  if (!is_possible || own_bytes > most_bytes) return false;
  each([&](stretch const& used, action::place& place) {
    auto const at = [&](action::where in, std::byte const* first, std::size_t offset = 0) {
      place = {in, static_cast<std::uint32_t>(offset + static_cast<std::size_t>(used.first - first))};
    };
    if (holds(output, used)) return at(action::where::output, output.first);
    if (holds(input, used)) return at(action::where::input, input.first);
    for (part const& p : own)
      if (holds(p.used, used)) at(action::where::own, p.used.first, p.offset);
  });
  return true;
}

// Whether the actions read only what the user gave or they have written, and write the whole output.
[[gnu::cold]] COLLIGO_BODY bool run_record::is_complete(std::size_t own_bytes) const {
  element const& of = *call_.of;
  std::size_t const bytes_out = of.bytes(call_.out.covers.size());
  row<bool> output(bytes_out), own(own_bytes);
  std::byte const* const in = call_.in.data;
  for (std::size_t i = 0; i < bytes_out; ++i)   // in place
    output[i] = call_.out.data + i >= in && call_.out.data + i < in + of.bytes(call_.in.covers.size());
  auto const all = [&](action::place const& at, std::size_t bytes, auto f) {
    if (at.in == action::where::input) return true;
    row<bool>& known = at.in == action::where::output ? output : own;
    bool is = true;
    for (std::size_t i = at.offset; i < at.offset + bytes; ++i) is = f(known[i]) && is;
    return is;
  };
  auto const is_known = [](bool& known) { return known; };
  auto const learn = [](bool& known) { return known = true; };
  for (action const& a : actions_) {
    bool const reads = a.what != action::kind::take, writes = a.what != action::kind::put;
    if (reads && !all(a.from, a.bytes, is_known)) return false;
    if (a.what == action::kind::combine && !all(a.right, a.bytes, is_known)) return false;
    if (writes && (a.into.in == action::where::input || !all(a.into, a.bytes, learn))) return false;
  }
  return call_.output_is_free || !is_any(output, [](bool known) { return !known; });
}

// Combines straight from a line what is taken only to be combined.
[[gnu::cold]] COLLIGO_BODY void run_record::fold_from_lines() {
  auto const meet = [](action::place const& a, std::size_t bytes_a, action::place const& b, std::size_t bytes_b) {
    return a.in == b.in && a.offset < b.offset + bytes_b && b.offset < a.offset + bytes_a;
  };
  auto const is_read_later = [&](std::size_t i, action::place const& at, std::size_t bytes) {
    for (; i < actions_.size(); ++i) {
      action const& a = actions_[i];
      if (a.what != action::kind::take && a.from.in != action::where::line && meet(a.from, a.bytes, at, bytes)) return true;
      bool const has_right = a.what == action::kind::combine || a.what == action::kind::fold;
      if (has_right && a.right.in != action::where::line && meet(a.right, a.bytes, at, bytes)) return true;
      if (a.what != action::kind::put && a.into.in == at.in && a.into.offset <= at.offset &&
          at.offset + bytes <= a.into.offset + a.bytes) return false;   // overwritten
    }
    return false;
  };
  std::size_t kept = 0;
  for (std::size_t i = 0; i < actions_.size(); ++i) {
    action const taken = actions_[i];
    action& next = actions_[kept++] = taken;
    if (taken.what != action::kind::take || taken.lines != 1 || i + 1 == actions_.size()) continue;
    action const use = actions_[i + 1];
    if (use.what != action::kind::combine || use.bytes != taken.bytes || taken.into.in != action::where::own) continue;
    bool const is_left = use.from == taken.into, is_right = use.right == taken.into;
    action::place const other = is_left ? use.right : use.from;
    if (is_left == is_right || meet(other, use.bytes, taken.into, taken.bytes) ||
        meet(use.into, use.bytes, taken.into, taken.bytes) || is_read_later(i + 2, taken.into, taken.bytes)) continue;
    next.what = action::kind::fold;
    next.from = is_left ? action::place{action::where::line} : other;
    next.right = is_left ? other : action::place{action::where::line};
    next.into = use.into;
    next.n = use.n;
    ++i;
  }
  while (actions_.size() > kept) actions_.pop_back();
}

[[gnu::cold]] COLLIGO_BODY row<action> run_record::finish(std::size_t& own_bytes) {
  if (!steps_ || !place_data(own_bytes) || !is_complete(own_bytes)) return {};
  fold_from_lines();
  row<action> exact;   // without spare capacity
  exact.append(actions_.begin(), actions_.end());
  return exact;
}

}  // namespace colligo
