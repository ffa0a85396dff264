// SPDX-License-Identifier: BSL-1.0
/// @file
/// Chained halving: reduce_scatter on any number of ranks, order kept, in ceil(lg p) rounds. Groups of neighbouring
/// ranks are merged two by two: they swap halves of their segments, or, where one has twice as many segments as the
/// other, hand them on in a chain. An all_gather or a gather, which need no order, follow on a ring.
/// Picture  p = 5, vector ABCD   round 1: 0-1 3-4 swap halves   round 2: 0->2 AB, 2->1 CD (a chain; 0 is out)
///          round 3: 2-3 and 1-4 swap quarters   2: A   3: B   1: C   4: D
/// Cost     with q = ceil(lg p), p' = 2^floor(lg p) and V n the longest way of halves and chains, V < 3/2: p = 2^k:
///          1 - 1/p, 3: 1, 5 and 7: 5/4, 3 2^k: 1 - 1/p, for there three groups of 2^k ranks swap thirds instead
///          all_reduce  2 q alpha + (V + A) n beta + V n gamma, A = sum ceil(c p'/p) / p' over the rounds' c places, at
///          most 1 - 1/p for 2^k and 3 2^k, else 1.00 to 1.25
///          reduce  at most 2 q alpha + (V + 1) n beta + V n gamma
///          reduce_scatter  at most (q + 2) alpha + (V + 2 ceil(p/p') / p) n beta + V n gamma
///          all_reduce is equal to the recorded schedule, where p' (p) divides n and one-way messages cost as much as
///          exchanges
/// Needs    any p, any root, any counts, any associative functor
/// Order    kept (a group is below the one that it is merged with); same bits on all ranks (each segment has one)
/// Prefer   functors that do not commute, long vectors, p not a power of two.   Avoid: short vectors
/// Source   no paper: as far as we know it is new. Related to the 3-2 elimination of R. Rabenseifner and J. L. Traff, More
///          Efficient Reduction Algorithms for Non-Power-of-Two Number of Processors in Message-Passing Parallel
///          Systems, 2004, in which three ranks hand on whole vectors. Order, laws and cost are shown by tests over
///          p = 1..128 and by nothing else; that V is below 3/2 is tested up to p = 4096.
#pragma once

#include <algorithm>
#include <string_view>

#include "../shape/chained_halving.hpp"
#include "circulant.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

// Afterwards who holds number i of the group has combined segment i of it; returns where this rank stands.
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
    step(send{low.rank_of({true, 2 * i + 1}), segment[2 * i + 1]}, fold{low.rank_of({true, 2 * i}), segment[2 * i]});
  } else {
    int const peer = high.rank_of({true, i / 2});
    if (i % 2 == 0) step(send{peer, segment[i]});
    else step(fold{peer, segment[i]});
  }
  return group.merged(in_upper, mine);
}

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

// Places of the ring as ranks: for what needs no order.
template <steps Step>
constexpr auto on_places(chained_ring const& ring, Step& step) {
  return renumbered(step, ring.place_of(step.rank()), ring.p, [ring](int place) { return ring.rank_at(place); });
}

// The longest stretch of `count` groups, where `parts` blocks are grouped in `groups` of them, as part of them all.
constexpr double longest_part(int count, int groups, int parts) {
  return static_cast<double>((static_cast<long long>(count) * parts + groups - 1) / groups) / parts;
}

// What moves on the longest way, as parts of a vector in so many blocks.
constexpr double moved_in(halving_group group, int parts) {
  if (group.size == 1) return 0;
  auto const low = group.lower(), high = group.upper();
  double const below = moved_in(low, parts), above = low.size == high.size ? below : moved_in(high, parts);
  return std::max(below, above) + longest_part(1, group.segments(), parts);
}
constexpr double moved_by_reduce_scatter(chained_ring const& ring, int parts) {
  if (!ring.thirds) return moved_in({0, ring.p}, parts);
  return moved_in({0, ring.unit}, parts) + 2 * longest_part(1, ring.p, parts);
}
constexpr double cost_of_chained_halving(machine const& m, chained_ring const& ring, int parts, double bytes) {
  return ceil_lg(ring.p) * m.alpha + moved_by_reduce_scatter(ring, parts) * bytes * (m.beta + m.gamma);
}
constexpr double moved_by_all_gather(chained_ring const& ring) {
  double sum = 0;
  for (int k = 0; k < ceil_lg(ring.p); ++k)
    sum += longest_part(circulant_skip(ring.p, k) - circulant_skip(ring.p, k + 1), ring.p, ring.segments);
  return sum;
}
constexpr double moved_by_gather(chained_ring const& ring) {
  double sum = 0;
  for (int d = 1; d < ring.p; d *= 2) sum += longest_part(std::min(d, ring.p - d), ring.p, ring.segments);
  return sum;
}

}  // namespace detail

struct chained_halving {
  static constexpr std::string_view name = "chained_halving";

  template <class T, class Op>
  struct all_reduce {
    static constexpr bool ordered = true;
    static constexpr bool same_bits = true;

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      chained_ring const ring{step.size()};
      blocks const segment{all, ring.segments};
      detail::reduce_scatter_on(ring, step, segment);
      auto places = detail::on_places(ring, step);
      detail::all_gather_on_circulant(places, segment.grouped(ring.p));
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      double const bytes = static_cast<double>(n * sizeof(T));
      return n == 0 ? 0 : detail::cost_of_chained_halving(m, {p}, chained_ring{p}.segments, bytes) + ceil_lg(p) * m.alpha +
                              detail::moved_by_all_gather({p}) * bytes * m.beta;
    }
  };

  template <class T, class Op>
  struct reduce {
    static constexpr bool ordered = true;

    template <steps Step>
    constexpr void operator()(Step& step, range all, int root) const {
      chained_ring const ring{step.size()};
      blocks const segment{all, ring.segments};
      detail::reduce_scatter_on(ring, step, segment);
      auto places = detail::on_places(ring, step);
      detail::gather_on_ring(places, segment.grouped(ring.p), ring.place_of(root));
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      double const bytes = static_cast<double>(n * sizeof(T));
      return n == 0 ? 0 : detail::cost_of_chained_halving(m, {p}, chained_ring{p}.segments, bytes) +
                              ceil_lg(p) * m.alpha_uni() + detail::moved_by_gather({p}) * bytes * m.beta_uni();
    }
  };

  // At the end every rank gets its block from who holds the segment with it: a segment is one or two blocks.
  template <class T, class Op>
  struct reduce_scatter {
    static constexpr bool ordered = true;

    template <steps Step>
    constexpr void operator()(Step& step, blocks const& block) const {
      chained_ring const ring{step.size()};
      detail::reduce_scatter_on(ring, step, block);
      int const me = step.rank(), from = ring.holder(ring.segment_with(me));
      auto const [holds, segment] = ring.standing_of(me);
      int const first = holds ? ring.first_block(segment) : me, last = holds ? ring.first_block(segment + 1) - 1 : me;
      auto const other = [me](int rank) { return rank == me ? nobody : rank; };
      step(send{other(first), block[first]}, send{last == first ? nobody : other(last), block[last]},
           recv{other(from), block[me]});
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      double const bytes = static_cast<double>(n * sizeof(T)), block = bytes / p;
      int const messages = p <= 3 ? 0 : chained_ring{p}.segments == p ? 1 : 2;   // to the owner, at the end
      return n == 0 ? 0 : detail::cost_of_chained_halving(m, {p}, p, bytes) + messages * m.exchange(block);
    }
  };
};

}  // namespace colligo
