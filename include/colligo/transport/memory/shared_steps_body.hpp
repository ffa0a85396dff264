// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of shared_steps.hpp.
#pragma once

#include <algorithm>
#include <utility>

#include "look_ahead.hpp"
#include "shared_steps.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

// Puts a message in lines. Copies of a constant size are worth a switch.
inline void put_short(sender& to, std::byte const* from, std::size_t bytes, std::uint64_t tag) {
  switch (bytes) {
    case 4: return to.put_line<4>(from, tag);
    case 8: return to.put_line<8>(from, tag);
    case 16: return to.put_line<16>(from, tag);
    case 24: return to.put_line<24>(from, tag);
    case 32: return to.put_line<32>(from, tag);
    case 40: return to.put_line<40>(from, tag);
    case 48: return to.put_line<48>(from, tag);
    default: return to.put_lines(from, bytes, tag);
  }
}

// Precondition: there is room.
inline void shared_steps::put_in_lines(sender& to, reader_group* all, int peer, std::byte const* from,
                                       std::size_t bytes) {
  if (run_record* const record = data_->record()) [[unlikely]]
    record->put(to, all, peer, from, bytes, lines_for(bytes));
  put_short(to, from, bytes, sent_tag(bytes));
}

inline void shared_steps::record_taken(receiver& from, int peer, std::byte* into, std::size_t bytes, bool padded) {
  if (run_record* const record = data_->record()) [[unlikely]]
    record->take(from, peer, into, bytes, lines_for(bytes), padded ? lines_for(bytes) * line_payload : bytes);
}

// Puts a whole message, in lines or in one chunk. False if there is no room.
COLLIGO_BODY bool shared_steps::put_at_once(sender& to, int peer, std::byte const* from, std::size_t bytes,
                                            bool one_way) {
  if (!in_lines(bytes)) {
    if (!put_chunk(to, from, bytes, bytes, one_way, sent_tag(bytes))) return false;
    if (run_record* const record = data_->record()) [[unlikely]]
      record->put(to, nullptr, peer, from, bytes, one_way ? action::one_way : action::in_a_chunk);
    return true;
  }
  if (!to.has_room_for(lines_for(bytes))) return false;
  put_in_lines(to, nullptr, peer, from, bytes);
  return true;
}

COLLIGO_BODY void shared_steps::exchange(range out, int to, own which, fragment const& in) {
  std::size_t const bytes_out = out.size() * size_, bytes_in = in.elements.size() * size_;
  std::byte const* const source = data_->read(out, which, nullptr);
  if (std::max(bytes_out, bytes_in) <= longest_at_once_ &&
      (bytes_out == 0 || put_at_once(host_.to(to), to, source, bytes_out, bytes_in == 0))) {
    if (bytes_in != 0) take_at_once(host_.from(in.peer), in);
    return;
  }
  if (bytes_out != 0) add_out(to, nullptr, source, bytes_out);
  if (bytes_in != 0) add_in(in, nullptr);
  run();
}

// One message out and one in, of one fragment each.
inline bool is_exchange(std::span<operand const> list) {
  if (list.size() != 2 || !list[0].sends() || list[0].which == own::both || list[1].sends()) return false;
  return !is_any(list, [](operand const& o) { return o.vanishes() || !o.elements.tail.empty(); });
}

inline bool is_one_message(std::span<operand const> list) {
  return list.size() == 1 && !list[0].vanishes() && list[0].which != own::both && list[0].elements.tail.empty();
}

COLLIGO_BODY void shared_steps::perform(std::span<operand const> list, list_kind kind) {
  reader_group* const all = host_.reader_group_of(list, kind);
  if (!all && is_one_message(list)) {
    auto const& [what, peer, elements, which] = list[0];
    if (list[0].sends()) return exchange(elements.head, peer, which, {});
    return exchange({}, nobody, own::result, {what, peer, elements.head, which});
  }
  if (!all && is_exchange(list)) {
    operand const &out = list[0], &in = list[1];
    return exchange(out.elements.head, out.peer, out.which, {in.what, in.peer, in.elements.head, in.which});
  }
  if (send_all(list, all)) return take_all_short(list, all);
  receive_all(list, all);
  run();
}

