// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of shared_steps.hpp.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "../../core/error.hpp"
#include "look_ahead.hpp"
#include "shared_steps.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

// About this many bytes are read at once from another rank's memory: what a second-level cache keeps.
inline constexpr std::size_t longest_read = 256 * 1024;

inline constexpr auto no_message = static_cast<std::size_t>(-1);   // an index

// The index of the latest message in a channel; no_message if there is none.
template <class Messages, class Same>
std::size_t latest_message(Messages const& all, Same same) {
  std::size_t k = all.size();
  while (k > 0 && !same(all[k - 1])) --k;
  return k - 1;
}
template <class Messages>
bool has_turn(Messages const& all, std::size_t previous) {
  return previous == no_message || all[previous].is_complete();
}

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

[[gnu::cold]] COLLIGO_BODY void shared_steps::make_more_room(std::size_t operands) try {
  std::size_t const folds = std::min(operands, host_.records().size()), lines = lines_for(host_.longest_in_lines(true));
  data_->memory().received.of_size(folds * lines * cache_line);
  traffic_.out.reserve(2 * operands);
  traffic_.in.reserve(2 * operands);
} catch (std::bad_alloc const&) {   // ranks of other hosts wait for this one's messages, so it goes on as failed
  if (host_.whole()) throw;
  data_->fail(std::current_exception());
}

