// SPDX-License-Identifier: BSL-1.0
/// @file
/// Elements whose size is known at the call: lists with a capacity. What top() and accumulate() are made of.
///
/// accumulate(): a rank knows the combinations of dyadic intervals of the sequence's places, x 2^l .. (x + 1) 2^l - 1,
/// as few as cover its stretch: at most 2 lg n. The lists of two stretches that follow one another are joined by
/// combining intervals that make a larger one. So every combination is one of a tree over places that does not depend
/// on how the sequence is cut.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "../../select/communicators.hpp"
#include "../../select/forms.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// A list in memory: how many places its stretch has, how many entries follow, and these. Or else that there is none,
/// since something was thrown where it was made, and on which rank.
template <class Entry>
class list_view {
 public:
  static constexpr std::size_t head = 16;
  static_assert(is_bytes<Entry> && alignof(Entry) <= head, "colligo: elements have to travel as bytes");
  static constexpr std::size_t bytes(std::size_t capacity) { return head + capacity * sizeof(Entry); }

  explicit list_view(std::byte const* at) : at_(at) {}
  std::int64_t places() const { return word(0); }
  bool is_missing() const { return word(1) == missing; }
  std::int64_t missing_from() const { return word(0); }
  std::span<Entry const> entries() const {
    return {reinterpret_cast<Entry const*>(at_ + head), static_cast<std::size_t>(word(1))};
  }
  static void write(std::byte* at, std::int64_t places, std::span<Entry const> entries) {
    write_words(at, places, static_cast<std::int64_t>(entries.size()));
    std::copy(entries.begin(), entries.end(), reinterpret_cast<Entry*>(at + head));
  }
  static void write_missing(std::byte* at, std::int64_t rank) { write_words(at, rank, missing); }

 private:
  static constexpr std::int64_t missing = -1;
  static void write_words(std::byte* at, std::int64_t first, std::int64_t second) {
    std::int64_t const words[]{first, second};
    std::memcpy(at, words, sizeof words);
  }
  std::int64_t word(std::size_t i) const {
    std::int64_t its;
    std::memcpy(&its, at_ + 8 * i, sizeof its);
    return its;
  }
  std::byte const* at_;
};

/// Entry and functor, whose `join(left, right)` gives the places and entries of both stretches, for lists of that
/// capacity: kept, for what is decided for a call refers to it.
template <class Entry, class Join>
element const& element_of_lists(std::size_t capacity) {
  static std::mutex turn;
  static std::map<std::size_t, element> known;
  std::lock_guard const mine(turn);
  return known.try_emplace(capacity, element{list_view<Entry>::bytes(capacity), list_view<Entry>::head, false, false,
                                             nullptr, &name_of_type<Entry>, &name_of_type<Join>,
                                             [](void* op, std::byte const* left, std::byte const* right,
                                                std::byte* out, std::size_t n) {
                                               // Of one list in every call, but vectors may be cut anywhere.
                                               auto& join = *static_cast<Join*>(op);
                                               std::size_t const size = list_view<Entry>::bytes(join.capacity());
                                               for (; n > 0; --n, left += size, right += size, out += size) {
                                                 list_view<Entry> const l(left), r(right);
                                                 if (l.is_missing() || r.is_missing()) {
                                                   auto const& its = l.is_missing() ? l : r;
                                                   list_view<Entry>::write_missing(out, its.missing_from());
                                                   continue;
                                                 }
                                                 std::int64_t const places = l.places() + r.places();
                                                 list_view<Entry>::write(out, places, join(l, r));
                                               }
                                             }}).first->second;
}

