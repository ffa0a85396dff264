// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of shared_messages.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

#include "look_ahead.hpp"
#include "shared_messages.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

// About this many bytes are read at once from another rank's memory: what a second-level cache keeps.
inline constexpr std::size_t longest_read = 256 * 1024;

[[gnu::cold]] COLLIGO_BODY void shared_messages::make_more_room(std::size_t operands) try {
  std::size_t const folds = std::min(operands, host_.records().size()), lines = lines_for(host_.longest_in_lines(true));
  data_->memory().received.of_size(folds * lines * cache_line);
  traffic_.out.reserve(2 * operands);
  traffic_.in.reserve(2 * operands);
} catch (std::bad_alloc const&) {   // ranks of other hosts wait for this one's messages, so it goes on as failed
  if (host_.whole()) throw;
  data_->fail(std::current_exception());
}

COLLIGO_BODY void shared_messages::add_out(int peer, reader_group* all, std::byte const* from, std::size_t bytes) {
  sender& to = channel_to(peer, all);
  auto const same = [&](outgoing const& o) { return o.to == &to; };
  traffic_.out.push_back({&to, all ? nobody : peer, all, from, bytes, 0,
                          way_of(bytes, to.capacity(), all), latest_message(traffic_.out, same)});
}

COLLIGO_BODY void shared_messages::add_in(fragment const& what, reader_group* all, std::byte* into) {
  receiver& from = channel_from(what.peer, all);
  if (!into) into = what.folds() ? data_->place(what.elements) : data_->write(what.elements);
  auto const same = [&](incoming const& i) { return i.from == &from; };
  std::size_t const bytes = what.elements.size() * size_;
  traffic_.in.push_back({&from, what, bytes, into, way_of(bytes, from.capacity(), all),
                         latest_message(traffic_.in, same)});
}

// Where two ranks send to each other, the lower one decides the way of both messages: different ways could deadlock.
COLLIGO_BODY bool shared_messages::decides(outgoing const& o) const {
  return o.peer > rank_ || !is_any(traffic_.in, [&](incoming const& i) { return i.what.peer == o.peer; });
}

COLLIGO_BODY bool shared_messages::is_read_in_place(outgoing const& o) const {
  return host_.reads_as_asked() || (decides(o) ? host_.exchanges.is_in_place() : host_.from(o.peer).is_in_place());
}

COLLIGO_BODY void shared_messages::begin_added() {
  if (run_record* const record = data_->record()) [[unlikely]] record->spoil();   // not all messages are short
  chunk_ = host_.chunk_of(size_) * size_;
  part_ = std::max<std::size_t>(1, part_of_chunk / size_) * size_;
  traffic_.form_groups();
  traffic_.guard_sends();
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

COLLIGO_BODY shared_messages::way shared_messages::way_of(std::size_t bytes, std::size_t ring,
                                                                 reader_group const* all) const {
  if (in_lines(bytes)) return way::lines;
  collective const what = data_->what();
  return host_.announces(bytes, ring, combines(what), !all && !has_root(what)) ? way::announced : way::ring;
}

COLLIGO_BODY void shared_messages::give_slots() {
  auto const space = [&](incoming const& i) {
    if (!i.what.folds()) return std::size_t{0};
    return i.by == way::lines       ? std::size_t{lines_for(i.bytes)} * cache_line
           : i.by == way::announced ? read_size()
                                    : 0;
  };
  std::size_t all = 0;
  for (incoming const& i : traffic_.in) all += space(i);
  std::byte* free = data_->memory().received.of_size(all);
  for (incoming& i : traffic_.in) i.slot = std::exchange(free, free + space(i));
}

// Copies a chunk to the ring, and announces it in parts of `part` bytes. False if there is no room.
COLLIGO_BODY bool shared_messages::put_chunk(sender& to, std::byte const* from, std::size_t bytes, std::size_t part,
                                          bool one_way, std::uint64_t tag) {
  std::byte* const place = to.room_for(bytes, tag, one_way);
  if (!place) return false;
  std::uint64_t const began = to.is_timed() ? cycles() : 0;
  for (std::size_t at = 0; at < bytes; at += part) {
    to.copy(place + at, from + at, std::min(part, bytes - at));
    if (at + part < bytes) to.put_part(at + part);
  }
  to.put();
  if (to.is_timed()) {
    std::atomic_thread_fence(std::memory_order_seq_cst);   // short chunks may still be in the core's store buffer
    to.took(bytes, cycles() - began);
  }
  return true;
}

COLLIGO_BODY shared_messages::state shared_messages::advance_messages() {
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
    has_moved();
    return open ? state::moved : state::done;
  }
  if (++stuck_ % 256 == 0) check_ranks(nullptr);
  return state::stuck;
}

