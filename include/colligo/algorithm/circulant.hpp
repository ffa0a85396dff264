// SPDX-License-Identifier: BSL-1.0
/// @file
/// Circulant: on any number of ranks, reduce_scatter and all_gather in ceil(lg p) rounds with no element sent twice.
/// Distances are p halved, rounded up, again and again; rank r works on the blocks r, r + 1 ...
/// (round the end of the vector).
/// Picture  p = 5, distances 3 2 1   round 1: r sends blocks r+3 r+4 to r+3   round 2: r+2 to r+2   round 3: r+1 to r+1
///          every time it folds what it receives into its first blocks; block r is done. Backwards it is an all_gather.
/// Cost     with q = ceil(lg p): reduce_scatter  q alpha + (n - n/p) (beta + gamma)
///          all_gather  q alpha + (n - n/p) beta
///          all_reduce  2 q alpha + (n - n/p) (2 beta + gamma)
///          reduce  q (alpha + alpha_uni) + (n - n/p) (beta + beta_uni + gamma): a gather over a binomial tree follows
///          equal to the recorded schedule where p divides n
/// Needs    any p, any root; for reductions a commutative functor
/// Order    not kept; same bits on all ranks (each block is reduced by one rank)
/// Prefer   long vectors on any number of ranks; all_gather of short ones.
///          Avoid: reductions of very short vectors (see census)
/// Source   J. L. Traff, Optimal, non-pipelined reduce-scatter and allreduce algorithms, 2024
#pragma once

#include <algorithm>
#include <string_view>

#include "../shape/circulant.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <steps Step>
constexpr void reduce_scatter_on_circulant(Step& step, blocks const& block) {
  int const p = step.size(), me = step.rank();
  for (int k = 0; k < ceil_lg(p); ++k) {
    int const d = circulant_skip(p, k + 1), count = circulant_skip(p, k) - d, to = (me + d) % p;
    step(send{to, block.cycle(to, count)}, fold{(me - d + p) % p, block.cycle(me, count)});
  }
}

template <steps Step>
constexpr void all_gather_on_circulant(Step& step, blocks const& block) {
  int const p = step.size(), me = step.rank();
  for (int k = ceil_lg(p) - 1; k >= 0; --k) {
    int const d = circulant_skip(p, k + 1), count = circulant_skip(p, k) - d, from = (me + d) % p;
    step(send{(me - d + p) % p, block.cycle(me, count)}, recv{from, block.cycle(from, count)});
  }
}

// To one rank, over a binomial tree on the ring that begins there: what a rank has collected is one cyclic range.
template <steps Step>
constexpr void gather_on_ring(Step& step, blocks const& block, int root) {
  int const p = step.size(), me = step.rank(), place = (me - root + p) % p;
  for (int d = 1; d < p; d *= 2) {
    if (place & d) return step(send{(me - d + p) % p, block.cycle(me, std::min(d, p - place))});
    int const from = place + d < p ? (me + d) % p : nobody;
    if (from != nobody) step(recv{from, block.cycle(from, std::min(d, p - place - d))});
  }
}

}  // namespace detail

struct circulant {
  static constexpr std::string_view name = "circulant";

  template <class T, class Op>
  struct reduce_scatter {
    static constexpr bool ordered = false;

    template <steps Step>
    constexpr void operator()(Step& step, blocks const& block) const {
      detail::reduce_scatter_on_circulant(step, block);
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      double const bytes = static_cast<double>(n * sizeof(T)), moved = bytes - bytes / p;
      return n == 0 ? 0 : ceil_lg(p) * m.alpha + moved * (m.beta + m.gamma);
    }
  };

  template <class T, class Op>
  struct reduce {
    static constexpr bool ordered = false;

    template <steps Step>
    constexpr void operator()(Step& step, range all, int root) const {
      blocks const block{all, step.size()};
      detail::reduce_scatter_on_circulant(step, block);
      detail::gather_on_ring(step, block, root);
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      double const bytes = static_cast<double>(n * sizeof(T)), moved = bytes - bytes / p;
      return reduce_scatter<T, Op>::cost(m, p, n) + (n == 0 ? 0 : ceil_lg(p) * m.alpha_uni() + moved * m.beta_uni());
    }
  };

  template <class T>
  struct all_gatherv {
    template <steps Step>
    constexpr void operator()(Step& step, blocks const& block) const { detail::all_gather_on_circulant(step, block); }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      double const bytes = static_cast<double>(n * sizeof(T));
      return n == 0 ? 0 : ceil_lg(p) * m.alpha + (bytes - bytes / p) * m.beta;
    }
  };

  template <class T, class Op>
  struct all_reduce {
    static constexpr bool ordered = false;
    static constexpr bool same_bits = true;

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      blocks const block{all, step.size()};
      detail::reduce_scatter_on_circulant(step, block);
      detail::all_gather_on_circulant(step, block);
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      return reduce_scatter<T, Op>::cost(m, p, n) + all_gatherv<T>::cost(m, p, n);
    }
  };
};

}  // namespace colligo