COLLIGO_BODY void shared_steps::make_room(std::span<operand const> list, list_kind kind) {
  reader_group* const all = host_.reader_group_of(list, kind);
  make_room(list.size());
  std::size_t room = 0;
  for (fragment const p : fragments(list)) {
    if (!host_.has(p.peer)) continue;
    std::size_t const bytes = p.elements.size() * size_;
    if (p.sends()) {
      if (sender& to = channel_to(p.peer, all); !in_lines(bytes)) host_.allocate_ring(to);
      continue;
    }
    way const by = way_of(bytes, channel_from(p.peer, all).capacity(), all);
    if (!p.folds()) continue;
    if (by == way::lines) room += std::size_t{lines_for(bytes)} * cache_line;
    if (by == way::announced) room += read_size();
  }
  if (order_matters(list)) room = std::max(room, scratch_sizes(list).received * size_);
  data_->memory().received.of_size(room);
}

COLLIGO_BODY void shared_steps::begin(std::span<operand const> list, list_kind kind) {
  short_ = list, short_to_ = host_.reader_group_of(list, kind);
  is_short_ = send_all(list, short_to_);
  if (is_short_) return;
  receive_all(list, short_to_);
  begin_added();
}

// Sends, or adds, the messages of a list. True if all messages are short and those to be sent have been sent.
COLLIGO_BODY bool shared_steps::send_all(std::span<operand const> list, reader_group* all) {
  make_room(list.size());
  std::byte* free = nullptr;
  bool all_short = true, sent = false;
  for (fragment const p : fragments(list)) {
    std::size_t const bytes = p.elements.size() * size_;
    all_short &= in_lines(bytes);
    if (!p.sends() || (all && std::exchange(sent, true))) continue;
    if (p.combines_first() && !free) free = data_->memory().combined.of_size(scratch_sizes(list).combined * size_);
    sender& to = channel_to(p.peer, all);
    std::byte const* const from = data_->read(p.elements, p.which, free);
    if (p.combines_first()) free += bytes;
    if (in_lines(bytes) && traffic_.out.empty() && to.has_room_for(lines_for(bytes)))
      put_in_lines(to, all, p.peer, from, bytes);
    else add_out(p.peer, all, from, bytes);
  }
  return all_short && traffic_.out.empty();
}

COLLIGO_BODY void shared_steps::receive_all(std::span<operand const> list, reader_group* all) {
  std::byte* free = nullptr;
  if (order_matters(list)) {
    listed_ = list;
    free = data_->memory().received.of_size(scratch_sizes(list).received * size_);
  }
  for (fragment const p : fragments(list)) {
    if (p.sends()) continue;
    if (!free || !p.folds()) add_in(p, all);
    else add_in({operand::kind::recv, p.peer, p.elements, own::result}, all,
                std::exchange(free, free + p.elements.size() * size_));
  }
}

COLLIGO_BODY shared_steps::state shared_steps::advance() {
  if (is_short_) {   // once the first line of a peer has come, the others follow at once
    std::uint64_t const look = host_.next_look();
    for (operand const& o : short_) {
      if (o.vanishes() || o.sends()) continue;
      receiver& from = channel_from(o.peer, short_to_);
      if (!from.is_first_look(look)) continue;   // its next line is that of an earlier operand
      awaited const first = message(o.peer, o.elements.head.size() * size_);
      if (from.has_line(first)) continue;
      if (++stuck_ % 256 == 0) {
        single const alone{first, from};
        check_ranks(&alone);
      }
      return state::stuck;
    }
    is_short_ = false;
    take_all_short(short_, short_to_);
    return state::done;
  }
  return advance_messages();
}

COLLIGO_BODY void shared_steps::abandon() {
  abandon_messages();
  is_short_ = false;
}

COLLIGO_BODY void shared_steps::take_short(receiver& from, fragment const& p) {
  std::size_t const bytes = p.elements.size() * size_;
  unsigned polls = 0;
  awaited const m = message(p.peer, bytes);
  has_moved();
  auto const wait = [&] { wait_for(m, from, polls); };
  if (!p.folds()) {
    std::byte* const into = data_->write(p.elements);
    record_taken(from, p.peer, into, bytes, false);
    return from.take_lines(into, bytes, m, wait, false);
  }
  struct alignas(cache_line) { std::byte bytes[longest_in_lines]; } local;
  record_taken(from, p.peer, local.bytes, bytes, true);
  from.take_lines(local.bytes, bytes, m, wait, true);
  data_->combine(p.elements, local.bytes, p.peer < rank_, p.which);
}

