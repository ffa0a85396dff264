// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of shared_steps.hpp that move messages of any length, all of a step at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "look_ahead.hpp"
#include "shared_steps.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

COLLIGO_BODY void shared_steps::form_groups() {
  auto& in = traffic_.in;
  for (std::size_t first = 0, k = 1; k < in.size(); ++k) {
    fragment const &a = in[first].what, &b = in[k].what;
    bool const joins =
        a.folds() && b.folds() && a.elements == b.elements && a.which == own::result && b.which == own::result;
    if (joins) ++in[first].members;
    else first = k;
  }
}

// For data that the step receives where it also sends from. If both ranges begin at the same place, the receive stays
// behind the send (waits_for_send); any other send gets a copy.
COLLIGO_BODY void shared_steps::guard(incoming& i) {
  for (outgoing& o : traffic_.out) {
    if (o.from >= i.into + i.bytes || i.into >= o.from + o.bytes) continue;
    if (o.from == i.into) {
      i.overlaps_send = true;
      o.in_place = false;
    } else {
      traffic_.copies = owner<shared_traffic::copy>(new shared_traffic::copy{small_vector(o.from, o.from + o.bytes),
                                                                            std::move(traffic_.copies)});
      o.from = traffic_.copies->bytes.data();
    }
  }
}
COLLIGO_BODY bool shared_steps::waits_for_send(incoming const& i, std::size_t n) const {
  return i.overlaps_send && is_any(traffic_.out, [&](outgoing const& o) {
           return o.done < o.bytes && o.rest() < i.into + i.done + n && i.into + i.done < o.from + o.bytes;
         });
}

COLLIGO_BODY void shared_steps::give_slots() {
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
COLLIGO_BODY bool shared_steps::put_chunk(sender& to, std::byte const* from, std::size_t bytes, std::size_t part,
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

COLLIGO_BODY bool shared_steps::advance(outgoing& o) {
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
COLLIGO_BODY bool shared_steps::send_again(outgoing& o) {
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
COLLIGO_BODY std::byte const* shared_steps::fetch(incoming& i, std::size_t n, std::size_t beginning) {
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
COLLIGO_BODY std::size_t shared_steps::part_of(incoming const& first, std::size_t n) const {
  return first.by == way::ring && first.members == 1 && traffic_.out.empty() ? std::min(n, part_) : n;
}
// The bytes that are read at once from another rank's memory: whole chunks, because the rest may come through the ring.
COLLIGO_BODY std::size_t shared_steps::read_size() const {
  std::size_t const chunk = host_.chunk_of(size_) * size_;
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
  i.from->announced(i.address != nullptr);
  return true;
}

// Takes the next part of a message, or of all messages of a group of folds.
COLLIGO_BODY bool shared_steps::advance(incoming* first) {
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
  if (waits_for_send(*first, n)) return false;
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
  bool const timed = std::any_of(first, last, is_timed);
  std::uint64_t const began = timed ? cycles() : 0;
  use(first, n);
  std::uint64_t const took = timed ? (cycles() - began) / first->members : 0;
  for (incoming* i = first; i != last; ++i) {
    if (is_timed(*i)) i->from->took(n, took);
    release(*i, n);
  }
  return true;
}

COLLIGO_BODY void shared_steps::use(incoming* first, std::size_t n) {
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

}  // namespace colligo
