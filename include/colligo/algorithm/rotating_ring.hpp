// SPDX-License-Identifier: BSL-1.0
/// @file
/// Rotating ring: whole partial results travel round the ring, and every rank adds its own vector.
/// Picture  p = 3   round 1: 0->1->2->0, rank r then holds r-1, r   round 2: the same again, rank r holds r-2, r-1, r
/// Cost     all_reduce  (p-1) (alpha + n beta + n gamma)          reduce  (p-1) (alpha_uni + n beta_uni + n gamma)
///          equal to the recorded schedule for every p, n; the source counts messages only, (p-1) (alpha + n beta)
/// Needs    any p (the source: p = 2^k), any root; a commutative functor; for in-place calls a copy of the input
/// Order    not kept (every rank meets the others in its own order), so the bits differ between ranks
/// Prefer   teaching, and as the baseline of the coursework.   Avoid: everything else; ring moves 2/p of the bytes
/// Source   All-reduce ring and tree coursework (PHYS52015), algorithm 1; its reduce keeps only the partial result that
///          ends at the root
#pragma once

#include <string_view>

#include "../core/renumbered.hpp"

namespace colligo::inline COLLIGO_MODE {

struct rotating_ring {
  static constexpr std::string_view name = "rotating_ring";

  template <class T, class Op>
  struct all_reduce {
    static constexpr bool ordered = false, same_bits = false, keeps_input = true;

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      int const p = step.size(), me = step.rank();
      for (int i = 1; i < p; ++i) step(send{(me + 1) % p, all}, fold{(me - 1 + p) % p, all, own::input});
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      double const bytes = static_cast<double>(n * sizeof(T));
      return n == 0 ? 0 : (p - 1) * (m.exchange(bytes) + m.combine(bytes));
    }
  };

  template <class T, class Op>
  struct reduce {
    static constexpr bool ordered = false;

    template <steps Step>
    constexpr void operator()(Step& step, range all, int root) const {
      int const p = step.size(), me = step.rank(), first = (root + 1) % p;
      step(fold{me == first ? nobody : (me - 1 + p) % p, all});
      step(send{me == root ? nobody : (me + 1) % p, all});
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      double const bytes = static_cast<double>(n * sizeof(T));
      return n == 0 ? 0 : (p - 1) * (m.one_way(bytes) + m.combine(bytes));
    }
  };
};

}  // namespace colligo
