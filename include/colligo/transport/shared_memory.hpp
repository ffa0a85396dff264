// SPDX-License-Identifier: BSL-1.0
/// @file
/// Model: executes steps between ranks that share memory. A send publishes, a fold combines straight from where its sender has published: from
/// cache lines, from a ring, or, without any copy in between, from the sender's own memory (see shared_channel.hpp).
#pragma once

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "port.hpp"
#include "shared_channel.hpp"
#include "working_vector.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// What is under way in a step: kept with the port, so that a call allocates nothing.
struct shared_traffic {
  /// A message announced goes on through the ring or from memory, as its sender can have it.
  enum class way : std::uint8_t { lines, ring, announced, memory };

  struct outgoing {
    outlet* to;
    std::byte const* from;
    std::size_t bytes, done;
    way by;
    std::size_t after;   ///< the message that goes before it through the same channel
    bool stays = true;   ///< nobody writes there during the step

    std::byte const* rest() const { return from + done; }
  };
  struct incoming {
    inlet* from;
    piece what;
    std::size_t bytes, done, fetched;   ///< combined or in place; brought into the slot
    std::byte* into;                    ///< where it is to be, whether by overwriting or by combining
    std::byte* slot;                    ///< for folds, what does not lie in a ring
    std::byte const* address;
    std::size_t members;                ///< of the group of folds into one range that begins here
    way by;
    std::size_t after;                  ///< the message that goes before it through the same channel
    bool guarded = false;               ///< writes where the step sends from
  };
  std::vector<outgoing> out;
  std::vector<incoming> in;
  std::vector<std::vector<std::byte>> copies;
};

/// One step after the other for one rank.
template <class T, class Op>
class shared_steps {
 public:
  shared_steps(shared_host& host, shared_traffic& traffic, port_base& port, working_vector<T, Op>& data)
      : host_(host), traffic_(traffic), port_(port), data_(data) {}

  /// A message out and one in; either may be empty.
  void exchange(range out, int to, own which, piece const& in) {
    std::size_t const bytes_out = out.size() * sizeof(T), bytes_in = in.elements.size() * sizeof(T);
    T const* const source = data_.read(out, which, nullptr);
    if (bytes_out <= longest_in_lines && bytes_in <= longest_in_lines) {
      outlet* const o = bytes_out == 0 ? nullptr : &host_.to(to);
      if (o == nullptr || o->has_room_for(lines_for(bytes_out))) {
        if (o) put_short(*o, source, bytes_out);
        if (bytes_in != 0) take_short(host_.from(in.peer), in);
        return;
      }
    }
    if (bytes_out != 0) add_out(host_.to(to), source, bytes_out);
    if (bytes_in != 0) add_in(host_.from(in.peer), in);
    run();
  }

  /// A list of operands. `published`: what a rank sends is one range and goes to all others.
  template <operand_list List>
  void perform(List const& list, bool published) {
    T* free = room<T>(port_.combined, scratch_sizes(list).combined).data();
    bool all_short = true, sent = false;
    for_each_piece(list, [&](piece const& p) {
      std::size_t const bytes = p.elements.size() * sizeof(T);
      all_short &= bytes <= longest_in_lines;
      if (!p.sends() || (published && std::exchange(sent, true))) return;
      outlet& to = published ? host_.to_all() : host_.to(p.peer);
      T const* const from = data_.read(p.elements, p.which, free);
      if (p.combines_first()) free += p.elements.size();
      if (bytes <= longest_in_lines && traffic_.out.empty() && to.has_room_for(lines_for(bytes))) put_short(to, from, bytes);
      else add_out(to, from, bytes);
    });
    auto const from = [&](int peer) -> inlet& { return published ? host_.from_all(peer) : host_.from(peer); };
    if (all_short && traffic_.out.empty()) return take_all_short(list, from);
    for_each_piece(list, [&](piece const& p) {
      if (!p.sends()) add_in(from(p.peer), p);
    });
    run();
  }

  void add_out(outlet& to, T const* from, std::size_t bytes) {
    traffic_.out.push_back({&to, bytes_at(from), bytes, 0, way_of(bytes), latest(traffic_.out, [&](outgoing const& o) { return o.to == &to; })});
  }

