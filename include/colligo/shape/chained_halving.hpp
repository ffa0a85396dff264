// SPDX-License-Identifier: BSL-1.0
/// @file
/// Who holds what in chained halving: groups of neighbouring ranks, each of which has reduced the vector and scattered
/// it over as many of its ranks as the largest power of two; a larger group is two of them, merged in one round.
#pragma once

#include "../core/renumbered.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Ranks first .. first + size - 1. Rank number i of those that hold something has segment i of the vector in
/// `segments()` parts, combined over the group.
struct halving_group {
  int first, size;

  /// A rank's place: the number of its segment, or, where it has handed on all that it had, its number among those.
  struct standing {
    bool holds;
    int number;
  };

  constexpr int segments() const { return floor_power_of_two(size); }
  constexpr int spare() const { return size - segments(); }

  /// The two that are merged: halves of the odd part of the size, times the power of two in it. They have equally many
  /// segments, or the lower one, whose size is a power of two, twice as many.
  constexpr halving_group lower() const {
    int const unit = size & -size, odd = size / unit;
    return {first, odd == 1 ? size / 2 : (odd + 1) / 2 * unit};
  }
  constexpr halving_group upper() const {
    int const below = lower().size;
    return {first + below, size - below};
  }
  constexpr bool halves() const { return lower().segments() == upper().segments(); }

  /// Where the merge puts a rank that stood there in its part. Halves: holders of segment i split it. Otherwise a
  /// chain: of the lower part i hands its segment to the upper part if i is even.
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

  constexpr int rank_of(standing s) const {
    if (size == 1) return first;
    auto const low = lower(), high = upper();
    if (s.holds) {
      bool const in_upper = halves() == (s.number % 2 == 1);
      return in_upper || halves() ? (in_upper ? high : low).rank_of({true, s.number / 2}) : low.rank_of(s);
    }
    int const below = low.spare(), all = below + high.spare();
    if (s.number < below) return low.rank_of(s);
    if (s.number < all) return high.rank_of({false, s.number - below});
    return low.rank_of({true, 2 * (s.number - all)});
  }
};

/// All p ranks after chained halving, in a ring of places in which the segments are in order and the ranks without one
/// are spread evenly. Where p = 3 2^k three groups are halved, and swap thirds: then all ranks hold a segment.
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
    int const segment = scaled(place, segments, p);
    if (scaled(place + 1, segments, p) != segment) return holder(segment);
    return halving_group{0, p}.rank_of({false, place - segment});
  }
  constexpr int place_of(int rank) const {
    auto const [holds, number] = standing_of(rank);
    return holds ? last_before(number, p, segments) : scaled(number, p, p - segments);
  }
  constexpr halving_group::standing standing_of(int rank) const {
    if (!thirds) return halving_group{0, p}.standing_of(rank);
    int const group = rank / unit;
    return {true, 3 * halving_group{group * unit, unit}.standing_of(rank).number + group};
  }
  /// Where a segment is one or two of p blocks: its first block, and the segment that a block belongs to.
  constexpr int first_block(int segment) const { return scaled(segment, p, segments); }
  constexpr int segment_with(int block) const { return last_before(block, segments, p); }

 private:
  static constexpr int scaled(int i, int by, int over) {
    return static_cast<int>(static_cast<long long>(i) * by / over);
  }
  // The largest j of which floor(j over/by) is i at most.
  static constexpr int last_before(int i, int by, int over) {
    return static_cast<int>(((static_cast<long long>(i) + 1) * by - 1) / over);
  }
};

}  // namespace colligo
