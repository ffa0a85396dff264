// SPDX-License-Identifier: BSL-1.0
/// @file
/// Exclusive scan by doubling, in as few rounds as there can be: while a rank sends what it knows and its own value,
/// distances are 1, 2, 4 ... and it knows 1, 3, 7 ... ranks; once it sends what it knows alone, which takes one
/// combination instead of two, it knows twice as many each time. Rounds of the first kind are as few as the number of
/// rounds allows: two for 2^k + 1 < p <= 3 2^(k-1) + 1, which is 123-doubling, all for p = 2^k.
/// Picture  p = 7   distance 1: r-1 sends its own   2: r-2 sends what it knows and its own, so r knows 3 ranks
///          3: r knows 6
/// Cost     q = ceil(lg p) rounds of alpha + n beta, q + j - 2 combinations; j rounds of the first kind,
///          j = ceil(q - lg(2^q - p + 1)), but at least 1
/// Needs    any p, any associative functor
/// Order    kept
/// Prefer   short vectors.   Avoid: long ones (see pipelined_chain); recursive_doubling combines at most q times,
///          mostly in a round more
/// Source   J. L. Traff, Two Efficient Message-passing Exclusive Scan Algorithms, 2026, the first; "123-doubling", 2025
#pragma once

#include <string_view>

#include "../core/renumbered.hpp"

namespace colligo::inline COLLIGO_MODE {

struct doubling_123 {
  static constexpr std::string_view name = "doubling_123";

  template <class T, class Op>
  struct exclusive_scan {
    static constexpr bool ordered = true;

    // Rounds in which ranks send their own values along: after j of them and the others a rank knows
    // (2^j - 1) 2^(q-j) ranks.
    static constexpr int with_own(int p) {
      long long const all = 1ll << ceil_lg(p);
      int j = 1;
      while (all - (all >> j) < p - 1) ++j;
      return j;
    }

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      int const p = step.size(), me = step.rank(), with = with_own(p);
      auto const up = [&](int d) { return me < p - d ? me + d : nobody; };
      auto const down = [&](int d) { return me - d >= 0 ? me - d : nobody; };
      step(send{up(1), all, own::input}, recv{down(1), all});
      for (int i = 1; i < with; ++i)
        step(send{up(1 << i), all, me == 0 ? own::input : own::both}, fold{down(1 << i), all});
      for (int d = (1 << with) - 1; d < p - 1; d *= 2)   // rank 0 has nothing that others need
        step(send{me == 0 ? nobody : up(d), all}, fold{me == d ? nobody : down(d), all});
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      double const bytes = static_cast<double>(n * sizeof(T));
      if (n == 0 || p == 1) return 0;
      if (p == 2) return m.one_way(bytes);
      int const rounds = ceil_lg(p);
      return rounds * m.exchange(bytes) + (rounds + with_own(p) - 2) * m.combine(bytes);
    }
    static constexpr formula exact_for(machine const& m, int p, std::size_t) {
      return exact_if(p == 2 || m.one_way_as_exchange(), formula::bound);
    }
  };
};

}  // namespace colligo