COLLIGO_BODY void shared_steps::take_at_once(receiver& from, fragment const& p) {
  std::size_t const bytes = p.elements.size() * size_;
  if (in_lines(bytes)) return take_short(from, p);
  unsigned polls = 0;
  awaited const m = message(p.peer, bytes);
  has_moved();
  std::byte const* chunk;
  while (!(chunk = from.chunk(bytes, m))) wait_for(m, from, polls, way::ring);
  std::uint64_t const began = from.is_timed() ? cycles() : 0;
  std::byte* const into = p.folds() ? nullptr : data_->write(p.elements);
  if (run_record* const record = data_->record()) [[unlikely]]
    record->take(from, p.peer, into ? into : const_cast<std::byte*>(chunk), bytes, action::in_a_chunk, bytes);
  if (p.folds()) data_->combine(p.elements, chunk, p.peer < rank_, p.which);
  else copy_bytes(chunk, bytes, into);
  if (from.is_timed()) from.took(bytes, cycles() - began);
  from.release(bytes);
}

// For a step whose messages are all short, and those to be sent have been sent: receives one after the other.
COLLIGO_BODY void shared_steps::take_all_short(std::span<operand const> list, reader_group* all) {
  for (std::size_t i = 0, count; i < list.size(); i += count) {
    operand const& o = list[i];
    count = 1;
    if (o.vanishes() || o.sends()) continue;
    if (o.folds()) count = group_of_folds(list, i);
    if (count > 1) take_group(list.subspan(i, count), all);
    else
      for (range const r : {o.elements.head, o.elements.tail})
        if (!r.empty()) take_short(channel_from(o.peer, all), {o.what, o.peer, r, o.which});
  }
}

COLLIGO_BODY void shared_steps::take_group(std::span<operand const> group, reader_group* all) {
  range const elements = group[0].elements.head;
  std::size_t const bytes = elements.size() * size_;
  std::size_t const slot = lines_for(bytes) * cache_line;   // aligned, and with room for the whole last line
  std::byte* const room = data_->memory().received.of_size(group.size() * slot);
  unsigned polls = 0;
  auto const prefetch = [&](std::size_t k) { channel_from(group[k].peer, all).look_ahead(true); };
  for (look_ahead next(group.size(), rank_, prefetch); !next.is_over(); next.advance(prefetch)) {
    std::size_t const k = next.member();
    receiver& from = channel_from(group[k].peer, all);
    awaited const m = message(group[k].peer, bytes);
    has_moved();
    record_taken(from, group[k].peer, room + k * slot, bytes, true);
    from.take_lines(room + k * slot, bytes, m, [&] { wait_for(m, from, polls); }, true);
  }
  data_->combine_in_order(elements, rank_, group.size(), [&](std::size_t k) {
    return contribution{group[k].peer, room + k * slot};
  });
}

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
  played_ = {&prepared, prepared.actions.begin(),   // by action::where; nothing is written into the input
             {now.out.data, const_cast<std::byte*>(now.in.data), now.beyond.data, prepared.own}};
  has_moved();
  // The first messages come before this rank's report, because other ranks wait for them.
  action const*& next = played_.next;
  while (next != prepared.actions.end() && next->what == action::kind::put && play_put(*next, tag_.of(next->bytes)))
    ++next;
  call_ = prepared.identity;
  report(number, *now.of);
}

// Counts a look for a message in vain, and now and then checks whether the other ranks are still there.
COLLIGO_BODY bool shared_steps::is_stuck(single const& alone) {
  if (std::exchange(stuck_at_, played_.next) != played_.next) has_moved();   // something has moved
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
  auto const wait = [&] { wait_for(m, *a.by, polls); };
  if (!waits || !host_.spins() || !a.by->poll(m, polls_at_once)) [[unlikely]]
    while (!a.by->has_line(m)) {
      if (!waits) return is_stuck({m, *a.by});
      wait();
    }
  if (a.what == action::kind::take) {
    a.by->take_arriving(place_to(a.into), a.bytes, wait, a.written > a.bytes);
  } else {
    play_taken(a, a.by->line(), data);
    a.by->took_line();
  }
  return true;
}

COLLIGO_BODY shared_steps::state shared_steps::play(working_vector& data, bool waits) {
  work_on(data);
  auto are_sent = [&, polls = 0u]() mutable {   // messages that found no room
    for (; !traffic_.out.empty() && advance() != state::done; wait(polls))
      if (!waits) return false;
    return true;
  };
  for (action const* const end = played_.prepared->actions.end(); played_.next != end; ++played_.next) {
    action const& a = *played_.next;
    if (!are_sent()) return state::stuck;
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
  return are_sent() ? state::done : state::stuck;
}

}  // namespace colligo