  /// `into`: receives there instead of into the vector.
  void add_in(inlet& from, piece const& what, T* into = nullptr) {
    if (!into) into = what.folds() ? data_.place(what.elements) : data_.write(what.elements);
    std::size_t const bytes = what.elements.size() * sizeof(T);
    traffic_.in.push_back({&from, what, bytes, 0, 0, reinterpret_cast<std::byte*>(into), nullptr, nullptr, 1, way_of(bytes),
                           latest(traffic_.in, [&](incoming const& i) { return i.from == &from; })});
  }

  /// Performs what has been added, all of it together.
  void run() {
    struct end_of_step {
      shared_traffic& all;
      ~end_of_step() { all.out.clear(), all.in.clear(), all.copies.clear(); }
    } const end{traffic_};
    form_groups();
    for (incoming& i : traffic_.in) guard(i);
    // A rank that has nothing to do but to send had better copy, for that goes on while its readers combine.
    if (traffic_.in.empty())
      for (outgoing& o : traffic_.out) o.stays = false;
    give_slots();
    for (unsigned polls = 0;;) {
      bool open = false, moved = false;
      for (outgoing& o : traffic_.out)
        if (!complete(o)) open = true, moved |= has_turn(traffic_.out, o.after) && advance(o);
      for (std::size_t k = 0; k < traffic_.in.size(); k += traffic_.in[k].members)
        if (traffic_.in[k].done < traffic_.in[k].bytes) open = true, moved |= advance(&traffic_.in[k]);
      if (!open) break;
      if (moved) polls = 0;
      else host_.wait(polls);
    }
    if (failed_) std::rethrow_exception(std::exchange(failed_, nullptr));
  }

 private:
  using way = shared_traffic::way;
  using outgoing = shared_traffic::outgoing;
  using incoming = shared_traffic::incoming;

  static constexpr std::size_t longest_read = 256 * 1024;   // bytes at once from another rank's memory: what a second-level cache keeps
  static constexpr std::size_t part_size = std::max<std::size_t>(1, 4096 / sizeof(T)) * sizeof(T);   // bytes, whole elements

  static std::byte const* bytes_at(T const* p) { return reinterpret_cast<std::byte const*>(p); }
  static T const* elements_at(std::byte const* p) { return reinterpret_cast<T const*>(p); }
  way way_of(std::size_t bytes) const { return bytes <= longest_in_lines ? way::lines : host_.announces(bytes) ? way::announced : way::ring; }

  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  template <class Messages, class Same>
  static std::size_t latest(Messages const& all, Same same) {
    std::size_t k = all.size();
    while (k > 0 && !same(all[k - 1])) --k;
    return k - 1;   // none for 0
  }
  template <class Messages>
  static bool has_turn(Messages const& all, std::size_t after) { return after == none || all[after].done == all[after].bytes; }

  // Short messages by themselves.

  static void put_short(outlet& to, T const* from, std::size_t bytes) {
    if constexpr (sizeof(T) <= line_payload)
      if (bytes == sizeof(T)) return to.template put_line<sizeof(T)>(bytes_at(from));
    to.put_lines(bytes_at(from), bytes);
  }
  void take_short(inlet& from, piece const& p) {
    std::size_t const bytes = p.elements.size() * sizeof(T);
    unsigned polls = 0;
    auto const wait = [&] { host_.wait(polls); };
    if (!p.folds() && bytes % line_payload == 0) return from.take_lines(reinterpret_cast<std::byte*>(data_.write(p.elements)), bytes, wait);
    struct alignas(cache_line) { std::byte bytes[longest_in_lines]; } local;   // room for the whole last line: copies of a constant size
    from.take_lines(local.bytes, bytes, wait);
    if (p.folds()) data_.combine(p.elements, elements_at(local.bytes), p.peer < port_.rank(), p.which);
    else std::copy_n(elements_at(local.bytes), p.elements.size(), data_.write(p.elements));
  }

