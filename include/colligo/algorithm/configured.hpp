// SPDX-License-Identifier: BSL-1.0
/// @file
/// Configured: reduce, broadcast and all_reduce along any tree over the ranks: made by hand, from the hosts
/// (rules/named_trees.hpp) or from a file, so that communication fits the cluster without a change of the program. The
/// trees up and down may differ.
/// Picture  trees::by_host of two hosts of four ranks, all flat   reduce: 1->0 5->4   2->0 6->4   3->0 7->4   4->0
///          broadcast: back
/// Cost     that of the tree: p - 1 messages each way, and one more where a reduce's root is not the tree's. By default
///          that of binary_tree
/// Needs    a tree over exactly the communicator's ranks; any root. A broadcast from another root reverses the path to
///          it
/// Order    kept if tree.in_order(), otherwise the functor must commute. With `arrival`, over messages, children are
///          combined in order of arrival, so the functor must commute and two runs may give different bits. Same bits
///          on all ranks
/// Prefer   several hosts, short vectors.   Avoid: long vectors; inner ranks move the whole vector once per child
/// Source   Bjorndalen, Anshus, Vinter, Larsen: The Performance of Configurable Collective Communication for LAM-MPI in
///          Clusters and Multi-Clusters
#pragma once

#include <array>
#include <string_view>

#include "../core/knob.hpp"
#include "../core/erased_policy.hpp"
#include "../core/transport.hpp"
#include "../shape/tree_walk.hpp"

namespace colligo::inline COLLIGO_MODE {

/// References to trees. nullptr: the communicator's, that is COLLIGO_TREE's, otherwise trees::by_host of its hosts; a
/// binomial tree on one host. `arrival`, not 0: combines children in order of arrival if the transport sees arrivals.
struct along_trees : detail::tree_walk {
  static constexpr std::string_view name = "configured";
  static constexpr std::array knobs{knob<along_trees>{"arrival", &along_trees::arrival}};

  /// A copy with the communicator's trees in place of missing ones.
  constexpr along_trees completed(topology const& known) const {
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
    static constexpr bool ordered = true, same_bits = true;

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

/// configured{tree}, configured{reduce_tree, broadcast_tree}. An empty tree means the communicator's, as nullptr in
/// along_trees. The name "configured" is along_trees{}.
struct configured {
  static constexpr std::string_view name = along_trees::name;

  tree reduce_tree{};
  tree broadcast_tree = reduce_tree;
  bool arrival = false;   ///< combines children in order of arrival: bits may differ from run to run

  COLLIGO_CONSTEXPR operator along_trees() const {
    auto const unless_empty = [](tree const& t) { return t.size() == 0 ? nullptr : &t; };
    return {{unless_empty(reduce_tree), unless_empty(broadcast_tree), arrival}};
  }
  COLLIGO_CONSTEXPR transport transport_needed() const { return along_trees(*this).transport_needed(); }
  COLLIGO_CONSTEXPR along_trees completed(topology const& known) const { return along_trees(*this).completed(known); }
  COLLIGO_CONSTEXPR std::size_t fingerprint() const { return along_trees(*this).fingerprint(); }

  template <class T, class Op> using reduce = along_trees::reduce<T, Op>;
  template <class T, class Op> using all_reduce = along_trees::all_reduce<T, Op>;
  template <class T> using broadcast = along_trees::broadcast<T>;
};

}  // namespace colligo
