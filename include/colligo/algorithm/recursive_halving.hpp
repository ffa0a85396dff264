// SPDX-License-Identifier: BSL-1.0
/// @file
/// Recursive halving: reduce_scatter by vector halving and distance halving, so that each block ends at its rank.
/// Picture  p = 4, blocks ABCD   round 1: 0-2 1-3 (0 and 1 keep AB)   round 2: 0-1 2-3 (0 keeps A, 1 B, 2 C, 3 D)
/// Cost     p = 2^k: lg p alpha + (n - n/p) (beta + gamma), equal to the recorded schedule where p divides n; else
///          spare ranks first share with their neighbour (halving_doubling), and get their block from it at the end
/// Needs    any p, any counts; a commutative functor
/// Order    not kept
/// Prefer   reduce_scatter on p = 2^k ranks.   Avoid: other p (see circulant)
/// Source   Thakur and Gropp, Improving the performance of collective operations in MPICH, 2003
#pragma once

#include <string_view>

#include "../shape/spare_ranks.hpp"

namespace colligo::inline COLLIGO_MODE {

struct recursive_halving {
  static constexpr std::string_view name = "recursive_halving";

  template <class T, class Op>
  struct reduce_scatter : detail::exact_for_powers_of_two {
    static constexpr bool ordered = false;

    template <steps Step>
    constexpr void operator()(Step& step, blocks const& block) const {
      spare_ranks const ranks{step.size()};
      ranks.share_with_neighbour(step, block.whole);
      if (!ranks.removed(step.rank())) {
        auto inner = ranks.survivors(step);
        int const v = inner.rank();
        for (int d = ranks.q / 2; d >= 1; d /= 2) {
          int const kept = v / d * d, given = kept ^ d;
          inner(send{v ^ d, ranks.span(block, given, given + d)}, fold{v ^ d, ranks.span(block, kept, kept + d)});
        }
      }
      ranks.give_neighbour_its_block(step, block);
    }

    /// For p = 2^k.
    static constexpr double cost(machine const& m, int p, std::size_t n) {
      double const bytes = static_cast<double>(n * sizeof(T));
      return n == 0 ? 0 : floor_lg(p) * m.alpha + (bytes - bytes / p) * (m.beta + m.gamma);
    }
  };
};

}  // namespace colligo
