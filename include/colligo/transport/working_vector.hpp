// SPDX-License-Identifier: BSL-1.0
/// @file
/// The vector that a run works on, for models that execute. The user's input is never copied first: a range is read from
/// the input until something has been written there, so the first fold is out = op(in, received).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

#include "../core/step.hpp"
#include "memory.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// out[i] = op(left[i], right[i]). out may be left or right.
template <class T, class Op>
void combine(T const* left, T const* right, T* out, std::size_t n, Op& op) {
  std::size_t i = 0;
  if constexpr (std::is_arithmetic_v<T>) {
    // Compilers vectorise loops of a constant length into a local even at -O2; for structs that would cost (benchmarks/combine).
    // 32 and not 16, for g++ -O3 unrolls 16 completely before it vectorises, and then does not vectorise maximum any more.
    constexpr std::size_t width = 32;
    for (; i + width <= n; i += width) {
      std::array<T, width> block;
      for (std::size_t j = 0; j < width; ++j) block[j] = static_cast<T>(op(left[i + j], right[i + j]));
      std::copy_n(block.data(), width, out + i);
    }
  }
  for (; i < n; ++i) out[i] = static_cast<T>(op(left[i], right[i]));
}

/// A few disjoint ranges that do not touch. Algorithms of the papers write at most two at a time (a stretch that wraps round).
class written_ranges {
 public:
  explicit written_ranges(range first = {}) { add(first); }

  bool contain(range r) const {
    // Nearly every run has one piece: that case stays inline, without loops.
    return contains(parts_[0], r) || (count_ > 1 && std::any_of(begin() + 1, end(), [r](range part) { return contains(part, r); }));
  }
  bool touch(range r) const {
    return overlap(parts_[0], r) || (count_ > 1 && std::any_of(begin() + 1, end(), [r](range part) { return overlap(part, r); }));
  }
  /// False where there are too many pieces to remember.
  bool add(range r) {
    if (contains(parts_[0], r)) return true;
    if (count_ == 0) return parts_[0] = r, count_ = 1, true;
    return add_another(r);
  }

  range const* begin() const { return parts_.data(); }
  range const* end() const { return parts_.data() + count_; }

 private:
  [[gnu::noinline]] bool add_another(range r) {
    auto const keep = std::remove_if(parts_.begin(), parts_.begin() + count_, [&r](range part) {
      bool const adjacent = part.first <= r.last && r.first <= part.last;
      if (adjacent) r = joined(part, r);
      return adjacent;
    });
    count_ = keep - parts_.begin();
    if (count_ == std::ssize(parts_)) return false;
    parts_[static_cast<std::size_t>(count_++)] = r;
    return true;
  }

  std::array<range, 3> parts_{};
  std::ptrdiff_t count_ = 0;
};

/// Values of some stretch of the vector.
template <class T>
struct values {
  T* data = nullptr;
  range covers{};

  T* at(range r) const { return r.empty() ? data : data + (r.first - covers.first); }
};

/// A rank's input, and the memory for what it receives and combines. Which of the two holds a range matters only where the input has it.
template <class T, class Op>
class working_vector {
 public:
  /// Where input and output are the same memory the work is in place.
  working_vector(values<T const> in, values<T> out, Op& op) : in_(in), out_(out), op_(op), written_(in.data == out.data ? out.covers : range{}) {}

  /// The current values of a range.
  T const* read(range r) {
    range const own = common(r, in_.covers);
    if (written_.contain(own)) return out_.at(r);
    if (own == r && !written_.touch(r)) return in_.at(r);
    copy_rest();
    return out_.at(r);
  }

  /// The rank's own values as an operand means them; a combination is made in `scratch`.
  T const* read(range r, own which, T* scratch) {
    if (which == own::result) return read(r);
    if (which == own::input || !written_.touch(r)) return in_.at(r);
    detail::combine(read(r), in_.at(r), scratch, r.size(), op_);
    return scratch;
  }

  /// Where the values of a range are to be put; they count as written from now on.
  T* write(range r) {
    if (!written_.add(common(r, in_.covers))) copy_rest();
    return out_.at(r);
  }

  /// Combines what came from a lower or a higher rank into a range.
  void combine(range r, T const* received, bool from_lower, own with) {
    T const* const mine = read(r, with, out_.at(r));
    T* const into = write(r);
    if (from_lower) detail::combine(received, mine, into, r.size(), op_);
    else detail::combine(mine, received, into, r.size(), op_);
  }

  /// Combines what came from several ranks, from(0) to from(n - 1) as pairs of rank and values from the lowest rank to the highest, with the rank's own
  /// values at their place among them: the same grouping, and so the same bits, on every rank.
  template <class From>
  void combine_in_order(range r, int me, std::size_t n, From from) {
    constexpr std::size_t stretch = std::max<std::size_t>(1, 8192 / sizeof(T));   // stays in a first-level cache
    for (std::size_t at = r.first; at < r.last; at += std::min(stretch, r.last - at)) {
      range const part{at, std::min(r.last, at + stretch)};
      T const* const own = read(part);
      T* const into = write(part);
      T const* left = nullptr;
      std::size_t operands = 0;
      auto const take = [&](T const* right) {
        if (left) detail::combine(left, right, into, part.size(), op_);
        left = ++operands == 1 ? right : into;
      };
      local_room<T, stretch> kept;   // own values, where they are overwritten before their turn
      bool const late = own == into && n > 1 && from(1).first < me;
      if (late) std::copy_n(own, part.size(), kept.data());
      bool own_taken = false;
      for (std::size_t k = 0; k < n; ++k) {
        auto const [rank, theirs] = from(k);
        if (!own_taken && rank > me) take(late ? kept.data() : own), own_taken = true;
        take(theirs + (at - r.first));
      }
      if (!own_taken) take(late ? kept.data() : own);
    }
  }

  /// Where the values of a range would be written.
  T* place(range r) const { return out_.at(r); }

  /// Copies to the output what is still in the input alone.
  void complete() {
    if (!written_.contain(common(in_.covers, out_.covers))) copy_rest();
  }

 private:
  [[gnu::noinline]] void copy_rest() {
    range const both = common(in_.covers, out_.covers);
    for (std::size_t at = both.first; at < both.last;) {
      range next{both.last, both.last};   // the next part that is written
      for (range const part : written_)
        if (at < part.last && part.first < next.first) next = part;
      if (at < next.first) std::copy_n(in_.at({at, next.first}), next.first - at, out_.at({at, next.first}));
      at = next.last;
    }
    written_ = written_ranges(both);
  }

  values<T const> in_;
  values<T> out_;
  Op& op_;
  written_ranges written_;
};

}  // namespace colligo::detail
