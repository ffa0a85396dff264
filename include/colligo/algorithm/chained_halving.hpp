// SPDX-License-Identifier: BSL-1.0
/// @file
/// Chained halving: reduce_scatter on any number of ranks, order kept, in ceil(lg p) rounds. Groups of neighbouring
/// ranks merge in pairs: they swap halves of their segments, or, if one group has twice as many ranks, pass them on in
/// a chain. An all_gather or a gather, which need no order, follow on a ring.
/// Picture  p = 5, vector ABCD   round 1: 0-1 3-4 swap halves   round 2: 0->2 AB, 2->1 CD (a chain; 0 is out)
///          round 3: 2-3 and 1-4 swap quarters   2: A   3: B   1: C   4: D
/// Cost     with q = ceil(lg p), s = 2^floor(lg p) segments and V n what moves on the longest path: V = 1 - 1/p for
///          p = 2^k, and for 3 2^k, where s = p and three groups of 2^k ranks swap thirds; 5, 7: 5/4; always < 3/2
///          all_reduce  2 q alpha + (V + A) n beta + V n gamma, with A = 1 - 1/p for 2^k and 3 2^k, else 1 to 5/4:
///          equal to the recorded schedule where s divides n and one-way messages cost as much as exchanges, else at
///          most that
///          reduce  at most q (alpha + alpha_uni) + V n (beta + gamma) + G n beta_uni, G the gather's about 1
///          reduce_scatter  at most (q + t) alpha + (V' + t/p) n beta + V' n gamma, with t = 1 message to the owner for
///          2^k and 3 2^k, else 2, and V' = V with segments of whole blocks
/// Own work with q: all_reduce 54 q^2 steps to find peers and segments, reduce 33 q^2, reduce_scatter 16 q^2
/// Needs    any p, any root, any counts, any associative functor
/// Order    kept (a group is below the one that it merges with); same bits on all ranks (one rank combines each
///          segment)
/// Prefer   functors that do not commute, long vectors, p not a power of two.   Avoid: short vectors
/// Source   no paper that we know: new. Related to 3-2 elimination: R. Rabenseifner and J. L. Traff, More Efficient
///          Reduction Algorithms for Non-Power-of-Two Number of Processors in Message-Passing Parallel Systems, 2004.
///          Only tests show that every rank takes part once and in order (p = 1..33), the laws and the costs (p =
///          1..128), and the bounds of V and A (p = 2..4096).
#pragma once

#include <string_view>

#include "../shape/circulant_rounds.hpp"
#include "../shape/chained_ring.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

// Base of policies that take Steps q^2 steps to find peers and segments.
template <int Steps>
struct work_of_chained_halving {
  static constexpr own_work work(blocks const& vector, std::size_t) {
    double const q = ceil_lg(vector.parts);
    return {0, 0, vector.whole.empty() ? 0 : Steps * q * q};
  }
};

// Of the reduce_scatter if the vector consists of `parts` even parts and each segment of whole ones.
constexpr double cost_of_chained_halving(machine const& m, chained_ring const& ring, int parts, double bytes) {
  return ceil_lg(ring.p) * m.alpha + ring.moved_by_reduce_scatter(parts) * bytes * (m.beta + m.gamma);
}

}  // namespace detail

struct chained_halving {
  static constexpr std::string_view name = "chained_halving";

  template <class T, class Op>
  struct all_reduce : detail::work_of_chained_halving<54> {
    static constexpr bool ordered = true, same_bits = true;

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      chained_ring const ring{step.size()};
      blocks const segment{all, ring.segments};
      reduce_scatter_on(ring, step, segment);
      auto places = on_places(ring, step);
      detail::all_gather_on_circulant(places, segment.grouped(ring.p));
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      chained_ring const ring{p};
      double const bytes = static_cast<double>(n * sizeof(T));
      return n == 0 ? 0 : detail::cost_of_chained_halving(m, ring, ring.segments, bytes) + ceil_lg(p) * m.alpha +
                              ring.moved_by_all_gather() * bytes * m.beta;
    }
    static constexpr formula exact_for(machine const& m, int p, std::size_t n) {
      if (!divides(chained_ring{p}.segments, n)) return formula::rounded;
      return exact_if(is_power_of_two(p) || (m.one_way_as_exchange() && m.f_further == 1), formula::bound);
    }
  };

  template <class T, class Op>
  struct reduce : detail::work_of_chained_halving<33> {
    static constexpr bool ordered = true;

    template <steps Step>
    constexpr void operator()(Step& step, range all, int root) const {
      chained_ring const ring{step.size()};
      blocks const segment{all, ring.segments};
      reduce_scatter_on(ring, step, segment);
      auto places = on_places(ring, step);
      detail::gather_on_ring(places, segment.grouped(ring.p), ring.place_of(root));
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      chained_ring const ring{p};
      double const bytes = static_cast<double>(n * sizeof(T));
      return n == 0 ? 0 : detail::cost_of_chained_halving(m, ring, ring.segments, bytes) + ceil_lg(p) * m.alpha_uni() +
                              ring.moved_by_gather() * bytes * m.beta_uni();
    }
    static constexpr formula exact_for(machine const&, int p, std::size_t n) {
      if (!divides(chained_ring{p}.segments, n)) return formula::rounded;
      return exact_if(is_power_of_two(p), formula::bound);
    }
  };

  // A segment has one or two blocks. At the end every rank gets its block from the rank that has its segment.
  template <class T, class Op>
  struct reduce_scatter : detail::work_of_chained_halving<16> {
    static constexpr bool ordered = true;

    template <steps Step>
    constexpr void operator()(Step& step, blocks const& block) const {
      chained_ring const ring{step.size()};
      reduce_scatter_on(ring, step, block);
      int const me = step.rank(), from = ring.holder(ring.segment_with(me));
      auto const [holds, segment] = ring.standing_of(me);
      int const first = holds ? ring.first_block(segment) : me, last = holds ? ring.first_block(segment + 1) - 1 : me;
      auto const other = [me](int rank) { return rank == me ? nobody : rank; };
      step(send{other(first), block[first]}, send{last == first ? nobody : other(last), block[last]},
           recv{other(from), block[me]});
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      double const bytes = static_cast<double>(n * sizeof(T)), block = bytes / p;
      int const messages = p <= 3 ? 0 : chained_ring{p}.segments == p ? 1 : 2;   // to the owner at the end
      return n == 0 ? 0 : detail::cost_of_chained_halving(m, {p}, p, bytes) + messages * m.exchange(block);
    }
    static constexpr formula exact_for(machine const&, int p, std::size_t n) {
      if (!divides(p, n)) return formula::rounded;
      return exact_if(is_power_of_two(p), formula::bound);
    }
  };
};

}  // namespace colligo
