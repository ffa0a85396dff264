// SPDX-License-Identifier: BSL-1.0
/// @file
/// Recursive doubling: every rank swaps its data with the rank d away, d = 1, 2, 4 ...; all_reduce combines the data,
/// all_gather collects it. In scans a rank sends its data to the rank d above.
/// Picture  p = 4   round 1: 0-1 2-3   round 2: 0-2 1-3
/// Cost     lg p (alpha + n beta + n gamma); for p not a power of two, with p' = 2^floor(lg p),
///          lg p' (alpha + n beta + n gamma) + 2 (alpha_uni + n beta_uni) + n gamma, equal to the
///          recorded schedule for every p, n.
///          all_gather  p = 2^k: lg p alpha + (n - n/p) beta; else spare ranks add two one-way messages
///          scan        ceil(lg p) (alpha + n beta + n gamma), the last round one-way; exclusive_scan one round more,
///          without a fold
///          The source rounds the second to ceil(lg p) (alpha + n beta + n gamma) + alpha_uni + n beta_uni: the same
///          where uni = bi.
/// Needs    any p: for all_reduce folded<> extends it to p other than 2^k
/// Order    kept, any associative functor; same bits on all ranks
/// Prefer   short vectors.   Avoid: long vectors, which every rank sends and combines lg p times
/// Source   Rabenseifner and Adamidis, Collective Reduction Operation on Cray X1, section 3.4
#pragma once

#include <string_view>

#include "../shape/spare_ranks.hpp"

namespace colligo::inline COLLIGO_MODE {

struct recursive_doubling {
  static constexpr std::string_view name = "recursive_doubling";

  template <class T, class Op>
  struct all_reduce {
    static constexpr bool any_size = false, ordered = true, same_bits = true;

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

  // A spare rank sends its block to its neighbour and gets all others at the end.
  template <class T>
  struct all_gatherv : detail::exact_for_powers_of_two {
    template <steps Step>
    constexpr void operator()(Step& step, blocks const& block) const {
      spare_ranks const ranks{step.size()};
      int const p = step.size(), me = step.rank(), neighbour = ranks.neighbour(me);
      if (ranks.removed(me)) {
        step(send{neighbour, block[me]});
        return step(recv{neighbour, block.cycle((me + 1) % p, p - 1)});
      }
      if (neighbour != nobody) step(recv{neighbour, block[neighbour]});
      auto inner = ranks.survivors(step);
      int const v = inner.rank();
      for (int d = 1; d < ranks.q; d *= 2) {
        int const mine = v / d * d, theirs = mine ^ d;
        inner(send{v ^ d, ranks.span(block, mine, mine + d)}, recv{v ^ d, ranks.span(block, theirs, theirs + d)});
      }
      if (neighbour != nobody) step(send{neighbour, block.cycle((neighbour + 1) % p, p - 1)});
    }

    /// For p = 2^k.
    static constexpr double cost(machine const& m, int p, std::size_t n) {
      double const bytes = static_cast<double>(n * sizeof(T));
      return n == 0 ? 0 : floor_lg(p) * m.alpha + (bytes - bytes / p) * m.beta;
    }
  };

  // Rank r has the combination of the d ranks up to itself; that of the d before them comes from rank r - d.
  template <class T, class Op>
  struct scan {
    static constexpr bool ordered = true;

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      int const p = step.size(), me = step.rank();
      for (int d = 1; d < p; d *= 2)
        step(send{me + d < p ? me + d : nobody, all}, fold{me - d >= 0 ? me - d : nobody, all});
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      double const bytes = static_cast<double>(n * sizeof(T));
      if (n == 0 || p == 1) return 0;
      return (ceil_lg(p) - 1) * m.exchange(bytes) + m.one_way(bytes) + ceil_lg(p) * m.combine(bytes);
    }
  };

  // Each rank's value moves up one rank, then a scan of ranks 1 .. p - 1 follows.
  template <class T, class Op>
  struct exclusive_scan {
    static constexpr bool ordered = true;

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      int const p = step.size(), me = step.rank();
      step(send{me + 1 < p ? me + 1 : nobody, all, own::input}, recv{me - 1, all});
      if (me == 0) return;
      renumbered later(step, me - 1, p - 1, [](int v) { return v + 1; });
      scan<T, Op>{}(later, all);
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      double const bytes = static_cast<double>(n * sizeof(T));
      if (n == 0 || p == 1) return 0;
      return (p == 2 ? m.one_way(bytes) : m.exchange(bytes)) + scan<T, Op>::cost(m, p - 1, n);
    }
  };
};

}  // namespace colligo