/// The lists of all ranks, joined in their order. What local() throws on one rank comes out there when the others know.
template <class Entry, class Comm, class Join, class Local>
std::vector<Entry> joined_lists(Comm const& comm, std::int64_t places, Join& join, Local local) {
  constexpr collective c = collective::all_reduce;
  door<c, Comm> const its(comm);
  std::vector<std::byte> list;
  its.attempt([&] { list.resize(list_view<Entry>::bytes(join.capacity())); });
  std::exception_ptr thrown;
  try {
    list_view<Entry>::write(list.data(), places, local());
  } catch (...) {
    thrown = std::current_exception();
    list_view<Entry>::write_missing(list.data(), its.rank());
  }
  blocks const one = its.vector_of(1);
  auto accepted = its.accept(one, std::span<std::byte const>(list), one.whole, std::span(list), one.whole);
  accepted.its.of = &element_of_lists<Entry, Join>(join.capacity());
  accepted.its.wire = port_of<Comm>::template wire<std::byte, no_functor, false>();   // bytes, which MPI does not know
  accepted.its.op = &join;
  run_by_rules(accepted.port, accepted.its, &texts<c>);
  if (thrown) std::rethrow_exception(thrown);
  list_view<Entry> const all(list.data());
  if (all.is_missing())
    throw failed_elsewhere("colligo: rank " + std::to_string(all.missing_from()) +
                           " has failed in this call, where it worked on its range");
  return {all.entries().begin(), all.entries().end()};
}

/// Better ones first; NaNs behind all others; equals in the order of places.
template <class T, class Compare, class Projection>
class best_of_lists {
 public:
  using entry = located<T>;
  best_of_lists(std::size_t k, Compare compare, Projection projection)
      : k_(k), compare_(std::move(compare)), projection_(std::move(projection)) {}
  std::size_t capacity() const { return k_; }

  bool before(entry const& a, entry const& b) {
    auto const &x = std::invoke(projection_, a.value), &y = std::invoke(projection_, b.value);
    if (unordered(x) != unordered(y)) return unordered(y);
    if (!unordered(x)) {
      if (std::invoke(compare_, x, y)) return true;
      if (std::invoke(compare_, y, x)) return false;
    }
    return a.index < b.index;
  }
  std::span<entry const> of_range(std::span<T const> all) {
    best_.clear();
    if (k_ == 0) return best_;
    auto const first = [this](entry const& a, entry const& b) { return before(a, b); };
    // The worst of the best is on top of a heap; most elements are not better, and are not copied.
    for (std::int64_t i = 0; T const& value : all) {
      entry const next{value, i++};
      if (best_.size() == k_) {
        if (!before(next, best_.front())) continue;
        std::pop_heap(best_.begin(), best_.end(), first);
        best_.back() = next;
      } else {
        best_.push_back(next);
      }
      std::push_heap(best_.begin(), best_.end(), first);
    }
    std::sort_heap(best_.begin(), best_.end(), first);
    return best_;
  }
  std::span<entry const> operator()(list_view<entry> const& left, list_view<entry> const& right) {
    best_.clear();
    auto const l = left.entries(), r = right.entries();
    for (std::size_t i = 0, j = 0; best_.size() < k_ && (i < l.size() || j < r.size());) {
      bool const from_left = j == r.size() || (i < l.size() && before(l[i], moved(r[j], left.places())));
      best_.push_back(from_left ? l[i++] : moved(r[j++], left.places()));
    }
    return best_;
  }

 private:
  static entry moved(entry const& its, std::int64_t by) { return {its.value, its.index + by}; }

  std::size_t k_;
  Compare compare_;
  Projection projection_;
  std::vector<entry> best_;
};

template <class T>
struct combined_interval {
  std::int64_t place, size;
  T value;

  bool precedes(combined_interval const& next) const {
    return size == next.size && place + size == next.place && place % (2 * size) == 0;
  }
};

template <class T, class Op>
class intervals_of_lists {
 public:
  using entry = combined_interval<T>;
  /// Of n places in all.
  intervals_of_lists(std::int64_t n, Op& op)
      : capacity_(2 * static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(n))) + 2), op_(op) {}
  std::size_t capacity() const { return capacity_; }

  std::span<entry const> of_range(std::span<T const> all, std::int64_t place) {
    known_.clear();
    for (T const& value : all) add({place++, 1, value});
    return known_;
  }
  std::span<entry const> operator()(list_view<entry> const& left, list_view<entry> const& right) {
    auto const l = left.entries();
    known_.assign(l.begin(), l.end());
    for (entry const& next : right.entries()) add(next);
    return known_;
  }

 private:
  void add(entry next) {
    for (; !known_.empty() && known_.back().precedes(next); known_.pop_back())
      next = {known_.back().place, 2 * next.size, static_cast<T>(op_(known_.back().value, next.value))};
    known_.push_back(next);
  }

  std::size_t capacity_;
  Op& op_;
  std::vector<entry> known_;
};

}  // namespace colligo
