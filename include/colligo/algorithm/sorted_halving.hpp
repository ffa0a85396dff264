// SPDX-License-Identifier: BSL-1.0
/// @file
/// Sorted halving: reduce_scatter on any number of ranks, order kept, in ceil(lg p) rounds or one more. Each rank first
/// copies its blocks into the order in which chained halving leaves them on ranks.
/// Picture  p = 4, blocks 0123   copied: 0213   round 1: 0-1 2-3 swap halves   round 2: 0-2 1-3 swap quarters
///          0: 0   2: 2   1: 1   3: 3
/// Cost     with q = ceil(lg p) and V of chained_halving in whole blocks: for p = 2^k and 3 2^k, where every rank is
///          left with its own block, q alpha + V n (beta + gamma), else with one message more, to those that are left
///          with none: at most alpha_uni + n/p beta_uni
/// Own work p + 1 copies, of n elements and a block, and 30 p steps to find their owners, 60 p if blocks differ
/// Needs    any p, any counts, any associative functor, and room for another vector
/// Order    kept
/// Prefer   functors that do not commute, vectors so short that a start-up takes longer than copying them. Avoid: long
///          vectors
/// Source   chained_halving's; for p = 2^k: copying into the order of bits reversed, folklore
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "../shape/chained_ring.hpp"

namespace colligo::inline COLLIGO_MODE {

struct sorted_halving {
  static constexpr std::string_view name = "sorted_halving";

  template <class T, class Op>
  struct reduce_scatter {
    static constexpr bool ordered = true;

    /// Elements beyond the vector: its blocks in the other order.
    constexpr std::size_t scratch(blocks const& vector, std::size_t) const { return vector.whole.size(); }

    static constexpr own_work work(blocks const& vector, std::size_t) {
      double const p = vector.parts, n = static_cast<double>(vector.whole.size());
      return {p + 1, n + static_cast<double>(vector.longest()), (vector.is_even() ? 30 : 60) * p};
    }

    template <steps Step>
    COLLIGO_CONSTEXPR void operator()(Step& step, blocks const& block) const {
      chained_ring const ring{step.size()};
      int const me = step.rank();
      int mine = 0;   // the place of this rank's block in the new order
      bool const alike = block.is_even() && divides(ring.p, block.whole.size());   // then no offsets are needed
      std::vector<std::size_t> begin(alike ? 0 : static_cast<std::size_t>(ring.p) + 1, block.whole.last);
      std::size_t const each = block.whole.size() / static_cast<std::size_t>(ring.p);   // if alike
      if (!alike) {
        ring.for_each_owner([&](int i, int owner) { begin[static_cast<std::size_t>(i) + 1] = block[owner].size(); });
        for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
      }
      ring.for_each_owner([&](int i, int owner) {
        auto const at = static_cast<std::size_t>(i);
        std::size_t const to = alike ? block.whole.last + at * each : begin[at];
        if (owner == me) mine = i;
        step(copy{block[owner], range{to, to + block[owner].size()}});
      });
      blocks const sorted{{block.whole.last, block.whole.last + block.whole.size()}, ring.p,
                          alike ? nullptr : begin.data()};

      reduce_scatter_on(ring, step, sorted);

      int const segment = ring.segment_with(mine);
      int const first = ring.first_block(segment), last = ring.first_block(segment + 1) - 1;
      if (mine != first) return step(recv{ring.owner(first), block[me]});
      step(copy{sorted[mine], block[me]});
      if (last != first) step(send{ring.owner(last), sorted[last]});
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      chained_ring const ring{p};
      double const bytes = static_cast<double>(n * sizeof(T));
      if (n == 0) return 0;
      return ceil_lg(p) * m.alpha + ring.moved_by_reduce_scatter(p) * bytes * (m.beta + m.gamma) +
             (ring.segments == p ? 0 : m.alpha_uni() + bytes / p * m.beta_uni());
    }
    static constexpr formula exact_for(machine const&, int p, std::size_t n) {
      if (!divides(p, n)) return formula::rounded;
      return exact_if(is_power_of_two(p), formula::bound);
    }
  };
};

}  // namespace colligo
