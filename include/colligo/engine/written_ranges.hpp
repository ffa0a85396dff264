// SPDX-License-Identifier: BSL-1.0
/// @file
/// The ranges of a vector that a call has written.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>

#include "../core/range.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// A few ranges that do not touch. The papers' algorithms write at most two at a time (a stretch that wraps round).
class written_ranges {
 public:
  explicit written_ranges(range first = {}) { add(first); }

  bool contain(range const& r) const {
    // Nearly every run has one interval, so that case is inline and has no loops.
    return contains(parts_[0], r) || (count_ > 1 && any_other(contains, r.first, r.last));
  }
  bool touch(range const& r) const {
    return overlap(parts_[0], r) || (count_ > 1 && any_other(overlap, r.first, r.last));
  }
  /// False if there are too many intervals.
  bool add(range const& r) {
    if (contains(parts_[0], r)) return true;
    if (count_ != 0) return add_another(r.first, r.last);
    parts_[0] = r;
    count_ = 1;
    return true;
  }

  range const* begin() const { return parts_.data(); }
  range const* end() const { return parts_.data() + count_; }

 private:
  // Takes the range as two numbers: for a reference to it, callers would store it in memory.
  [[gnu::noinline]] bool any_other(bool does(range part, range r), std::size_t first, std::size_t last) const {
    for (range const* part = begin() + 1; part != end(); ++part)
      if (does(*part, {first, last})) return true;
    return false;
  }
  [[gnu::noinline]] bool add_another(std::size_t first, std::size_t last) {
    range r{first, last};
    range* keep = parts_.data();
    for (range const* part = begin(); part != end(); ++part)
      if (part->first <= r.last && r.first <= part->last) r = joined(*part, r);
      else *keep++ = *part;
    count_ = keep - begin();
    if (count_ == std::ssize(parts_)) return false;
    parts_[static_cast<std::size_t>(count_++)] = r;
    return true;
  }

  std::array<range, 3> parts_{};
  std::ptrdiff_t count_ = 0;
};

}  // namespace colligo