  // All that a step's messages are short: those sent have left, so one after the other will do.
  template <operand_list List, class From>
  void take_all_short(List const& list, From from) {
    for (std::size_t i = 0, count; i < list.size(); i += count) {
      operand const o = list[i];
      count = 1;
      if (o.vanishes() || o.sends()) continue;
      if (o.folds()) count = group_of_folds(list, i);
      if (count > 1) take_group(list, i, count, from);
      else for (range const r : {o.elements.head, o.elements.tail})
        if (!r.empty()) take_short(from(o.peer), {o.what, o.peer, r, o.which});
    }
  }
  template <operand_list List, class From>
  void take_group(List const& list, std::size_t first, std::size_t count, From from) {
    range const all = operand(list[first]).elements.head;
    std::size_t const bytes = all.size() * sizeof(T), slot = lines_for(bytes) * cache_line;   // aligned, and with room for the whole last line
    std::byte* const slots = port_.received.of_size(count * slot);
    unsigned polls = 0;
    for (std::size_t k = 0; k < count; ++k) from(operand(list[first + k]).peer).take_lines(slots + k * slot, bytes, [&] { host_.wait(polls); });
    data_.combine_in_order(all, port_.rank(), count, [&](std::size_t k) { return std::pair(operand(list[first + k]).peer, elements_at(slots + k * slot)); });
  }

  // Any messages, all at once.

  void form_groups() {
    auto& in = traffic_.in;
    for (std::size_t first = 0, k = 1; k < in.size(); ++k) {
      piece const &a = in[first].what, &b = in[k].what;
      if (a.folds() && b.folds() && a.elements == b.elements && a.which == own::result && b.which == own::result) ++in[first].members;
      else first = k;
    }
  }

  // What is overwritten while it is sent: safe where the send is ahead element by element; any other send gets a copy.
  void guard(incoming& i) {
    for (outgoing& o : traffic_.out) {
      if (o.from >= i.into + i.bytes || i.into >= o.from + o.bytes) continue;
      if (o.from == i.into) {
        i.guarded = true, o.stays = false;
      } else {
        traffic_.copies.emplace_back(o.from, o.from + o.bytes);
        o.from = traffic_.copies.back().data();
      }
    }
  }
  bool blocked(incoming const& i, std::size_t n) const {
    return i.guarded && std::any_of(traffic_.out.begin(), traffic_.out.end(), [&](outgoing const& o) {
      return o.done < o.bytes && o.rest() < i.into + i.done + n && i.into + i.done < o.from + o.bytes;
    });
  }

  void give_slots() {
    auto const space = [](incoming const& i) {
      return !i.what.folds() ? 0 : i.by == way::lines ? std::size_t{lines_for(i.bytes)} * cache_line : i.by == way::announced ? longest_read : 0;
    };
    std::size_t all = 0;
    for (incoming const& i : traffic_.in) all += space(i);
    std::byte* free = port_.received.of_size(all);
    for (incoming& i : traffic_.in) i.slot = std::exchange(free, free + space(i));
  }

  static bool complete(outgoing const& o) { return o.done == o.bytes && (o.by != way::memory || o.to->all_read()); }

  bool advance(outgoing& o) {
    if (o.by == way::lines) {
      if (!o.to->has_room_for(lines_for(o.bytes))) return false;
      o.to->put_lines(o.from, o.bytes);
      o.done = o.bytes;
      return true;
    }
    if (o.by == way::announced) {
      if (!o.to->has_room_for(1)) return false;
      std::byte const* const address = o.stays ? o.from : nullptr;
      o.to->template put_line<sizeof address>(reinterpret_cast<std::byte const*>(&address));
      o.by = o.stays ? way::memory : way::ring;
      if (o.stays) o.to->offer(), o.done = o.bytes;
      return true;
    }
    if (o.by == way::memory) return false;
    std::size_t const n = std::min(o.bytes - o.done, chunk_of(o.bytes));
    std::byte* const place = o.to->room_for(n);
    if (!place) return false;
    // With nothing to receive, a chunk is told of in parts, so that its reader works while it is copied.
    std::size_t const part = traffic_.in.empty() ? part_size : n;
    for (std::size_t at = 0; at < n; at += part) {
      std::copy_n(o.rest() + at, std::min(part, n - at), place + at);
      if (at + part < n) o.to->put_part(n, at + part);
    }
    o.to->put(n);
    o.done += n;
    return true;
  }

  std::size_t chunk_of(std::size_t bytes) const { return host_.chunk_of(sizeof(T), bytes) * sizeof(T); }

