// SPDX-License-Identifier: BSL-1.0
/// @file
/// record: returns the schedule of an algorithm, given by a tag (plan/recorder.hpp), a name, or a value
/// (chosen_algorithm). Needs no MPI.
#pragma once

#include "plan/price.hpp"
#include "plan/recorder.hpp"
#include "rules/chosen.hpp"
#include "rules/policies.hpp"
#include "rules/recorded.hpp"
#include "shape/edge_order.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// Records the steps of a rank by the library's compiled algorithms.
template <class T, class Algorithm>
auto steps_by_policy(Algorithm const& algorithm, collective what, int p, int root) {
  require_ranks_and_root(what, p, root);
  auto const by = [&]() -> choice {
    if constexpr (std::is_same_v<Algorithm, named>)
      return parse(policies_of(what)(), algorithm.text(), std::string(name_of(what)) + ": ");
    else return algorithm;
  }();
  return [by, what, p, root](int rank, blocks const& vector) {
    return recorded_rank(by, what, policies_of(what)(), sizeof(T), rank, p, vector, root);
  };
}

/// One of the library's algorithms, as a tag, a name or a value.
template <class Algorithm>
concept library_algorithm =
    in_catalogue<Algorithm> || std::is_same_v<Algorithm, named> || std::is_same_v<Algorithm, choice>;

/// The vector of a rank: its blocks out, one after the other in the order listed, then its blocks in. Returns its
/// length.
template <class Edges>
std::size_t place_edges(int rank, int p, Edges const& edges, std::vector<edge>& placed) {
  small_vector<edge_end> ends;
  std::vector<range> blocks[2];   // in, out
  std::size_t last = 0;
  for (bool const sends : {true, false})
    for (graph_edge const& e : edges) {
      if ((sends ? e.from : e.to) != rank) continue;
      auto& of = blocks[sends];
      int const place = static_cast<int>(of.size());
      ends.push_back({sends ? e.to : e.from, sends ? place : ~place});
      of.push_back({last, last + e.elements});
      last += e.elements;
    }
  order_edges(rank, p, ends);
  placed.clear();
  for (edge_end const& e : ends) placed.push_back({e.peer, e.sends(), blocks[e.sends()][e.index()]});
  return last;
}

}  // namespace detail

namespace by_name {

/// As record() in plan/recorder.hpp, for the library's algorithms, also by name, with knobs:
/// record(named("pipelined_ring:block=65536"), ...), or as a value. It runs the code of calls, which is compiled once
/// and not for each algorithm, except in constant expressions. Throws algorithm_error also for an unknown name.
template <class T = std::byte, algorithm Algorithm, detail::elements_or_counts N>
  requires detail::library_algorithm<Algorithm>
COLLIGO_CONSTEXPR schedule record(Algorithm const& algorithm, collective what, int p, N const& n, int root = 0) {
#if COLLIGO_HAS_CONSTEXPR_VECTORS
  if constexpr (detail::in_catalogue<Algorithm>)
    if (std::is_constant_evaluated())
      return detail::record_elements(what, p, n, detail::steps_by<T>(algorithm, what, p, root));
#endif
  return detail::record_elements(what, p, n, detail::steps_by_policy<T>(algorithm, what, p, root));
}

/// The schedule of an exchange over a graph on p ranks: record(along_edges{}, 4, {{0, 1, 8}, {1, 0, 8}}). Throws
/// argument_error if an edge is of no rank.
template <class T = std::byte, algorithm Algorithm>
  requires detail::library_algorithm<Algorithm>
schedule record(Algorithm const& algorithm, int p, std::span<graph_edge const> edges) {
  for (graph_edge const& e : edges)
    for (int const rank : {e.from, e.to})
      if (rank < 0 || rank >= p)
        throw argument_error(detail::concat({"colligo: record: an edge of rank ", rank, " on ", p, " ranks"}));
  auto const steps = detail::steps_by_policy<T>(algorithm, collective::exchange, p, 0);
  std::vector<detail::rank_steps> ranks;
  std::vector<edge> placed;
  std::size_t longest = 0;
  for (int r = 0; r < p; ++r) {
    longest = std::max(longest, detail::place_edges(r, p, edges, placed));
    edge_list const of_rank{placed.data(), placed.size()};
    ranks.push_back(steps(r, {.whole = {}, .parts = static_cast<int>(of_rank.count), .edges = &of_rank}));
  }
  return schedule(collective::exchange, longest, std::move(ranks));
}
template <class T = std::byte, algorithm Algorithm>
schedule record(Algorithm const& algorithm, int p, std::initializer_list<graph_edge> edges) {
  return colligo::record<T>(algorithm, p, std::span<graph_edge const>(edges.begin(), edges.size()));
}

}  // namespace by_name

}  // namespace colligo