COLLIGO_BODY void shared_steps::make_room(std::span<operand const> list, list_kind kind) {
  reader_group* const all = host_.reader_group_of(list, kind);
  make_room(list.size());
  std::size_t slots = 0;
  for (fragment const p : fragments(list)) {
    if (!host_.has(p.peer)) continue;
    std::size_t const bytes = p.elements.size() * size_;
    if (p.sends()) {
      if (sender& to = channel_to(p.peer, all); !in_lines(bytes)) host_.allocate_ring(to);
      continue;
    }
    way const by = way_of(bytes, channel_from(p.peer, all).capacity(), all);
    if (!p.folds()) continue;
    if (by == way::lines) slots += std::size_t{lines_for(bytes)} * cache_line;
    if (by == way::announced) slots += read_size();
  }
  if (order_matters(list)) slots = std::max(slots, scratch_sizes(list).received * size_);
  data_->memory().received.of_size(slots);
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

COLLIGO_BODY void shared_steps::add_out(int peer, reader_group* all, std::byte const* from, std::size_t bytes) {
  sender& to = channel_to(peer, all);
  auto const same = [&](outgoing const& o) { return o.to == &to; };
  traffic_.out.push_back({&to, all ? nobody : peer, all, from, bytes, 0,
                          way_of(bytes, to.capacity(), all), latest_message(traffic_.out, same)});
}

COLLIGO_BODY void shared_steps::add_in(fragment const& what, reader_group* all, std::byte* into) {
  receiver& from = channel_from(what.peer, all);
  if (!into) into = what.folds() ? data_->place(what.elements) : data_->write(what.elements);
  auto const same = [&](incoming const& i) { return i.from == &from; };
  std::size_t const bytes = what.elements.size() * size_;
  traffic_.in.push_back({&from, what, bytes, into, way_of(bytes, from.capacity(), all),
                         latest_message(traffic_.in, same)});
}

// Where two ranks send to each other, the lower one decides the way of both messages: different ways could deadlock.
COLLIGO_BODY bool shared_steps::decides(outgoing const& o) const {
  return o.peer > rank_ || !is_any(traffic_.in, [&](incoming const& i) { return i.what.peer == o.peer; });
}
COLLIGO_BODY bool shared_steps::is_read_in_place(outgoing const& o) const {
  return host_.reads_as_asked() || (decides(o) ? host_.exchanges_in_place() : host_.from(o.peer).is_in_place());
}

COLLIGO_BODY void shared_steps::begin_added() {
  if (run_record* const record = data_->record()) [[unlikely]] record->spoil();   // not all messages are short
  chunk_ = host_.chunk_of(size_) * size_;
  part_ = std::max<std::size_t>(1, part_of_chunk / size_) * size_;
  form_groups();
  for (incoming& i : traffic_.in) guard(i);
  // A rank that only sends and has a core of its own should copy to the ring: its readers do other work meanwhile.
  bool const only_sends = traffic_.in.empty();
  if (host_.spins())
    for (outgoing& o : traffic_.out) {
      if (o.by != way::announced) continue;
      if (!host_.reads_as_asked()) host_.allocate_ring(*o.to);   // later calls, which may take it, do not allocate
      o.in_place = o.in_place && !only_sends && is_read_in_place(o);
    }
  give_slots();
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
  bool open = false, moved = false;
  for (std::size_t k = 0; k < traffic_.out.size(); ++k)   // send_again may add some
    if (outgoing& o = traffic_.out[k]; !o.is_complete())
      open = true, moved |= has_turn(traffic_.out, o.previous) && advance(o);
  for (std::size_t k = 0; k < traffic_.in.size(); k += traffic_.in[k].members)
    if (!traffic_.in[k].is_complete()) open = true, moved |= advance(&traffic_.in[k]);
  if (!open) {
    traffic_.clear();
    if (!listed_.empty())
      combine_received(std::exchange(listed_, {}), data_->memory().received.of_size(0), rank_, *data_);
  }
  if (!open || moved) {
    was_hopeless_ = false;
    return open ? state::moved : state::done;
  }
  if (++stuck_ % 256 == 0) check_ranks(nullptr);
  return state::stuck;
}

COLLIGO_BODY void shared_steps::run() {
  struct end_of_step {
    shared_steps& steps;
    ~end_of_step() { steps.abandon(); }
  } const end{*this};
  std::size_t decided = 0;   // bytes of messages of which this rank decides the way
  if (host_.spins() && !host_.reads_as_asked() && !traffic_.in.empty())
    for (outgoing const& o : traffic_.out) decided += o.by == way::announced && decides(o) ? o.bytes : 0;
  bool const timed = decided != 0 && host_.begin_exchange(decided);
  begin_added();
  std::uint64_t began = timed ? cycles() : 0;
  unsigned polls = 0;
  for (state now = advance(); now != state::done; now = advance()) {
    if (now == state::moved) {
      polls = 0;
      continue;
    }
    std::uint64_t const before = timed ? cycles() : 0;
    if (polls != 0 || !data_->complete_some()) wait(polls);
    else if (timed) began += cycles() - before;   // work on the rank's own data is not part of the exchange
  }
  if (timed) host_.exchanged(decided, cycles() - began);
}

COLLIGO_BODY shared_steps::way shared_steps::way_of(std::size_t bytes, std::size_t ring,
                                                                 reader_group const* all) const {
  if (in_lines(bytes)) return way::lines;
  collective const what = data_->what();
  return host_.announces(bytes, ring, combines(what), !all && !has_root(what)) ? way::announced : way::ring;
}

COLLIGO_BODY void shared_steps::take_short(receiver& from, fragment const& p) {
  std::size_t const bytes = p.elements.size() * size_;
  unsigned polls = 0;
  awaited const m = message(p.peer, bytes);
  was_hopeless_ = false;
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
  was_hopeless_ = false;
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
  std::byte* const slots = data_->memory().received.of_size(group.size() * slot);
  unsigned polls = 0;
  auto const prefetch = [&](std::size_t k) { channel_from(group[k].peer, all).look_ahead(true); };
  for (look_ahead next(group.size(), rank_, prefetch); !next.is_over(); next.advance(prefetch)) {
    std::size_t const k = next.member();
    receiver& from = channel_from(group[k].peer, all);
    awaited const m = message(group[k].peer, bytes);
    was_hopeless_ = false;
    record_taken(from, group[k].peer, slots + k * slot, bytes, true);
    from.take_lines(slots + k * slot, bytes, m, [&] { wait_for(m, from, polls); }, true);
  }
  data_->combine_in_order(elements, rank_, group.size(), [&](std::size_t k) {
    return contribution{group[k].peer, slots + k * slot};
  });
}

}  // namespace colligo

#include "played_body.hpp"
#include "shared_faults_body.hpp"
#include "shared_messages_body.hpp"
