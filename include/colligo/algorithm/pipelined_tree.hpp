// SPDX-License-Identifier: BSL-1.0
/// @file
/// Pipelined binary tree: a broadcast in blocks down a tree in which every rank has at most two children.
/// Picture  p = 7   0 -> 1 2   1 -> 3 4   2 -> 5 6
///          every rank receives block i while it sends block i - 1 to both children
/// Cost     a rank sends each block twice; lg p blocks are on their way at a time
/// Needs    any p, any root
/// Order    nothing is combined
/// Prefer   vectors of medium length on many ranks.   Avoid: few ranks, very long vectors (see pipelined_chain,
///          scatter_all_gather)
/// Source   folklore; Open MPI's and MPICH's pipelined trees
#pragma once

#include <array>
#include <string_view>

#include "../core/knob.hpp"
#include "../shape/pipeline.hpp"
#include "../shape/tree.hpp"

namespace colligo::inline COLLIGO_MODE {

struct pipelined_tree {
  static constexpr std::string_view name = "pipelined_tree";

  std::size_t block = 0;   ///< bytes; 0: chosen from the length and the depth of the tree

  static constexpr std::array knobs{knob<pipelined_tree>{"block", &pipelined_tree::block}};

  template <class T>
  struct broadcast {
    pipelined_tree const& knob;

    template <steps Step>
    void operator()(Step& step, range all, int root) const {
      auto tree = rooted_at(step, root);
      int const p = tree.size(), me = tree.rank();
      pipeline const part(all, knob.block, element_size<T>(step), floor_lg(p) - 1);
      auto const child = [&](int i) { return 2 * me + i < p ? 2 * me + i : nobody; };
      int const parent = me == 0 ? nobody : (me - 1) / 2;
      for (int i = 0; i <= part.size(); ++i)
        tree(recv{parent, part[i]}, send{child(1), part[i - 1]}, send{child(2), part[i - 1]});
    }
  };
};

}  // namespace colligo
