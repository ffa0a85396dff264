// SPDX-License-Identifier: BSL-1.0
/// @file
/// 123-doubling: exclusive_scan over distances 1, 2, 3, 6, 12 ...: one round fewer than with a shift first, and no
/// second accumulator.
/// Picture  p = 7   distance 1: r-1 sends its own   2: r-2 sends what it knows and its own, so r knows 3 ranks
///          3: r knows 6
/// Cost     ceil(lg(p-1) + lg(4/3)) rounds of alpha + n beta, one combination in each but the first and one more before
///          the second is sent
/// Needs    any p, any associative functor
/// Order    kept
/// Prefer   short vectors.   Avoid: long ones (see pipelined_chain)
/// Source   J. L. Traff, exclusive prefix sums ("123-doubling"), 2025
#pragma once

#include <string_view>

#include "../core/renumbered.hpp"

namespace colligo::inline COLLIGO_MODE {

struct doubling_123 {
  static constexpr std::string_view name = "doubling_123";

  template <class T, class Op>
  struct exclusive_scan {
    static constexpr bool ordered = true;

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      int const p = step.size(), me = step.rank();
      auto const up = [&](int d) { return me + d < p ? me + d : nobody; };
      auto const down = [&](int d) { return me - d >= 0 ? me - d : nobody; };
      step(send{up(1), all, own::input}, recv{down(1), all});
      step(send{up(2), all, me == 0 ? own::input : own::both}, fold{down(2), all});
      for (int d = 3; d < p - 1; d *= 2)   // rank 0 has nothing that others need
        step(send{me == 0 ? nobody : up(d), all}, fold{me == d ? nobody : down(d), all});
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      double const bytes = static_cast<double>(n * sizeof(T));
      if (n == 0 || p == 1) return 0;
      if (p == 2) return m.one_way(bytes);
      int rounds = 2;
      for (int d = 3; d < p - 1; d *= 2) ++rounds;
      return rounds * (m.exchange(bytes) + m.combine(bytes));   // before the second round and in each later one
    }
    static constexpr formula exact_for(machine const& m, int p, std::size_t) {
      return exact_if(p == 2 || (p > 3 && m.one_way_as_exchange()), formula::bound);
    }
  };
};

}  // namespace colligo
