// SPDX-License-Identifier: BSL-1.0
/// @file
/// Ring: reduce_scatter by pairwise exchange with growing strides, then an all_gather around the ring (reduce: straight
/// to the root). Each half is also an algorithm of its own. Only the second half is a ring of nearest neighbours: in
/// the first one each rank exchanges with every other. rotating_ring goes round the ring all the time.
/// Picture  p = 3, blocks ABC   stride 1: 0->1->2->0, each folds its own block   stride 2: 0->2->1->0
///          ring: 0 sends A to 1, 1 sends B to 2, 2 sends C to 0; then each passes on what it received
/// Cost     all_reduce  2 (p-1) alpha + 2 n beta + n gamma - (2 n beta + n gamma) / p
///          reduce      (p-1) (alpha + alpha_uni) + n (beta + beta_uni) + n gamma - (n (beta + beta_uni) + n gamma) / p
///          reduce_scatter  (p-1) alpha + (n - n/p) (beta + gamma)          all_gather  (p-1) alpha + (n - n/p) beta
///          Equal to the recorded schedule where p divides n; else n/p is rounded to elements.
/// Needs    any p, any root; a commutative functor
/// Order    not kept (rank r folds r-1, r-2 ...); same bits on all ranks (each block is reduced by one rank)
/// Prefer   long vectors on few ranks, p not a power of two.   Avoid: many ranks, the start-ups grow with p
/// Source   Rabenseifner and Adamidis, Collective Reduction Operation on Cray X1, section 3.7
#pragma once

#include <string_view>

#include "../core/renumbered.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

// Afterwards rank r has the result of block r.
template <steps Step>
constexpr void reduce_scatter_by_pairwise_exchange(Step& step, blocks const& block) {
  int const p = step.size(), me = step.rank();
  for (int stride = 1; stride < p; ++stride) {
    int const to = (me + stride) % p, from = (me - stride + p) % p;
    step(send{to, block[to]}, fold{from, block[me]});
  }
}

// Rank r has block r at first, and in every round passes on the block that it received in the last one.
template <steps Step>
constexpr void all_gather_around_ring(Step& step, blocks const& block) {
  int const p = step.size(), me = step.rank();
  for (int i = 0; i < p - 1; ++i)
    step(send{(me + 1) % p, block[(me - i + p) % p]}, recv{(me - 1 + p) % p, block[(me - 1 - i + p) % p]});
}

}  // namespace detail

struct ring {
  static constexpr std::string_view name = "ring";

  template <class T, class Op>
  struct all_reduce : detail::exact_for_even_blocks {
    static constexpr bool ordered = false, same_bits = true;

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      blocks const block{all, step.size()};
      detail::reduce_scatter_by_pairwise_exchange(step, block);
      detail::all_gather_around_ring(step, block);
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      if (n == 0) return 0;
      double const bytes = static_cast<double>(n * sizeof(T)), moved = bytes - bytes / p;
      return 2 * (p - 1) * m.alpha + moved * (2 * m.beta + m.gamma);
    }
  };

  template <class T, class Op>
  struct reduce : detail::exact_for_even_blocks {
    static constexpr bool ordered = false;

    template <steps Step>
    constexpr void operator()(Step& step, range all, int root) const {
      int const p = step.size(), me = step.rank();
      blocks const block{all, p};
      detail::reduce_scatter_by_pairwise_exchange(step, block);
      if (me != root) return step(send{root, block[me]});
      step(listed{p, [=](int r) { return recv{r == root ? nobody : r, block[r]}; }});
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      if (n == 0) return 0;
      double const bytes = static_cast<double>(n * sizeof(T)), moved = bytes - bytes / p;
      return (p - 1) * m.alpha + m.f_alpha * m.startups(p - 1) + moved * (m.beta + m.beta_uni() + m.gamma);
    }
  };

  template <class T, class Op>
  struct reduce_scatter : detail::exact_for_even_blocks {
    static constexpr bool writes_output_alone = true, ordered = false;

    template <steps Step>
    constexpr void operator()(Step& step, blocks const& block) const {
      detail::reduce_scatter_by_pairwise_exchange(step, block);
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      double const bytes = static_cast<double>(n * sizeof(T)), moved = bytes - bytes / p;
      return n == 0 ? 0 : (p - 1) * m.alpha + moved * (m.beta + m.gamma);
    }
  };

  template <class T>
  struct all_gatherv : detail::exact_for_even_blocks {
    static constexpr bool ordered = true;

    template <steps Step>
    constexpr void operator()(Step& step, blocks const& block) const { detail::all_gather_around_ring(step, block); }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      double const bytes = static_cast<double>(n * sizeof(T));
      return n == 0 ? 0 : (p - 1) * m.alpha + (bytes - bytes / p) * m.beta;
    }
  };
};

}  // namespace colligo