  // The next n bytes of a message, of a chunk its beginning; null as long as they have not come. What is received, not folded, is then at its place already.
  std::byte const* fetch(incoming& i, std::size_t n, std::size_t beginning) {
    if (i.by == way::ring) return i.from->chunk(n, beginning);
    std::byte* const into = i.what.folds() ? i.slot : i.into + i.done;
    if (i.by == way::memory) {
      if (i.fetched < i.done + n) host_.read(i.what.peer, into, i.address + i.done, n), i.fetched = i.done + n;
      return into;
    }
    for (; i.fetched < i.bytes; i.fetched += std::min(line_payload, i.bytes - i.fetched)) {
      if (!i.from->has_line()) return nullptr;
      i.from->take_line(into + i.fetched, std::min(line_payload, i.bytes - i.fetched));
    }
    return into;
  }
  // Of a chunk of n bytes for a group, what is used at once: with nothing to send, one part after the other as they come.
  std::size_t part_of(incoming const& first, std::size_t n) const {
    return first.by == way::ring && first.members == 1 && traffic_.out.empty() ? std::min(n, part_size) : n;
  }
  void release(incoming& i, std::size_t n) {
    i.done += n;
    if (i.by == way::ring) i.from->release(n);
    if (i.by == way::memory && i.done == i.bytes) i.from->has_read();
  }
  bool hears_announcement(incoming& i) {
    if (i.by != way::announced) return true;
    if (!i.from->has_line()) return false;
    i.from->take_line(reinterpret_cast<std::byte*>(&i.address), sizeof i.address);
    i.by = i.address ? way::memory : way::ring;
    return true;
  }

  // The next part of a message, or of all messages of a group of folds.
  bool advance(incoming* first) {
    incoming* const last = first + first->members;
    bool all_heard = true, in_ring = false;
    for (incoming* i = first; i != last; ++i) all_heard &= has_turn(traffic_.in, i->after) && hears_announcement(*i), in_ring |= i->by == way::ring;
    if (!all_heard) return false;
    std::size_t const longest = first->by == way::lines ? first->bytes : in_ring ? chunk_of(first->bytes) : first->what.folds() ? longest_read / sizeof(T) * sizeof(T) : first->bytes;
    std::size_t const n = std::min(first->bytes - first->done, longest);
    if (blocked(*first, n)) return false;
    for (incoming* i = first; i != last; ++i)
      if (!fetch(*i, n, part_of(*first, n))) return false;
    use(first, n);
    for (incoming* i = first; i != last; ++i) release(*i, n);
    return true;
  }

  void use(incoming* first, std::size_t n) {
    std::size_t const part = part_of(*first, n);
    for (std::size_t at = 0; at < n; at += part) {
      std::size_t const now = std::min(part, n - at);
      for (unsigned polls = 0; part != n && !first->from->chunk(n, at + now);) host_.wait(polls);   // on its way
      if (first->what.folds()) combine(first, n, at, now);
      else if (first->by == way::ring) std::copy_n(first->from->chunk(n, at + now) + at, now, first->into + first->done + at);
    }
  }

  // Bytes at .. at + now - 1 of the n that the members of a group are about to combine.
  void combine(incoming* first, std::size_t n, std::size_t at, std::size_t now) {
    if (failed_) return;
    std::size_t const begin = first->what.elements.first + (first->done + at) / sizeof(T);
    range const part{begin, begin + now / sizeof(T)};
    auto const source = [&](incoming const& i) { return elements_at((i.by == way::ring ? i.from->chunk(n, at + now) : i.slot) + at); };
    try {   // a step ends for all its ranks, so what a functor throws has to wait
      if (first->members == 1) return data_.combine(part, source(*first), first->what.peer < port_.rank(), first->what.which);
      data_.combine_in_order(part, port_.rank(), first->members, [&](std::size_t k) { return std::pair(first[k].what.peer, source(first[k])); });
    } catch (...) {
      failed_ = std::current_exception();
    }
  }

  shared_host& host_;
  shared_traffic& traffic_;
  port_base& port_;
  working_vector<T, Op>& data_;
  std::exception_ptr failed_;
};

}  // namespace colligo::detail
