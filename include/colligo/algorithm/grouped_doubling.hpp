// SPDX-License-Identifier: BSL-1.0
/// @file
/// Grouped doubling: p = m t, m odd, t a power of two. In groups of m neighbours everybody sends to everybody, then
/// every rank swaps what it has with the one at its place in the group d away, d = 1, 2, 4 ...
/// Picture  p = 6   0, 1, 2 and 3, 4, 5 all with all   then 0-3 1-4 2-5
/// Cost     (m - 1 + lg t) (alpha + n beta + n gamma), equal to the recorded schedule
/// Needs    any p; for p = 2^k it is recursive doubling
/// Order    kept, any associative functor; same bits on all ranks
/// Prefer   short vectors where p is three times a power of two: one round less than with spare ranks.
///          Avoid: a large odd part of p, m - 1 rounds and room for as many vectors
/// Source   found by simulation for this library; related to Rabenseifner and Traff, More Efficient Reduction
///          Algorithms for Non-Power-of-Two Number of Processors, 2004, which takes threes in another way
#pragma once

#include <bit>
#include <string_view>

#include "../core/renumbered.hpp"

namespace colligo::inline COLLIGO_MODE {

struct grouped_doubling {
  static constexpr std::string_view name = "grouped_doubling";

  template <class T, class Op>
  struct all_reduce {
    static constexpr bool ordered = true;
    static constexpr bool same_bits = true;

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      int const p = step.size(), m = odd_part(p), me = step.rank(), place = me % m, group = me / m;
      step(listed{2 * (m - 1), [=](int i) {
                    int const other = i - (m - 1);
                    return i < m - 1 ? operand(send{group * m + (place + 1 + i) % m, all})
                                     : operand(fold{group * m + (other < place ? other : other + 1), all});
                  }});
      for (int d = 1; d < p / m; d *= 2) {
        int const peer = (group ^ d) * m + place;
        step(send{peer, all}, fold{peer, all});
      }
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      double const bytes = static_cast<double>(n * sizeof(T));
      int const rounds = odd_part(p) - 1 + ceil_lg(p / odd_part(p));
      return n == 0 ? 0 : rounds * (m.exchange(bytes) + m.combine(bytes));
    }

   private:
    static constexpr int odd_part(int p) { return p >> std::countr_zero(static_cast<unsigned>(p)); }
  };
};

}  // namespace colligo
