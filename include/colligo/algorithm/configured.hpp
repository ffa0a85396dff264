// SPDX-License-Identifier: BSL-1.0
/// @file
/// Configured: reduce, broadcast and all_reduce along any tree over the ranks, made by hand, from the hosts
/// (shape/trees.hpp) or from a file, so that communication is mapped to the cluster without touching the program. The
/// trees up and down may differ.
/// Picture  trees::by_host of two hosts of four ranks, all flat   reduce: 1->0 5->4   2->0 6->4   3->0 7->4   4->0
///          broadcast: back
/// Cost     that of the tree: p - 1 messages each way, and one more where a reduce's root is not the tree's. By default
///          that of binary_tree
/// Needs    a tree over exactly the communicator's ranks; any root. A broadcast from another
///          root turns the path to it round
/// Order    kept if tree.in_order(), otherwise the functor must commute; with `arrival` children are combined as they
///          come, over messages, so it must commute and two runs may differ in the bits. Same bits on all ranks
/// Prefer   several hosts, short vectors.   Avoid: long vectors; inner ranks move all of it once per child
/// Source   Bjorndalen, Anshus, Vinter, Larsen: The Performance of Configurable Collective Communication for LAM-MPI in
///          Clusters and Multi-Clusters
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "../core/knob.hpp"
#include "../core/text.hpp"
#include "../core/transport.hpp"
#include "../shape/ranked_tree.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// The way up a tree and the way down one, or the binomial tree if there is none.
struct tree_walk {
  tree const* reduce_tree = nullptr;
  tree const* broadcast_tree = nullptr;
  std::size_t arrival = 0;

  /// Over shared memory nobody tells of arrivals.
  constexpr transport way() const { return arrival == 0 ? transport::best : transport::messages; }
  constexpr bool reduces_in_order() const {
    return arrival == 0 && (reduce_tree == nullptr || reduce_tree->in_order());
  }

  /// Of the trees that are named, so that ranks can compare theirs; 0: none is.
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

  // Combines all ranks' vectors at one rank, which it returns: the tree's root, or `wish` if there is no tree.
  template <steps Step>
  constexpr int climb(Step& step, range all, int wish) const {
    if (reduce_tree == nullptr) climb(step, binomial_tree{step.size(), wish}, all);
    else climb(step, *reduce_tree, all);
    return reduce_tree == nullptr ? wish : reduce_tree->root();
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

}  // namespace detail

/// Trees that somebody else keeps. nullptr: as the communicator knows, which is COLLIGO_TREE's, otherwise
/// trees::by_host of its hosts; a binomial tree where there is but one.
/// `arrival`, not 0: children are combined in order of arrival, where the model can tell.
struct along_trees : detail::tree_walk {
  static constexpr std::string_view name = "configured";
  static constexpr std::array knobs{knob<along_trees>{"arrival", &along_trees::arrival}};

  /// With the communicator's trees where none are named.
  constexpr along_trees completed(known_ranks const& known) const {
    along_trees whole = *this;
    if (whole.reduce_tree == nullptr) whole.reduce_tree = known.reduce_tree;
    if (whole.broadcast_tree == nullptr) whole.broadcast_tree = known.broadcast_tree;
    return whole;
  }

  template <class T, class Op>
  struct reduce {
    detail::tree_walk trees{};
    static constexpr bool ordered = true;

    constexpr bool in_order(int) const { return trees.reduces_in_order(); }
    constexpr int made_for(int p) const { return trees.up_size(p); }

    template <steps Step>
    constexpr void operator()(Step& step, range all, int root) const {
      int const top = trees.climb(step, all, root);
      step(send{step.rank() == top && top != root ? root : nobody, all});
      step(recv{step.rank() == root && top != root ? top : nobody, all});
    }
  };

  template <class T, class Op>
  struct all_reduce {
    detail::tree_walk trees{};
    static constexpr bool ordered = true;
    static constexpr bool same_bits = true;

    constexpr bool in_order(int) const { return trees.reduces_in_order(); }
    constexpr int made_for(int p) const {
      int const up = trees.up_size(p);
      return up != p ? up : trees.down_size(p);
    }

    template <steps Step>
    constexpr void operator()(Step& step, range all) const { trees.descend(step, all, trees.climb(step, all, 0)); }
  };

  template <class T>
  struct broadcast {
    detail::tree_walk trees{};

    constexpr int made_for(int p) const { return trees.down_size(p); }

    template <steps Step>
    constexpr void operator()(Step& step, range all, int root) const { trees.descend(step, all, root); }
  };
};

/// configured{tree}, configured{reduce_tree, broadcast_tree}. An empty tree means as in along_trees, which is what the
/// name "configured" stands for.
struct configured {
  static constexpr std::string_view name = along_trees::name;

  tree reduce_tree{};
  tree broadcast_tree = reduce_tree;
  bool arrival = false;   ///< children are combined in order of arrival: gives up the same bits from run to run

  constexpr operator along_trees() const {
    auto const unless_empty = [](tree const& t) { return t.size() == 0 ? nullptr : &t; };
    return {{unless_empty(reduce_tree), unless_empty(broadcast_tree), arrival}};
  }
  constexpr transport way() const { return along_trees(*this).way(); }
  constexpr along_trees completed(known_ranks const& known) const { return along_trees(*this).completed(known); }
  constexpr std::size_t fingerprint() const { return along_trees(*this).fingerprint(); }

  template <class T, class Op> using reduce = along_trees::reduce<T, Op>;
  template <class T, class Op> using all_reduce = along_trees::all_reduce<T, Op>;
  template <class T> using broadcast = along_trees::broadcast<T>;
};

}  // namespace colligo
