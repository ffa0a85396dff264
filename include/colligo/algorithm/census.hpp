// SPDX-License-Identifier: BSL-1.0
/// @file
/// Census: whole vectors, ceil(lg p) rounds for every p. Rank r has E(m), the combination of the m ranks before it;
/// with the rank's own value that is I(m). The binary digits of p - 1, from the highest on, decide which of the two is
/// sent next; the result is I(p - 1).
/// Picture  p = 6, p - 1 = 101b   1: r-1 sends own, E(1)   0: r-1 sends E(1), E(2)
///          1: r-3 sends I(2), E(5), and with its own I(5)
/// Cost     with q = ceil(lg p): q (alpha + n beta) + (q + ones(p-1) - 1) n gamma, equal to the
///          recorded schedule for every p, n
/// Needs    any p; a commutative functor; for in-place calls a copy of the input
/// Order    not kept (each rank begins with its neighbour), so the bits of floating-point sums differ between ranks
/// Prefer   short vectors if p is no power of two and the combination is exact.   Avoid: long vectors
/// Source   A. Bar-Noy, S. Kipnis, B. Schieber, An optimal algorithm for computing census functions in message-passing
///          systems, 1993
#pragma once

#include <bit>
#include <string_view>

#include "../core/renumbered.hpp"

namespace colligo::inline COLLIGO_MODE {

struct census {
  static constexpr std::string_view name = "census";

  template <class T, class Op>
  struct all_reduce {
    static constexpr bool ordered = false, same_bits = false, keeps_input = true;

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      int const p = step.size(), me = step.rank();
      for (int digit = ceil_lg(p) - 1; digit >= 0; --digit) {
        int const m = (p - 1) >> (digit + 1), odd = (p - 1) >> digit & 1, d = m + odd;
        int const to = (me + d) % p, from = (me - d + p) % p;
        send const sent{to, all, m == 0 ? own::input : odd ? own::both : own::result};
        if (digit == 0) step(sent, fold{from, all, m == 0 ? own::input : own::both});
        else if (m == 0) step(sent, recv{from, all});
        else step(sent, fold{from, all});
      }
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      if (n == 0 || p == 1) return 0;
      double const bytes = static_cast<double>(n * sizeof(T));
      return ceil_lg(p) * m.exchange(bytes) +
             (ceil_lg(p) + std::popcount(static_cast<unsigned>(p - 1)) - 1) * m.combine(bytes);
    }
  };
};

}  // namespace colligo
