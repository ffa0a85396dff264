// SPDX-License-Identifier: BSL-1.0
/// @file
/// Chained halving in groups of neighbouring ranks, each of which reduces the vector and scatters it over as many of
/// its ranks as the largest power of two; a larger group is two of them, merged in one round. Then that of all ranks,
/// and the ring on which their segments are collected afterwards.
#pragma once

#include <algorithm>

#include "../core/renumbered.hpp"
#include "circulant_graph.hpp"

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

/// All p ranks after chained halving (chained_halving.hpp), in a ring of places in which the segments are in order and
/// the ranks without one are spread evenly. Where p = 3 2^k three groups are halved, and swap thirds: then all ranks
/// hold a segment.
///   p = 5   place    0 1 2 3 4     p = 6   place    0 1 2 3 4 5    0-1 2-3 4-5 swap halves: 0 2 4 have ABC, 1 3 5 DEF;
///           rank     0 2 3 1 4             rank     0 2 4 1 3 5    then 0 2 4 swap thirds, and 1 3 5
///           segment    A B C D             segment  A B C D E F
struct chained_ring {
  int p;
  int unit = p & -p;
  bool thirds = p / unit == 3;
  int segments = thirds ? p : floor_power_of_two(p);

  constexpr int holder(int segment) const {
    if (!thirds) return halving_group{0, p}.rank_of({true, segment});
    return halving_group{segment % 3 * unit, unit}.rank_of({true, segment / 3});
  }
  constexpr int rank_at(int place) const {
    int const segment = floor_of(place, segments, p);
    if (floor_of(place + 1, segments, p) != segment) return holder(segment);
    return without_segment(place - segment);
  }
  constexpr int place_of(int rank) const {
    auto const [holds, number] = standing_of(rank);
    return holds ? last_with_floor(number, segments, p) : floor_of(number, p, p - segments);
  }
  constexpr halving_group::standing standing_of(int rank) const {
    if (!thirds) return halving_group{0, p}.standing_of(rank);
    int const group = rank / unit;
    return {true, 3 * halving_group{group * unit, unit}.standing_of(rank).number + group};
  }
  /// If a segment is one or two of p blocks: its first block, and the segment of a block.
  constexpr int first_block(int segment) const { return floor_of(segment, p, segments); }
  constexpr int segment_with(int block) const { return last_with_floor(block, p, segments); }
  /// The second block of a segment, of those that have one in turn.
  constexpr int second_block(int number) const { return last_with_floor(number, p - segments, p); }
  /// Owners of blocks: a segment's holder owns its first block, and a rank without a segment owns the second one, if
  /// any.
  constexpr int owner(int block) const {
    int const segment = segment_with(block);
    return block == first_block(segment) ? holder(segment) : without_segment(block - segment - 1);
  }
  /// Calls f(block, owner) for all blocks, in O(p).
  template <class F>
  constexpr void for_each_owner(F f) const {
    int const group = thirds ? unit : p;
    for (int first = 0; first < p; first += group)
      halving_group{first, group}.for_each_rank({true, first / group}, p / group, 0, [&](auto place, int rank) {
        f(place.holds ? first_block(place.number) : second_block(place.number), rank);
      });
  }

  /// The volume on the longest path, as part of the vector; in reduce_scatter of a vector in so many parts, which
  /// segments group.
  constexpr double moved_by_reduce_scatter(int parts) const {
    if (!thirds) return moved_in({0, p}, parts);
    return moved_in({0, unit}, parts) + 2 * longest(1, p, parts);
  }
  constexpr double moved_by_all_gather() const {
    double sum = 0;
    for (int k = 0; k < ceil_lg(p); ++k) sum += longest(circulant_skip(p, k) - circulant_skip(p, k + 1), p, segments);
    return sum;
  }
  constexpr double moved_by_gather() const {
    double sum = 0;
    for (int d = 1; d < p; d *= 2) sum += longest(std::min(d, p - d), p, segments);
    return sum;
  }

 private:
  constexpr int without_segment(int number) const { return halving_group{0, p}.rank_of({false, number}); }
  // The longest stretch of `count` of the groups of `parts` parts, as part of them all.
  static constexpr double longest(int count, int groups, int parts) {
    return static_cast<double>((static_cast<long long>(count) * parts + groups - 1) / groups) / parts;
  }
  static constexpr double moved_in(halving_group group, int parts) {
    if (group.size == 1) return 0;
    auto const low = group.lower(), high = group.upper();
    double const below = moved_in(low, parts), above = low.size == high.size ? below : moved_in(high, parts);
    return std::max(below, above) + longest(1, group.segments(), parts);
  }
  static constexpr int floor_of(int i, int by, int over) {
    return static_cast<int>(static_cast<long long>(i) * by / over);
  }
  // The last j of which floor_of(j, by, over) is i at most.
  static constexpr int last_with_floor(int i, int by, int over) {
    return static_cast<int>(((static_cast<long long>(i) + 1) * over - 1) / by);
  }
};

// Afterwards ring.holder(i) has combined segment i, which is block.grouped(ring.segments)[i].
template <steps Step>
constexpr void reduce_scatter_on(chained_ring const& ring, Step& step, blocks const& block) {
  if (!ring.thirds) return static_cast<void>(reduce_scatter_in(step, {0, ring.p}, block));
  int const me = step.rank(), group = me / ring.unit, next = (group + 1) % 3, last = (group + 2) % 3;
  int const first = 3 * reduce_scatter_in(step, {group * ring.unit, ring.unit}, block).number;
  auto const segment = block.grouped(ring.p);
  auto const third = [&](int g) { return me + (g - group) * ring.unit; };
  range const kept = segment[first + group];
  step(send{third(next), segment[first + next]}, send{third(last), segment[first + last]},
       fold{third(std::min(next, last)), kept}, fold{third(std::max(next, last)), kept});
}

// Places of the ring as ranks, for collectives that need no order.
template <steps Step>
constexpr auto on_places(chained_ring const& ring, Step& step) {
  return renumbered(step, ring.place_of(step.rank()), ring.p, [ring](int place) { return ring.rank_at(place); });
}

}  // namespace colligo
