// SPDX-License-Identifier: BSL-1.0
/// @file
/// Recursive doubling: every rank swaps its whole partial result with the rank d away, d = 1, 2, 4 ..., and both combine.
/// Picture  p = 4   round 1: 0-1 2-3   round 2: 0-2 1-3
/// Cost     lg p (alpha + n beta + n gamma); for p not a power of two, with p' = 2^floor(lg p),
///          lg p' (alpha + n beta + n gamma) + 2 (alpha_uni + n beta_uni) + n gamma, equal to the recorded schedule for every p, n.
///          The source rounds the second to ceil(lg p) (alpha + n beta + n gamma) + alpha_uni + n beta_uni: the same where uni = bi.
/// Needs    p = 2^k; folded<> supplies the rest
/// Order    kept, any associative functor; same bits on all ranks
/// Prefer   short vectors.   Avoid: long vectors, every rank sends and combines all of it lg p times
/// Source   Rabenseifner and Adamidis, Collective Reduction Operation on Cray X1, section 3.4
#pragma once

#include <string_view>

#include "../core/renumbered.hpp"

namespace colligo {

struct recursive_doubling {
  static constexpr std::string_view name = "recursive_doubling";

  template <class T, class Op>
  struct all_reduce {
    static constexpr bool any_size = false;
    static constexpr bool ordered = true;
    static constexpr bool same_bits = true;

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      for (int d = 1; d < step.size(); d *= 2) {
        int const peer = step.rank() ^ d;
        step(send{peer, all}, fold{peer, all});
      }
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      double const bytes = static_cast<double>(n * sizeof(T));
      return n == 0 ? 0 : floor_lg(p) * (m.exchange(bytes) + m.combine(bytes));
    }
  };
};

}  // namespace colligo
