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

namespace colligo::detail {

/// out[i] = op(left[i], right[i]). out may be left or right.
template <class T, class Op>
void combine(T const* left, T const* right, T* out, std::size_t n, Op& op) {
  std::size_t i = 0;
  if constexpr (std::is_arithmetic_v<T>) {
    // Compilers vectorise loops of a constant length into a local even at -O2; for structs that would cost (benchmarks/combine).
    constexpr std::size_t width = 16;
    for (; i + width <= n; i += width) {
      std::array<T, width> block;
      for (std::size_t j = 0; j < width; ++j) block[j] = op(left[i + j], right[i + j]);
      std::copy_n(block.data(), width, out + i);
    }
  }
  for (; i < n; ++i) out[i] = op(left[i], right[i]);
}

/// A few disjoint ranges that do not touch. Algorithms of the papers write at most two at a time (a stretch that wraps round).
class written_ranges {
 public:
  explicit written_ranges(range first = {}) { add(first); }

  bool contain(range r) const {
    return r.empty() || std::any_of(begin(), end(), [r](range part) { return contains(part, r); });
  }
  bool touch(range r) const {
    return std::any_of(begin(), end(), [r](range part) { return overlap(part, r); });
  }
  /// False where there are too many pieces to remember.
  bool add(range r) {
    if (r.empty()) return true;
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

  range const* begin() const { return parts_.data(); }
  range const* end() const { return parts_.data() + count_; }

 private:
  std::array<range, 3> parts_{};
  std::ptrdiff_t count_ = 0;
};

template <class T, class Op>
class working_vector {
 public:
  /// Where in and out are the same the work is in place.
  working_vector(T const* in, T* out, std::size_t n, Op& op) : in_(in), out_(out), n_(n), op_(op), written_(in == out ? range{0, n} : range{}) {}

  /// The current values of a range.
  T const* read(range r) { return source_of(r) + r.first; }

  /// Where the values of a range are to be put; they count as written from now on.
  T* write(range r) {
    if (!written_.add(r)) complete();
    return out_ + r.first;
  }

  /// Combines what came from a lower or a higher rank into a range.
  void combine(range r, T const* received, bool from_lower, own with) {
    T const* const mine = (with == own::input ? in_ : source_of(r)) + r.first;
    T* const out = write(r);
    if (from_lower) detail::combine(received, mine, out, r.size(), op_);
    else detail::combine(mine, received, out, r.size(), op_);
  }

  /// Copies what is still in the input alone.
  void complete() {
    for (std::size_t at = 0; at < n_;) {
      range next{n_, n_};
      for (range const part : written_)
        if (at <= part.first && part.first < next.first) next = part;
      std::copy(in_ + at, in_ + next.first, out_ + at);
      at = next.last;
    }
    written_ = written_ranges({0, n_});
  }

 private:
  T const* source_of(range r) {
    if (written_.contain(r)) return out_;
    if (!written_.touch(r)) return in_;
    complete();
    return out_;
  }

  T const* in_;
  T* out_;
  std::size_t n_;
  Op& op_;
  written_ranges written_;
};

}  // namespace colligo::detail
