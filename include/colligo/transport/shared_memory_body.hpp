// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of shared_memory.hpp.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "../core/error.hpp"
#include "shared_memory.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

// Bytes at once from another rank's memory, about: what a second-level cache keeps.
inline constexpr std::size_t longest_read = 256 * 1024;

inline std::size_t no_message() { return static_cast<std::size_t>(-1); }

template <class Messages, class Same>
std::size_t latest_message(Messages const& all, Same same) {
  std::size_t k = all.size();
  while (k > 0 && !same(all[k - 1])) --k;
  return k - 1;   // no_message() for 0
}
template <class Messages>
bool has_turn(Messages const& all, std::size_t after) {
  return after == no_message() || all[after].is_complete();
}

// Short messages by themselves. Copies of a constant size are worth a switch.
inline void put_short(outlet& to, std::byte const* from, std::size_t bytes, std::uint64_t tag) {
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

COLLIGO_BODY void shared_steps::exchange(range out, int to, own which, piece const& in) {
  std::size_t const bytes_out = out.size() * size_, bytes_in = in.elements.size() * size_;
  std::byte const* const source = data_->read(out, which, nullptr);
  if (host_.in_lines(std::max(bytes_out, bytes_in))) {
    outlet* const o = bytes_out == 0 ? nullptr : &host_.to(to);
    if (o == nullptr || o->has_room_for(lines_for(bytes_out))) {
      if (o) put_short(*o, source, bytes_out, sent_tag(bytes_out));
      if (bytes_in != 0) take_short(host_.from(in.peer), in);
      return;
    }
  }
  if (bytes_out != 0) add_out(to, false, source, bytes_out);
  if (bytes_in != 0) add_in(in, false);
  run();
}

COLLIGO_BODY void shared_steps::perform(std::span<operand const> list, bool published) {
  if (send_all(list, published)) return take_all_short(list, published);
  receive_all(list, published);
  run();
}

// Whether a short message has to wait for room, and so what has to be remembered of it, may differ from one call to the
// next.
[[gnu::cold]] COLLIGO_BODY void shared_steps::make_first_room() {
  std::size_t const ranks = host_.records().size();
  data_->memory().received.of_size(ranks * (lines_for(longest_in_lines) * cache_line));
  traffic_.out.reserve(2 * ranks);
  traffic_.in.reserve(2 * ranks);
}

COLLIGO_BODY void shared_steps::make_room(std::span<operand const> list) {
  traffic_.out.reserve(2 * list.size());
  traffic_.in.reserve(2 * list.size());
  std::size_t slots = 0;
  for_each_piece(list, [&](piece const& p) {
    std::size_t const bytes = p.elements.size() * size_;
    if (!p.folds()) return;
    if (way_of(bytes) == way::lines) slots += std::size_t{lines_for(bytes)} * cache_line;
    if (way_of(bytes) == way::announced) slots += read_of(bytes);
  });
  if (order_matters(list)) slots = std::max(slots, scratch_sizes(list).received * size_);
  data_->memory().received.of_size(slots);
}

COLLIGO_BODY void shared_steps::begin(std::span<operand const> list, bool published) {
  is_short_ = send_all(list, published);
  short_ = list, published_ = published;
  if (is_short_) return;
  receive_all(list, published);
  begin_added();
}

// True if all messages are short and those sent have left.
COLLIGO_BODY bool shared_steps::send_all(std::span<operand const> list, bool published) {
  std::byte* free = nullptr;
  bool all_short = true, sent = false;
  for_each_piece(list, [&](piece const& p) {
    std::size_t const bytes = p.elements.size() * size_;
    all_short &= host_.in_lines(bytes);
    if (!p.sends() || (published && std::exchange(sent, true))) return;
    if (p.combines_first() && !free) free = data_->memory().combined.of_size(scratch_sizes(list).combined * size_);
    outlet& to = published ? host_.to_all() : host_.to(p.peer);
    std::byte const* const from = data_->read(p.elements, p.which, free);
    if (p.combines_first()) free += bytes;
    if (host_.in_lines(bytes) && traffic_.out.empty() && to.has_room_for(lines_for(bytes)))
      put_short(to, from, bytes, sent_tag(bytes));
    else add_out(p.peer, published, from, bytes);
  });
  return all_short && traffic_.out.empty();
}

COLLIGO_BODY void shared_steps::receive_all(std::span<operand const> list, bool published) {
  std::byte* free = nullptr;
  if (order_matters(list)) {
    listed_ = list;
    free = data_->memory().received.of_size(scratch_sizes(list).received * size_);
  }
  for_each_piece(list, [&](piece const& p) {
    if (p.sends()) return;
    if (!free || !p.folds()) return add_in(p, published);
    add_in({operand::kind::recv, p.peer, p.elements, own::result}, published,
           std::exchange(free, free + p.elements.size() * size_));
  });
}

COLLIGO_BODY void shared_steps::add_out(int peer, bool published, std::byte const* from, std::size_t bytes) {
  outlet& to = published ? host_.to_all() : host_.to(peer);
  auto const same = [&](outgoing const& o) { return o.to == &to; };
  traffic_.out.push_back(
      {&to, published ? nobody : peer, from, bytes, 0, way_of(bytes), latest_message(traffic_.out, same)});
}

COLLIGO_BODY void shared_steps::add_in(piece const& what, bool published, std::byte* into) {
  inlet& from = channel_from(what.peer, published);
  if (!into) into = what.folds() ? data_->place(what.elements) : data_->write(what.elements);
  auto const same = [&](incoming const& i) { return i.from == &from; };
  std::size_t const bytes = what.elements.size() * size_;
  traffic_.in.push_back({&from, what, bytes, into, way_of(bytes), latest_message(traffic_.in, same)});
}

COLLIGO_BODY void shared_steps::begin_added() {
  form_groups();
  for (incoming& i : traffic_.in) guard(i);
  // A rank that has nothing to do but to send had better copy, for that goes on while its readers combine.
  if (traffic_.in.empty())
    for (outgoing& o : traffic_.out) o.stays = false;
  give_slots();
}

COLLIGO_BODY shared_steps::state shared_steps::advance() {
  if (is_short_) {   // what has a first line has all of them, or nearly
    for (operand const& o : short_) {
      if (o.vanishes() || o.sends()) continue;
      inlet& from = channel_from(o.peer, published_);
      awaited const first = message(o.peer, o.elements.head.size() * size_);
      if (from.has_line(first)) continue;
      if (++stuck_ % 256 == 0) {
        lone const alone{first, from};
        look_around(&alone);
      }
      return state::stuck;
    }
    is_short_ = false;
    take_all_short(short_, published_);
    return state::done;
  }
  bool open = false, moved = false;
  for (std::size_t k = 0; k < traffic_.out.size(); ++k)   // there may come to be more of them
    if (outgoing& o = traffic_.out[k]; !o.is_complete())
      open = true, moved |= has_turn(traffic_.out, o.after) && advance(o);
  for (std::size_t k = 0; k < traffic_.in.size(); k += traffic_.in[k].members)
    if (!traffic_.in[k].is_complete()) open = true, moved |= advance(&traffic_.in[k]);
  if (!open) {
    traffic_.clear();
    if (!listed_.empty())
      combine_received(std::exchange(listed_, {}), data_->memory().received.of_size(0), rank_, *data_);
  }
  if (!open || moved) {
    suspicious_ = false;
    return open ? state::moved : state::done;
  }
  if (++stuck_ % 256 == 0) look_around(nullptr);
  return state::stuck;
}

COLLIGO_BODY void shared_steps::run() {
  struct end_of_step {
    shared_steps& its;
    ~end_of_step() { its.abandon(); }
  } const end{*this};
  begin_added();
  unsigned polls = 0;
  for (state now = advance(); now != state::done; now = advance()) {
    if (now == state::moved) polls = 0;
    else wait(polls);
  }
}

COLLIGO_BODY shared_steps::way shared_steps::way_of(std::size_t bytes) const {
  return host_.in_lines(bytes) ? way::lines : host_.announces(bytes) ? way::announced : way::ring;
}

COLLIGO_BODY void shared_steps::take_short(inlet& from, piece const& p) {
  std::size_t const bytes = p.elements.size() * size_;
  unsigned polls = 0;
  awaited const m = message(p.peer, bytes);
  suspicious_ = false;
  auto const wait = [&] { wait_for(m, from, polls); };
  if (!p.folds() && bytes % line_payload == 0) return from.take_lines(data_->write(p.elements), bytes, m, wait);
  // Room for the whole last line: copies of a constant size.
  struct alignas(cache_line) { std::byte bytes[longest_in_lines]; } local;
  from.take_lines(local.bytes, bytes, m, wait);
  if (p.folds()) data_->combine(p.elements, local.bytes, p.peer < rank_, p.which);
  else std::memcpy(data_->write(p.elements), local.bytes, bytes);
}

// All that a step's messages are short: those sent have left, so one after the other will do.
COLLIGO_BODY void shared_steps::take_all_short(std::span<operand const> list, bool published) {
  for (std::size_t i = 0, count; i < list.size(); i += count) {
    operand const& o = list[i];
    count = 1;
    if (o.vanishes() || o.sends()) continue;
    if (o.folds()) count = group_of_folds(list, i);
    if (count > 1) take_group(list.subspan(i, count), published);
    else
      for (range const r : {o.elements.head, o.elements.tail})
        if (!r.empty()) take_short(channel_from(o.peer, published), {o.what, o.peer, r, o.which});
  }
}

COLLIGO_BODY void shared_steps::take_group(std::span<operand const> group, bool published) {
  range const all = group[0].elements.head;
  std::size_t const bytes = all.size() * size_;
  std::size_t const slot = lines_for(bytes) * cache_line;   // aligned, and with room for the whole last line
  std::byte* const slots = data_->memory().received.of_size(group.size() * slot);
  unsigned polls = 0;
  for (std::size_t k = 0; k < group.size(); ++k) {
    inlet& from = channel_from(group[k].peer, published);
    awaited const m = message(group[k].peer, bytes);
    suspicious_ = false;
    from.take_lines(slots + k * slot, bytes, m, [&] { wait_for(m, from, polls); });
  }
  data_->combine_in_order(all, rank_, group.size(), [&](std::size_t k) {
    return contribution{group[k].peer, slots + k * slot};
  });
}

// Any messages, all at once.

COLLIGO_BODY void shared_steps::form_groups() {
  auto& in = traffic_.in;
  for (std::size_t first = 0, k = 1; k < in.size(); ++k) {
    piece const &a = in[first].what, &b = in[k].what;
    bool const joins =
        a.folds() && b.folds() && a.elements == b.elements && a.which == own::result && b.which == own::result;
    if (joins) ++in[first].members;
    else first = k;
  }
}

// What is overwritten while it is sent: safe where the send is ahead element by element; any other send gets a copy.
COLLIGO_BODY void shared_steps::guard(incoming& i) {
  for (outgoing& o : traffic_.out) {
    if (o.from >= i.into + i.bytes || i.into >= o.from + o.bytes) continue;
    if (o.from == i.into) {
      i.guarded = true;
      o.stays = false;
    } else {
      traffic_.copies.emplace_back(o.from, o.from + o.bytes);
      o.from = traffic_.copies.back().data();
    }
  }
}
COLLIGO_BODY bool shared_steps::blocked(incoming const& i, std::size_t n) const {
  return i.guarded && std::any_of(traffic_.out.begin(), traffic_.out.end(), [&](outgoing const& o) {
           return o.done < o.bytes && o.rest() < i.into + i.done + n && i.into + i.done < o.from + o.bytes;
         });
}

COLLIGO_BODY void shared_steps::give_slots() {
  auto const space = [&](incoming const& i) {
    if (!i.what.folds()) return std::size_t{0};
    return i.by == way::lines       ? std::size_t{lines_for(i.bytes)} * cache_line
           : i.by == way::announced ? read_of(i.bytes)
                                    : 0;
  };
  std::size_t all = 0;
  for (incoming const& i : traffic_.in) all += space(i);
  std::byte* free = data_->memory().received.of_size(all);
  for (incoming& i : traffic_.in) i.slot = std::exchange(free, free + space(i));
}

COLLIGO_BODY bool shared_steps::advance(outgoing& o) {
  if (o.by == way::lines) {
    if (!o.to->has_room_for(lines_for(o.bytes))) return false;
    o.to->put_lines(o.from, o.bytes, sent_tag(o.bytes));
    o.done = o.bytes;
    return true;
  }
  if (o.by == way::announced) {
    if (!o.to->has_room_for(1)) return false;
    std::byte const* const address = o.stays ? o.from : nullptr;
    o.to->put_line<sizeof address>(reinterpret_cast<std::byte const*>(&address),
                                   sent_tag(o.bytes, message_tag::address));
    o.by = o.stays ? way::memory : way::ring;
    if (!o.stays) return true;
    o.to->offer();
    o.done = o.bytes;
    return true;
  }
  if (o.by == way::memory) return o.to->all_read() && send_again(o);
  std::size_t const n = std::min(o.bytes - o.done, chunk_of(o.bytes));
  std::byte* const place = o.to->room_for(n, sent_tag(o.bytes));
  if (!place) return false;
  // With nothing to receive, a chunk is told of in parts, so that its reader works while it is copied.
  std::size_t const part = traffic_.in.empty() ? part_size() : n;
  for (std::size_t at = 0; at < n; at += part) {
    std::copy_n(o.rest() + at, std::min(part, n - at), place + at);
    if (at + part < n) o.to->put_part(n, at + part);
  }
  o.to->put(n);
  o.done += n;
  return true;
}

// To those who could not read it, each by itself: others have it, and may have gone on. Complete if there are none.
COLLIGO_BODY bool shared_steps::send_again(outgoing& o) {
  o.by = way::ring;
  if (o.peer != nobody) {
    if (o.to->is_refused_by(0)) o.done = 0;
    return true;
  }
  outlet const& all = *o.to;
  std::byte const* const from = o.from;
  std::size_t const bytes = o.bytes;
  for (std::size_t k = 0; k < all.readers(); ++k)
    if (int const peer = static_cast<int>(k) + (static_cast<int>(k) >= rank_ ? 1 : 0); all.is_refused_by(k)) {
      add_out(peer, false, from, bytes);
      traffic_.out.back().by = way::ring;
    }
  return true;
}

// The next n bytes of a message, of a chunk its beginning; null as long as they have not come. What is received, not
// folded, is then at its place already.
COLLIGO_BODY std::byte const* shared_steps::fetch(incoming& i, std::size_t n, std::size_t beginning) {
  if (i.by == way::ring) {
    for (std::size_t chunk; i.known != 0; i.known -= chunk) {
      chunk = std::min(i.known, chunk_of(i.bytes));
      if (!i.from->chunk(chunk, message(i))) return nullptr;
      i.from->release(chunk);
    }
    return i.from->chunk(beginning, message(i));
  }
  std::byte* const into = i.what.folds() ? i.slot : i.into + i.done;
  if (i.by == way::memory) {
    if (i.fetched < i.done + n) {
      if (!host_.read(i.what.peer, into, i.address + i.done, n)) {
        i.from->refuse();
        i.from = &host_.from(i.what.peer);
        i.by = way::ring;
        i.known = i.done;
        return nullptr;
      }
      i.fetched = i.done + n;
    }
    return into;
  }
  for (; i.fetched < i.bytes; i.fetched += std::min(line_payload, i.bytes - i.fetched)) {
    if (!i.from->has_line(message(i))) return nullptr;
    i.from->take_line(into + i.fetched, std::min(line_payload, i.bytes - i.fetched));
  }
  return into;
}

// Bytes, whole elements.
COLLIGO_BODY std::size_t shared_steps::part_size() const { return std::max<std::size_t>(1, 4096 / size_) * size_; }

// Of a chunk of n bytes for a group, what is used at once: with nothing to send, one part after the other as they come.
COLLIGO_BODY std::size_t shared_steps::part_of(incoming const& first, std::size_t n) const {
  return first.by == way::ring && first.members == 1 && traffic_.out.empty() ? std::min(n, part_size()) : n;
}
// At once from another rank's memory: whole chunks, for those that are to come may come through a ring.
COLLIGO_BODY std::size_t shared_steps::read_of(std::size_t bytes) const {
  std::size_t const chunk = chunk_of(bytes);
  return std::max<std::size_t>(1, longest_read / chunk) * chunk;
}
COLLIGO_BODY void shared_steps::release(incoming& i, std::size_t n) {
  i.done += n;
  if (i.by == way::ring) i.from->release(n);
  if (i.by == way::memory && i.done == i.bytes) i.from->has_read();
}
COLLIGO_BODY bool shared_steps::hears_announcement(incoming& i) {
  if (i.by != way::announced) return true;
  if (!i.from->has_line(message(i.what.peer, i.bytes, message_tag::address))) return false;
  i.from->take_line(reinterpret_cast<std::byte*>(&i.address), sizeof i.address);
  i.by = i.address ? way::memory : way::ring;
  return true;
}

// The next part of a message, or of all messages of a group of folds.
COLLIGO_BODY bool shared_steps::advance(incoming* first) {
  incoming* const last = first + first->members;
  bool all_heard = true, in_ring = false;
  for (incoming* i = first; i != last; ++i) {
    all_heard &= has_turn(traffic_.in, i->after) && hears_announcement(*i);
    in_ring |= i->by == way::ring;
  }
  if (!all_heard) return false;
  std::size_t longest = first->bytes;
  if (first->by != way::lines)
    longest = in_ring ? chunk_of(first->bytes) : first->what.folds() ? read_of(first->bytes) : longest;
  std::size_t const n = std::min(first->bytes - first->done, longest);
  if (blocked(*first, n)) return false;
  for (incoming* i = first; i != last; ++i)
    if (!fetch(*i, n, part_of(*first, n))) {
      // If it has just been refused, all go on in chunks: what is in slots is fetched again.
      for (incoming* j = first; i->by == way::ring && j != last; ++j)
        if (j->by == way::memory) j->fetched = j->done;
      return false;
    }
  use(first, n);
  for (incoming* i = first; i != last; ++i) release(*i, n);
  return true;
}

COLLIGO_BODY void shared_steps::use(incoming* first, std::size_t n) {
  std::size_t const part = part_of(*first, n);
  for (std::size_t at = 0; at < n; at += part) {
    std::size_t const now = std::min(part, n - at);
    for (unsigned polls = 0; part != n && !first->from->chunk(at + now, message(*first));) wait(polls);   // on its way
    if (first->what.folds()) combine(first, at, now);
    else if (first->by == way::ring)
      std::copy_n(first->from->chunk(at + now, message(*first)) + at, now, first->into + first->done + at);
  }
}

// Bytes at .. at + now - 1 of those that the members of a group are about to combine.
COLLIGO_BODY void shared_steps::combine(incoming* first, std::size_t at, std::size_t now) {
  std::size_t const begin = first->what.elements.first + (first->done + at) / size_;
  range const part{begin, begin + now / size_};
  auto const source = [&](incoming const& i) {
    return (i.by == way::ring ? i.from->chunk(at + now, message(i)) : i.slot) + at;
  };
  if (first->members == 1) return data_->combine(part, source(*first), first->what.peer < rank_, first->what.which);
  data_->combine_in_order(part, rank_, first->members, [&](std::size_t k) {
    return contribution{first[k].what.peer, source(first[k])};
  });
}

// When calls differ, or some rank has left.

// Nothing is left after a step that has come to its end.
COLLIGO_BODY void shared_steps::abandon() {
  for (incoming& i : traffic_.in)
    if (i.by == way::memory && i.done < i.bytes) i.from->has_read();   // its sender does not wait any more, but counts
  traffic_.clear();
  listed_ = {};
}

COLLIGO_BODY bool shared_steps::hears(int from, std::uint64_t expected, std::uint64_t tag) {
  if ((tag ^ expected) == message_tag::failed) {
    if (!data_->has_failed()) hear_of_failure(from);
    return true;
  }
  std::uint32_t const number = its_.number + static_cast<std::uint32_t>(tag_.ahead(tag));
  // What is left of a call that this rank gave up, or never made, is nobody's. Of one that it has completed it is the
  // sign that another rank made a different one.
  if (static_cast<std::int32_t>(number - host_.given_up()) <= 0) return false;
  tell_mismatch(from, number);
}

COLLIGO_BODY void shared_steps::hear_of_failure(int peer) try {
  data_->fail(std::make_exception_ptr(failed_elsewhere(
      "colligo: " + in_words(its_) + " on rank " + std::to_string(rank_) + ": rank " + std::to_string(peer) +
      " has failed in this call, so that this rank's result is good for nothing")));
} catch (std::bad_alloc const&) {   // of the words
  data_->fail(std::current_exception());
}

COLLIGO_BODY void shared_steps::tell_if_given_up(int peer) const {
  std::string const why = host_.record_of(peer).gave_up(its_.number);
  if (why.empty()) return;
  if (int const rank = gone_rank(); rank != nobody) tell_lost(rank);   // that may be why
  throw failed_elsewhere("colligo: " + in_words(its_) + " on rank " + std::to_string(rank_) +
                         std::string(given_up_by) + why);
}

// A rank that is gone, nobody if there is none. Where ranks may leave, one that has nothing left to do is none.
COLLIGO_BODY int shared_steps::gone_rank() const {
  for (std::size_t place = 0; place < host_.records().size() && !host_.ranks_may_leave(); ++place)
    if (int const rank = host_.rank_at(place); rank != rank_ && host_.is_gone(rank)) return rank;
  return nobody;
}
COLLIGO_BODY void shared_steps::tell_lost(int rank) const {
  throw rank_lost("colligo: " + in_words(its_) + " on rank " + std::to_string(rank_) + ": rank " +
                      std::to_string(rank) + " is gone",
                  rank);
}

COLLIGO_BODY void shared_steps::tell_mismatch(int peer, std::uint32_t number) const {
  auto const called = [](rank_record const& its, std::uint32_t call) {
    call_identity known{.number = call};
    return "number " + std::to_string(call) + (its.knows(known) ? ", " + in_words(known) : "");
  };
  if (static_cast<std::int32_t>(number - its_.number) > 0) number = its_.number;   // the peer is ahead
  tell_if_given_up(peer);
  rank_record const& theirs = host_.record_of(peer);
  std::string said = "colligo: ranks make different calls on this communicator: rank " + std::to_string(rank_) +
                     " made call " + called(host_.my_record(), number) + "; rank " + std::to_string(peer) + " call " +
                     called(theirs, number);
  if (theirs.latest() != number) said += ", and then " + called(theirs, theirs.latest());
  throw mismatch_error(said);
}

// Every rank of the host is asked whether it makes the same call, and whether it has given it up. `alone`: the one
// message that is waited for; null:
// those of the step.
COLLIGO_BODY void shared_steps::look_around(lone const* alone) {
  auto const records = host_.records();
  for (std::size_t place = 0; place < records.size(); ++place) {
    int const rank = host_.rank_at(place);
    call_identity theirs{.number = its_.number};
    if (records[place]->knows(theirs) && theirs != its_) tell_mismatch(rank, its_.number);
    tell_if_given_up(rank);
  }
  auto const now = std::chrono::steady_clock::now();
  if (now - looked_ >= std::chrono::milliseconds(100)) looked_ = now, looks_out_ = true;
  bool const hopeless = is_hopeless(alone);
  if (hopeless && std::exchange(suspicious_, true)) {   // it may have come in between: not the first time
    if (host_.is_gone(hopeless_)) tell_lost(hopeless_);
    tell_mismatch(hopeless_, its_.number);
  }
  suspicious_ = hopeless;
  looks_out_ = looks_out_ && hopeless;
}

// The peer is gone or has gone on to a later call, or what has come from it is no such message. Says who it is. Whether
// a message has passed is looked at last: whoever has gone on has sent and read all that it had to.
COLLIGO_BODY bool shared_steps::is_hopeless(lone const* alone) {
  auto const has_left = [&](int peer) {
    hopeless_ = peer;
    return static_cast<std::int32_t>(host_.record_of(peer).latest() - its_.number) > 0 ||
           (looks_out_ && host_.is_gone(peer));
  };
  auto const has_passed = [](outgoing const& o) {
    return o.is_complete() || (o.by == way::memory && o.to->all_read());
  };
  if (alone) {
    bool const left = has_left(alone->message.from) || alone->from.has_news(tag_);
    if (alone->from.has_line(alone->message)) return false;
    if (left) return true;
  }
  for (outgoing const& o : traffic_.out)
    if (o.peer != nobody && has_left(o.peer) && !has_passed(o)) return true;
  for (incoming& i : traffic_.in)
    if (i.done < i.bytes && has_turn(traffic_.in, i.after) && (has_left(i.what.peer) || i.from->has_news(tag_)) &&
        !has_come(i))
      return true;
  hopeless_ = looks_out_ ? gone_rank() : nobody;
  return hopeless_ != nobody;
}
// The next part of a message, or it does not come through a channel any more.
COLLIGO_BODY bool shared_steps::has_come(incoming& i) {
  switch (i.by) {
    case way::memory: return true;
    case way::ring: return i.from->chunk(1, message(i)) != nullptr;
    case way::announced: return i.from->has_line(message(i.what.peer, i.bytes, message_tag::address));
    case way::lines: return i.fetched == i.bytes || i.from->has_line(message(i));
  }
  return true;
}

}  // namespace colligo
