// SPDX-License-Identifier: BSL-1.0
/// @file
/// Along edges: on each edge of a graph a block goes from its source to its target. A rank performs its edges by
/// distance, d = target - source mod p, a window of them at once.
/// Picture  a ring with both neighbours, p = 4   0->1, 1->2, 2->3, 3->0 (d = 1) and 1->0, 2->1, 3->2, 0->3 (d = 3), in
///          one step if the window is 2 or more
/// Cost     k alpha + n beta for k edges out and in of every rank, n all that a rank sends, equal to the recorded
///          schedule if all edges are in one window and all blocks are equal; start-ups of a window but the first are
///          alpha_further where they overlap
/// Needs    any graph: several edges between two ranks, edges of a rank with itself (copies), ranks without edges; a
///          rank needs only its own edges. Nothing waits for ever, whatever the window: of all edges ordered by
///          distance, source and place, the first that has not happened is in the current step of both its ends
/// Order    nothing is combined
/// Prefer   few neighbours.   Avoid: graphs of nearly all pairs of ranks and blocks of a few bytes
/// Source   folklore; the order by distance is that of pairwise exchange
#pragma once

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <string_view>

#include "../core/knob.hpp"
#include "../core/machine.hpp"
#include "../core/step.hpp"

namespace colligo::inline COLLIGO_MODE {

struct along_edges {
  static constexpr std::string_view name = "along_edges";

  std::size_t window = 32;   ///< edges at a time each way; 0 counts as 1

  static constexpr std::array knobs{knob<along_edges>{"window", &along_edges::window}};

  template <class T>
  struct exchange {
    std::size_t most;   // edges at a time each way
    static constexpr bool writes_output_alone = true;

    constexpr explicit exchange(along_edges const& tag)
        : most(std::max<std::size_t>(1, std::min<std::size_t>(tag.window, INT_MAX / 2))) {}

    template <steps Step>
    constexpr void operator()(Step& step, edge_list const& edges) const {
      std::size_t own = 0;   // ends of edges with itself: first those out, then those in
      while (own < edges.count && edges[own].peer == step.rank()) ++own;
      for (std::size_t i = 0; i < own / 2; ++i) step(copy{edges[i].elements, edges[own / 2 + i].elements});
      for (std::size_t next = own; next < edges.count;) {
        std::size_t const first = next;
        for (std::size_t out = 0, in = 0; next < edges.count; ++next)
          if (++(edges[next].sends ? out : in) > most) break;
        step(listed{static_cast<int>(next - first), [=](int k) {
                      edge const& edge = edges[first + static_cast<std::size_t>(k)];
                      return edge.sends ? operand(send{edge.peer, edge.elements})
                                        : operand(recv{edge.peer, edge.elements});
                    }});
      }
    }

    /// For k equal edges out and in of every rank, none with itself, and n elements that a rank sends in all.
    constexpr double cost(machine const& m, int k, std::size_t n) const {
      double all = n == 0 ? 0 : static_cast<double>(n * sizeof(T)) * m.beta;
      for (int first = 0, at_once = static_cast<int>(most); n != 0 && first < k; first += std::min(at_once, k - first))
        all += m.startups(std::min(at_once, k - first));
      return all;
    }
  };
};

}  // namespace colligo