COLLIGO_BODY void shared_messages::run() {
  struct end_of_step {
    shared_messages& messages;
    ~end_of_step() { messages.abandon_messages(); }
  } const end{*this};
  std::size_t decided = 0;   // bytes of messages of which this rank decides the way
  if (host_.spins() && !host_.reads_as_asked() && !traffic_.in.empty())
    for (outgoing const& o : traffic_.out) decided += o.by == way::announced && decides(o) ? o.bytes : 0;
  bool const timed = decided != 0 && host_.exchanges.begin(decided);
  begin_added();
  std::uint64_t began = timed ? cycles() : 0;
  unsigned polls = 0;
  for (state now = advance_messages(); now != state::done; now = advance_messages()) {
    if (now == state::moved) {
      polls = 0;
      continue;
    }
    std::uint64_t const before = timed ? cycles() : 0;
    if (polls != 0 || !data_->complete_some()) wait(polls);
    else if (timed) began += cycles() - before;   // work on the rank's own data is not part of the exchange
  }
  if (timed) host_.exchanges.took(decided, cycles() - began);
}

COLLIGO_BODY bool shared_messages::advance(outgoing& o) {
  if (o.by == way::lines) {
    if (!o.to->has_room_for(lines_for(o.bytes))) return false;
    o.to->put_lines(o.from, o.bytes, sent_tag(o.bytes));
    o.done = o.bytes;
    return true;
  }
  if (o.by == way::announced) {
    if (!o.to->has_room_for(1)) return false;
    std::byte const* const address = o.in_place ? o.from : nullptr;
    o.to->put_line<sizeof address>(reinterpret_cast<std::byte const*>(&address),
                                   sent_tag(o.bytes, message_tag::address));
    o.by = o.in_place ? way::memory : way::ring;
    if (!o.in_place) return true;
    o.to->offer();
    o.done = o.bytes;
    return true;
  }
  if (o.by == way::memory) return o.to->all_read() && send_again(o);
  // A rank that receives nothing announces its first and last chunk in parts, so that the reader works while this rank
  // copies. It reads each chunk between them while this rank copies the next one, so parts would only cost flags.
  std::size_t const n = std::min(o.bytes - o.done, chunk_);
  bool const one_way = traffic_.in.empty(), waited_for = one_way && (o.done == 0 || o.done + n == o.bytes);
  if (!put_chunk(*o.to, o.rest(), n, waited_for ? part_ : n, one_way, sent_tag(o.bytes))) return false;
  o.done += n;
  return true;
}

// Sends a message through the ring to each rank that has refused to read it in place; the others may have gone on.
COLLIGO_BODY bool shared_messages::send_again(outgoing& o) {
  o.by = way::ring;
  if (o.peer != nobody) {
    if (o.to->is_refused_by(0)) o.done = 0;
    return true;
  }
  sender const& to = *o.to;
  reader_group const& all = *o.all;
  std::byte const* const from = o.from;
  std::size_t const bytes = o.bytes;
  for (std::size_t k = 0; k < all.readers(); ++k)
    if (to.is_refused_by(k)) {
      add_out(host_.rank_at(static_cast<std::size_t>(all.reader(k))), nullptr, from, bytes);
      traffic_.out.back().by = way::ring;
    }
  return true;
}

