// SPDX-License-Identifier: BSL-1.0
/// @file
/// Binary tree: whole vectors go up a binomial tree and, for all_reduce, down it again. Also for broadcast, gather and
/// scatter.
/// Picture  p = 5, root 0   round 1: 1->0 3->2   round 2: 2->0   round 3: 4->0     back: 0->4   0->2   0->1 2->3
/// Cost     reduce      ceil(lg p) (alpha_uni + n beta_uni + n gamma)
///          all_reduce  ceil(lg p) (2 alpha_uni + 2 n beta_uni + n gamma)
///          broadcast   ceil(lg p) (alpha_uni + n beta_uni)
///          these equal to the recorded schedule for every p, n
///          gather, scatter  ceil(lg p) alpha_uni + (n - n/p) beta_uni, equal for p = 2^k where p divides n
/// Needs    any p, any root, any associative functor
/// Order    kept for every root (the tree is drawn around the root, ranks are not rotated); same bits on all ranks
/// Prefer   reduce of short vectors (fewest start-ups). Avoid: long vectors; half of the ranks idle after each round
/// Source   Rabenseifner and Adamidis, Collective Reduction Operation on Cray X1, section 3.3
#pragma once

#include <string_view>

#include "../shape/tree.hpp"

namespace colligo::inline COLLIGO_MODE {

struct binary_tree {
  static constexpr std::string_view name = "binary_tree";

  template <class T, class Op>
  struct reduce {
    static constexpr bool ordered = true;

    template <steps Step>
    constexpr void operator()(Step& step, range all, int root) const {
      reduce_along(step, binomial_tree{step.size(), root}, all);
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      double const bytes = static_cast<double>(n * sizeof(T));
      return n == 0 ? 0 : ceil_lg(p) * (m.one_way(bytes) + m.combine(bytes));
    }
  };

  template <class T, class Op>
  struct all_reduce {
    static constexpr bool ordered = true, same_bits = true;

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      binomial_tree const tree{step.size()};
      reduce_along(step, tree, all);
      broadcast_along(step, tree, all);
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      double const bytes = static_cast<double>(n * sizeof(T));
      return n == 0 ? 0 : ceil_lg(p) * (2 * m.one_way(bytes) + m.combine(bytes));
    }
  };

  template <class T>
  struct broadcast {
    template <steps Step>
    constexpr void operator()(Step& step, range all, int root) const {
      broadcast_along(step, binomial_tree{step.size(), root}, all);
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      return n == 0 ? 0 : ceil_lg(p) * m.one_way(static_cast<double>(n * sizeof(T)));
    }
  };

  // The blocks that a rank has collected are neighbours, so they are one message.
  template <class T>
  struct gatherv : detail::exact_for_powers_of_two {
    template <steps Step>
    constexpr void operator()(Step& step, blocks const& block, int root) const {
      binomial_tree const tree{step.size(), root};
      int const me = step.rank(), level = tree.level(me);
      for (int i = 0; i < level; ++i)
        if (int const child = tree.child(me, i); child != nobody)
          step(recv{child, block.span(tree.first_of(child, i), tree.last_of(child, i))});
      step(send{tree.parent(me), block.span(tree.first_of(me, level), tree.last_of(me, level))});
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      double const bytes = static_cast<double>(n * sizeof(T));
      return n == 0 ? 0 : ceil_lg(p) * m.alpha_uni() + (bytes - bytes / p) * m.beta_uni();
    }
  };

  template <class T>
  struct scatterv : detail::exact_for_powers_of_two {
    template <steps Step>
    constexpr void operator()(Step& step, blocks const& block, int root) const {
      binomial_tree const tree{step.size(), root};
      int const me = step.rank(), level = tree.level(me);
      step(recv{tree.parent(me), block.span(tree.first_of(me, level), tree.last_of(me, level))});
      for (int i = level - 1; i >= 0; --i)
        if (int const child = tree.child(me, i); child != nobody)
          step(send{child, block.span(tree.first_of(child, i), tree.last_of(child, i))});
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) { return gatherv<T>::cost(m, p, n); }
  };
};

}  // namespace colligo
