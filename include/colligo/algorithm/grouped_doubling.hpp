// SPDX-License-Identifier: BSL-1.0
/// @file
/// Grouped doubling: where p is three times a power of two, everybody in groups of three neighbours sends to both
/// others; then every rank swaps what it has with the one at its place in the group d away, d = 1, 2, 4 ... Elsewhere
/// it is recursive doubling.
/// Picture  p = 6   0, 1, 2 and 3, 4, 5 all with all   then 0-3 1-4 2-5
/// Cost     (2 + lg p/3) (alpha + n beta + n gamma) for p = 3 2^k, one alpha being alpha_further, equal to the recorded
///          schedule; otherwise as recursive doubling
/// Needs    any p
/// Order    kept, any associative functor; same bits on all ranks
/// Prefer   short vectors where p is three times a power of two: one round less than with spare ranks.
///          Avoid: long vectors
/// Source   found by simulation for this library; related to Rabenseifner and Traff, More Efficient Reduction
///          Algorithms for Non-Power-of-Two Number of Processors, 2004, which takes threes in another way
#pragma once

#include <algorithm>
#include <bit>
#include <string_view>

#include "recursive_doubling.hpp"

namespace colligo::inline COLLIGO_MODE {

struct grouped_doubling {
  static constexpr std::string_view name = "grouped_doubling";

  template <class T, class Op>
  struct all_reduce {
    static constexpr bool ordered = true;
    static constexpr bool same_bits = true;

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      if (!in_threes(step.size())) return otherwise{}(step, all);
      int const me = step.rank(), group = me / 3, place = me % 3, first = me - place;
      int const next = first + (place + 1) % 3, after = first + (place + 2) % 3;
      step(send{next, all}, send{after, all}, fold{std::min(next, after), all}, fold{std::max(next, after), all});
      for (int d = 1; d < step.size() / 3; d *= 2) {
        int const peer = (group ^ d) * 3 + place;
        step(send{peer, all}, fold{peer, all});
      }
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      if (!in_threes(p)) return otherwise{}.cost(m, p, n);
      double const bytes = static_cast<double>(n * sizeof(T));
      int const rounds = ceil_lg(p / 3);
      return n == 0 ? 0 : m.startups(2) + rounds * m.alpha + (2 + rounds) * bytes * (m.beta + m.gamma);
    }

   private:
    using otherwise = folded<recursive_doubling::all_reduce<T, Op>, T>;

    static constexpr bool in_threes(int p) { return p % 3 == 0 && std::has_single_bit(static_cast<unsigned>(p / 3)); }
  };
};

}  // namespace colligo
