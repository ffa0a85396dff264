// SPDX-License-Identifier: BSL-1.0
/// @file
/// The circulant graph on p ranks: its distances, and the schedule of a pipeline of blocks through it. Each rank
/// computes its own schedule.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "../core/renumbered.hpp"

namespace colligo::inline COLLIGO_MODE {

/// The k-th distance from the longest on: p halved k times, rounded up.
constexpr int circulant_skip(int p, int k) {
  return static_cast<int>((static_cast<std::int64_t>(p) + (std::int64_t{1} << k) - 1) >> k);
}

/// The graph, and the schedule of a pipeline of blocks from rank 0. Precondition: p >= 1. J. L. Traff, Optimal
/// Broadcast Schedules in Logarithmic Time, 2024, proves that there are such schedules. The search is our own, after
/// its greedy one; tests of the paper's conditions show that it is right.
struct circulant_graph {
  static constexpr int longest = 31;   // enough for any int

  int p, q = ceil_lg(p);   ///< q distances

  constexpr int skip(int k) const { return circulant_skip(p, q - k); }

  /// Which blocks a rank receives: in round i of all, k = i mod q, it receives from the rank skip(k) below the k-th of
  /// these + q floor(i / q); negative ones do not exist. Precondition: 0 <= rank < p. Costs O(q) time, less if only the
  /// first `until` of them are needed.
  constexpr std::array<int, longest> received_by(int rank) const { return received_by(rank, q); }
  constexpr std::array<int, longest> received_by(int rank, int until) const {
    // The rank's own path, by the greatest skips that fit: the last of them is the round in which it gets a new block.
    int own = q;
    for (int k = q - 1, rest = rank; k >= 0; --k) {   // bits that look random: no branches
      bool const fits = rest >= skip(k);
      own = fits ? k : own, rest -= fits ? skip(k) : 0;
    }
    search ways{*this, static_cast<std::int64_t>(rank) + p, (std::uint32_t{2} << q) - 1, until};
    if (rank > 0) ways.free &= ~(std::uint32_t{1} << own);
    ways.visit(0, 2 * static_cast<std::int64_t>(p), ways.free);
    for (int k = 0; k < until; ++k) {
      int& block = ways.taken[static_cast<std::size_t>(k)];
      block = block == q ? own : block - q;
    }
    return ways.taken;
  }

 private:
  // Paths to the rank are sums of different skips. Round k takes the path with the greatest sum that arrives early
  // enough, by skips that no earlier round has taken; its first skip is the block.
  struct search {
    circulant_graph const& graph;
    std::int64_t goal;      // rank + p
    std::uint32_t free;     // skips not yet taken
    int until;              // rounds needed
    int k = 0;
    std::int64_t late = latest(0), later = latest(1);   // of round k, and of the next
    std::array<int, longest> taken{};

    constexpr std::int64_t latest(int round) const { return round > graph.q ? -1 : goal - graph.skip(round); }

    constexpr void visit(std::int64_t way, std::int64_t bound, std::uint32_t left) {
      while (left != 0 && k < until) {
        int const i = static_cast<int>(std::bit_width(left)) - 1;
        left -= std::uint32_t{1} << i;
        std::int64_t const on = way + graph.skip(i);
        if (on > late || on >= bound) continue;
        if (on <= later) visit(on, bound, left);
        if (way > later || k >= until) return;
        bound = on;
        taken[static_cast<std::size_t>(k++)] = i;
        free &= ~(std::uint32_t{1} << i), left &= free;
        late = later, later = latest(k + 1);
      }
    }
  };
};

/// The blocks that rank r sends and receives in a pipeline from rank 0: the rank skip(k) above it receives sent[k].
/// Costs O(q^2) time.
struct circulant_schedule : circulant_graph {
  std::array<int, longest> sent{}, received{};

  constexpr circulant_schedule(int ranks, int rank) : circulant_graph{ranks}, received(received_by(rank)) {
    for (int k = 0; k < q; ++k) {
      auto const at = static_cast<std::size_t>(k);
      sent[at] = received_by(static_cast<int>((static_cast<std::int64_t>(rank) + skip(k)) % p))[at];
    }
  }
};

}  // namespace colligo
