// SPDX-License-Identifier: BSL-1.0
/// @file
/// Chained halving of all ranks, and the ring on which their segments are collected afterwards.
#pragma once

#include <algorithm>

#include "circulant_graph.hpp"
#include "halving_group.hpp"

namespace colligo::inline COLLIGO_MODE {

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
