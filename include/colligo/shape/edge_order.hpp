// SPDX-License-Identifier: BSL-1.0
/// @file
/// The order in which the ranks of a graph perform their edges.
#pragma once

#include <cstddef>

#include "../core/mode.hpp"
#include "../core/stable_order.hpp"
#include "../core/view.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// An edge as one of its ranks sees it. `place`: its place among the targets, or ~place among the sources.
struct edge_end {
  int peer, place;

  constexpr bool sends() const { return place >= 0; }
  constexpr std::size_t index() const { return static_cast<std::size_t>(sends() ? place : ~place); }
};

/// Sorts the edges of a rank, its targets and sources in the order of their places, by distance target - source mod p,
/// then by source, then out before in. Several edges from one rank to another keep their order, in which they match. So
/// all ranks sort their edges by one order of all edges: along_edges.hpp relies on that. Edges with itself come first.
template <class Lazy = void>   // so units that order none compile no sort
void order_edges(int rank, int p, view<edge_end> ends) {
  sort_stably(ends, [=](edge_end const& e) {
    int const from = e.sends() ? rank : e.peer, to = e.sends() ? e.peer : rank;
    int const distance = to >= from ? to - from : to - from + p;
    return (static_cast<long long>(distance) * p + from) * 2 + !e.sends();
  });
}

}  // namespace colligo