// The next n bytes of a message; of a message through the ring at least `beginning` bytes. Null while they have not
// come. Data that is received, not folded, is in its place then, except for data in the ring.
COLLIGO_BODY std::byte const* shared_messages::fetch(incoming& i, std::size_t n, std::size_t beginning) {
  if (i.by == way::ring) {
    for (std::size_t chunk; i.repeated != 0; i.repeated -= chunk) {
      chunk = std::min(i.repeated, chunk_);
      if (!i.from->chunk(chunk, message(i))) return nullptr;
      i.from->release(chunk);
    }
    return i.from->chunk(beginning, message(i));
  }
  std::byte* const into = i.what.folds() ? i.slot : i.into + i.done;
  if (i.by == way::memory) {
    if (i.fetched < i.done + n) {
      if (!i.from->read(i.what.peer, into, i.address + i.done, n)) {
        i.from->refuse();
        i.from = &host_.from(i.what.peer);
        i.by = way::ring;
        i.repeated = i.done;
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

// How many of the next n bytes of a group are used at once: a rank with nothing to send uses parts as they come.
COLLIGO_BODY std::size_t shared_messages::part_of(incoming const& first, std::size_t n) const {
  return first.by == way::ring && first.members == 1 && traffic_.out.empty() ? std::min(n, part_) : n;
}

// The bytes that are read at once from another rank's memory: whole chunks, because the rest may come through the ring.
COLLIGO_BODY std::size_t shared_messages::read_size() const {
  std::size_t const chunk = host_.chunk_of(size_) * size_;
  return std::max<std::size_t>(1, longest_read / chunk) * chunk;
}

COLLIGO_BODY void shared_messages::release(incoming& i, std::size_t n) {
  i.done += n;
  if (i.by == way::ring) i.from->release(n);
  if (i.by == way::memory && i.done == i.bytes) i.from->has_read();
}

COLLIGO_BODY bool shared_messages::hears_announcement(incoming& i) {
  if (i.by != way::announced) return true;
  if (!i.from->has_line(message(i.what.peer, i.bytes, message_tag::address))) return false;
  i.from->take_line(reinterpret_cast<std::byte*>(&i.address), sizeof i.address);
  i.by = i.address ? way::memory : way::ring;
  i.from->announced(i.address != nullptr);
  return true;
}

// Takes the next part of a message, or of all messages of a group of folds.
COLLIGO_BODY bool shared_messages::advance(incoming* first) {
  incoming* const last = first + first->members;
  bool all_heard = true, in_ring = false;
  for (incoming* i = first; i != last; ++i) {
    all_heard &= has_turn(traffic_.in, i->previous) && hears_announcement(*i);
    in_ring |= i->by == way::ring;
  }
  if (!all_heard) return false;
  std::size_t longest = first->bytes;
  if (first->by != way::lines) longest = in_ring ? chunk_ : first->what.folds() ? read_size() : longest;
  std::size_t const n = std::min(first->bytes - first->done, longest);
  if (traffic_.waits_for_send(*first, n)) return false;
  auto const prefetch = [first](std::size_t k) { first[k].from->look_ahead(first[k].by != way::ring); };
  for (look_ahead next(first->members, rank_, prefetch); !next.is_over(); next.advance(prefetch)) {
    incoming* const i = first + next.member();
    if (!fetch(*i, n, part_of(*first, n))) {
      // If this rank has just refused one message, the group continues in chunks: data in slots is fetched again.
      for (incoming* j = first; i->by == way::ring && j != last; ++j)
        if (j->by == way::memory) j->fetched = j->done;
      return false;
    }
  }
  auto const is_timed = [](incoming const& i) { return i.by == way::ring && i.from->is_timed(); };
  bool timed = false;
  for (incoming const* i = first; i != last; ++i) timed = timed || is_timed(*i);
  std::uint64_t const began = timed ? cycles() : 0;
  use(first, n);
  std::uint64_t const took = timed ? (cycles() - began) / first->members : 0;
  for (incoming* i = first; i != last; ++i) {
    if (is_timed(*i)) i->from->took(n, took);
    release(*i, n);
  }
  return true;
}

COLLIGO_BODY void shared_messages::use(incoming* first, std::size_t n) {
  std::size_t const part = part_of(*first, n);
  for (std::size_t at = 0; at < n; at += part) {
    std::size_t const now = std::min(part, n - at);
    for (unsigned polls = 0; part != n && !first->from->chunk(at + now, message(*first));) wait(polls);
    if (first->what.folds()) {
      combine(first, at, now);
    } else if (first->by == way::ring) {
      std::byte const* const from = first->from->chunk(at + now, message(*first)) + at;
      std::byte* const into = first->into + first->done + at;
      way_to_take const store = host_.next_result(first->bytes);
      std::uint64_t const began = store.timed ? cycles() : 0;
      if (store.second) copy_streaming(into, from, now);
      else copy_bytes(from, now, into);
      if (store.timed) host_.stored(store, now, cycles() - began);
    }
  }
}

// Combines `now` bytes from `at` on, of the part that all messages of a group have fetched.
COLLIGO_BODY void shared_messages::combine(incoming* first, std::size_t at, std::size_t now) {
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

// Does nothing after a complete step.
COLLIGO_BODY void shared_messages::abandon_messages() {
  for (incoming& i : traffic_.in)
    if (i.by == way::memory && i.done < i.bytes) i.from->has_read();   // the sender has counted the message
  for (outgoing& o : traffic_.out)
    if (o.by == way::memory && !o.to->all_read())
      o.to->withdraw([&](std::size_t k) {
        return host_.is_gone(o.all ? host_.rank_at(static_cast<std::size_t>(o.all->reader(k))) : o.peer);
      });
  traffic_.clear();
  listed_ = {};
}

// Checks the other ranks. Throws if this rank waits in vain. `alone`: the message that it waits for; null: for those of
// the step.
[[gnu::cold]] COLLIGO_BODY void shared_messages::check_ranks(single const* alone) {
  check_others();
  end_if(is_hopeless(alone));
}

// Whether this rank waits in vain: a peer is gone or has gone on to a later call, or the message that has come
// belongs to another call. Looks for messages last, because a rank that has gone on has sent and read everything.
[[gnu::cold]] COLLIGO_BODY bool shared_messages::is_hopeless(single const* alone) {
  auto const has_passed = [](outgoing const& o) {
    return o.is_complete() || (o.by == way::memory && o.to->all_read());
  };
  if (alone) {
    bool const left = has_left(alone->message.from, alone->message.tag) || alone->from.has_news(tag_);
    bool const is_there = alone->by == way::lines ? alone->from.has_line(alone->message)
                                                  : alone->from.chunk(1, alone->message) != nullptr;
    if (is_there) return false;
    if (left) return true;
  }
  for (outgoing const& o : traffic_.out)
    if (o.peer != nobody && has_left(o.peer) && !has_passed(o)) return true;
  for (incoming& i : traffic_.in)
    if (i.done < i.bytes && has_turn(traffic_.in, i.previous) &&
        (has_left(i.what.peer, message(i).tag) || i.from->has_news(tag_)) && !has_come(i))
      return true;
  return is_anyone_gone();
}

// Whether the next part of a message has come; true for a message that is read in place.
[[gnu::cold]] COLLIGO_BODY bool shared_messages::has_come(incoming& i) {
  switch (i.by) {
    case way::memory: return true;
    case way::ring: return i.from->chunk(1, message(i)) != nullptr;
    case way::announced: return i.from->has_line(message(i.what.peer, i.bytes, message_tag::address));
    case way::lines: return i.fetched == i.bytes || i.from->has_line(message(i));
  }
  return true;
}

}  // namespace colligo
