// SPDX-License-Identifier: BSL-1.0
/// @file
/// Neighbouring groups of ranks that merge, two each, while every rank stands for half as much of the vector as before.
#pragma once

#include <cstddef>

#include "../core/range.hpp"

namespace colligo::inline COLLIGO_MODE {

/// One rank's part where there are so many groups of `distance` ranks. The last of an odd number waits, and so does the
/// second of two.
struct merging_groups {
  int groups, group, distance;
  range whole;    ///< what the rank stands for: one of its group's ranks for each part of the vector
  range held;     ///< where it keeps what its group comes to, of that
  range kept{};   ///< of its half: what both groups come to; if it is of the upper one, what the lower one does

  constexpr bool upper() const { return group % 2 != 0; }
  constexpr bool prefixed() const { return group > 1; }   ///< there are ranks below both
  constexpr bool waits() const { return group > 0 && group == groups - 1 && (groups == 2 || !upper()); }
  /// The group above waits for it.
  constexpr bool serves() const { return groups % 2 != 0 && group == groups - 2; }
  constexpr range mine() const { return blocks{whole, 2}[upper()]; }
  constexpr range theirs() const { return blocks{whole, 2}[!upper()]; }
  /// Where it keeps its group's part.
  constexpr range at(range part) const {
    std::size_t const first = held.first + (part.first - whole.first);
    return {first, first + part.size()};
  }
};

}  // namespace colligo
