// SPDX-License-Identifier: BSL-1.0
/// @file
/// Walks up one tree and down another, for configured.hpp, which has the card.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../core/step.hpp"
#include "../core/transport.hpp"
#include "ranked_tree.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The trees up and down, or the binomial tree if there is none.
struct tree_walk {
  tree const* reduce_tree = nullptr;
  tree const* broadcast_tree = nullptr;
  std::size_t arrival = 0;

  /// Shared memory does not see arrivals.
  constexpr transport transport_needed() const { return arrival == 0 ? transport::best : transport::messages; }
  constexpr bool reduces_in_order() const {
    return arrival == 0 && (reduce_tree == nullptr || reduce_tree->in_order());
  }

  /// A hash of the named trees, so that ranks can compare them; 0: none.
  constexpr std::size_t fingerprint() const {
    std::uint64_t hash = 0;
    auto const add = [&hash](std::uint64_t x) { hash = (hash ^ (x + 1)) * 0x100000001b3u ^ hash >> 29; };
    for (tree const* t : {reduce_tree, broadcast_tree}) {
      if (t == nullptr) continue;
      add(t == broadcast_tree && t != reduce_tree);
      for (int r = 0; r < t->size(); ++r) {
        add(static_cast<std::uint64_t>(t->child_count(r)));
        for (int const child : t->children(r)) add(static_cast<std::uint64_t>(child));
      }
    }
    return static_cast<std::size_t>(hash);
  }

  constexpr int up_size(int p) const { return reduce_tree == nullptr ? p : reduce_tree->size(); }
  constexpr int down_size(int p) const { return broadcast_tree == nullptr ? p : broadcast_tree->size(); }

  // Combines all ranks' vectors at one rank, which it returns: the tree's root, or `wanted` if there is no tree.
  template <steps Step>
  constexpr int climb(Step& step, range all, int wanted) const {
    if (reduce_tree == nullptr) climb(step, binomial_tree{step.size(), wanted}, all);
    else climb(step, *reduce_tree, all);
    return reduce_tree == nullptr ? wanted : reduce_tree->root();
  }
  template <steps Step, class Tree>
  constexpr void climb(Step& step, Tree const& t, range all) const {
    [[maybe_unused]] int const me = step.rank();
    if constexpr (in_order_of_arrival<Step>)
      if (arrival != 0) {
        step(as_they_come(
            listed{child_count(t, me), [&t, me, all](int i) { return operand(fold{t.child(me, i), all}); }}));
        return step(send{t.parent(me), all});
      }
    reduce_along(step, t, all);
  }

  template <steps Step>
  constexpr void descend(Step& step, range all, int root) const {
    if (broadcast_tree == nullptr) broadcast_along(step, binomial_tree{step.size(), root}, all);
    else if (broadcast_tree->root() == root) broadcast_along(step, *broadcast_tree, all);
    else broadcast_along(step, rerooted{*broadcast_tree, root}, all);
  }
};

}  // namespace colligo
