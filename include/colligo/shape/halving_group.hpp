// SPDX-License-Identifier: BSL-1.0
/// @file
/// Chained halving in groups of neighbouring ranks, each of which reduces the vector and scatters it over as many of
/// its ranks as the largest power of two; a larger group is two of them, merged in one round.
#pragma once

#include "../core/renumbered.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Ranks first .. first + size - 1. Rank number i of those that hold something has segment i of the vector in
/// `segments()` parts, combined over the group.
struct halving_group {
  int first, size;

  /// A rank's place: the number of its segment, or, if it has passed all of its data on, its number among such ranks.
  struct standing {
    bool holds;
    int number;
  };

  constexpr int segments() const { return floor_power_of_two(size); }
  constexpr int spare() const { return size - segments(); }

  /// The two that are merged: halves of the odd part of the size, times the power of two in it. They have equally many
  /// segments, or the lower one, whose size is a power of two, twice as many.
  constexpr halving_group lower() const {
    int const unit = size & -size;
    return {first, size == unit ? size / 2 : (size + unit) / 2};
  }
  constexpr halving_group upper() const {
    int const below = lower().size;
    return {first + below, size - below};
  }
  constexpr bool halves() const { return lower().segments() == upper().segments(); }

  /// The place after the merge of a rank at that place of its part. Halves: holders of segment i split it. Otherwise a
  /// chain: rank i of the lower part passes its segment to the upper part if i is even.
  constexpr standing merged(bool in_upper, standing part) const {
    if (!part.holds) return {false, part.number + (in_upper ? lower().spare() : 0)};
    if (halves() || in_upper) return {true, 2 * part.number + (in_upper && halves())};
    if (part.number % 2 == 1) return part;
    return {false, lower().spare() + upper().spare() + part.number / 2};
  }

  constexpr standing standing_of(int rank) const {
    if (size == 1) return {true, 0};
    bool const in_upper = rank >= upper().first;
    return merged(in_upper, (in_upper ? upper() : lower()).standing_of(rank));
  }

  /// Calls f(standing, rank) for all ranks, in O(p): number i of those that hold something has base.number + i stride,
  /// number i of the others spare_base + i.
  template <class F>
  constexpr void for_each_rank(standing base, int stride, int spare_base, F f) const {
    if (size == 1) return f(base, first);
    auto const low = lower(), high = upper();
    standing const next{base.holds, base.number + stride};
    if (halves()) {
      low.for_each_rank(base, 2 * stride, spare_base, f);
      high.for_each_rank(next, 2 * stride, spare_base + low.spare(), f);
    } else {
      low.lower().for_each_rank({false, spare_base + high.spare()}, 1, 0, f);
      low.upper().for_each_rank(next, 2 * stride, 0, f);
      high.for_each_rank(base, 2 * stride, spare_base, f);
    }
  }

  // Downwards without a branch for each bit of the number.
  constexpr int rank_of(standing s) const {
    int base = first, left = size;
    while (left > 1) {
      halving_group const group{base, left};
      int const below = group.lower().size, segments_below = floor_power_of_two(below);
      int const above = left - below, segments_above = floor_power_of_two(above);
      bool in_upper = (segments_below == segments_above) == (s.number % 2 == 1);
      if (s.holds) {
        s.number >>= segments_below == segments_above || in_upper;
      } else {
        int const spare_below = below - segments_below, spare = spare_below + above - segments_above;
        in_upper = s.number >= spare_below && s.number < spare;
        if (in_upper) s.number -= spare_below;
        else if (s.number >= spare) s = {true, 2 * (s.number - spare)};
      }
      base += in_upper ? below : 0;
      left = in_upper ? above : below;
    }
    return base;
  }
};

// Afterwards the group's holder number i has combined segment i; returns this rank's place.
template <steps Step>
constexpr halving_group::standing reduce_scatter_in(Step& step, halving_group group, blocks const& block) {
  if (group.size == 1) return {true, 0};
  auto const low = group.lower(), high = group.upper();
  bool const in_upper = step.rank() >= high.first;
  auto const mine = reduce_scatter_in(step, in_upper ? high : low, block);
  if (!mine.holds) return group.merged(in_upper, mine);
  int const i = mine.number;
  auto const segment = block.grouped(group.segments());
  if (group.halves()) {
    int const peer = (in_upper ? low : high).rank_of(mine), kept = 2 * i + in_upper;
    step(send{peer, segment[kept ^ 1]}, fold{peer, segment[kept]});
  } else if (in_upper) {
    int const even = 2 * i, odd = even + 1;
    step(send{low.rank_of({true, odd}), segment[odd]}, fold{low.rank_of({true, even}), segment[even]});
  } else {
    int const peer = high.rank_of({true, i / 2});
    if (i % 2 == 0) step(send{peer, segment[i]});
    else step(fold{peer, segment[i]});
  }
  return group.merged(in_upper, mine);
}

}  // namespace colligo
