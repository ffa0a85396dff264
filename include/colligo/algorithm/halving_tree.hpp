// SPDX-License-Identifier: BSL-1.0
/// @file
/// Halving tree: the upper half of the ranks sends its vectors to the lower half until one rank is left, then the
/// result goes all the way back.
/// Picture  p = 6   round 1: 3->0 4->1 5->2   round 2: 2->0   round 3: 1->0     back: 0->1   0->2   0->3 1->4 2->5
/// Cost     reduce      ceil(lg p) (alpha_uni + n beta_uni + n gamma)
///          all_reduce  ceil(lg p) (2 alpha_uni + 2 n beta_uni + n gamma)
///          equal to the recorded schedule for every p, n; the source counts messages only, 2 lg p (alpha + n beta)
/// Needs    any p (the source: p = 2^k), any root; a commutative functor
/// Order    not kept (rank r meets r + p/2 first); same bits on all ranks
/// Prefer   machines where neighbours in rank share a link and ranks p/2 apart do not. Otherwise binary_tree
/// Source   All-reduce ring and tree coursework (PHYS52015), algorithm 2
#pragma once

#include <string_view>

#include "binary_tree.hpp"

namespace colligo::inline COLLIGO_MODE {

struct halving_tree {
  static constexpr std::string_view name = "halving_tree";

  template <class T, class Op>
  struct reduce {
    static constexpr bool ordered = false;

    template <steps Step>
    constexpr void operator()(Step& step, range all, int root) const {
      auto rooted = rooted_at(step, root);
      reduce_along(rooted, halving_shape{step.size()}, all);
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      return binary_tree::reduce<T, Op>::cost(m, p, n);
    }
  };

  template <class T, class Op>
  struct all_reduce {
    static constexpr bool ordered = false, same_bits = true;

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      halving_shape const tree{step.size()};
      reduce_along(step, tree, all);
      broadcast_along(step, tree, all);
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      return binary_tree::all_reduce<T, Op>::cost(m, p, n);
    }
  };
};

}  // namespace colligo
