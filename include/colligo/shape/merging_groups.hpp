// SPDX-License-Identifier: BSL-1.0
/// @file
/// Neighbouring groups of ranks that merge in pairs, while every rank's segment of the vector is halved.
#pragma once

#include <cstddef>

#include "../core/range.hpp"

namespace colligo::inline COLLIGO_MODE {

/// One rank's part in the merge of groups of `distance` ranks. The last group of an odd number waits, and so does the
/// second of two.
struct merging_groups {
  int groups, group, distance;
  range whole;    ///< the rank's segment: a group's ranks share the vector between them
  range held;     ///< where it keeps its group's combination of that segment
  range kept{};   ///< for the rank's half: both groups' combination; in the upper group, the lower one's

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
