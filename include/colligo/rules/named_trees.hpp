// SPDX-License-Identifier: BSL-1.0
/// @file
/// Trees by shape, those of LAM-MPI, and trees from the hosts of the ranks.
#pragma once

#include <span>
#include <vector>

#include "../core/stable_order.hpp"
#include "../shape/ranked_tree.hpp"

/// All throw argument_error for p < 1, and for sizes or roots that do not fit.
namespace colligo::inline COLLIGO_MODE::trees {

/// Every rank has up to k children, whose subtrees are as even as can be; ranks stay in order.
///   p = 8, k = 2:  0 <- 1 5    1 <- 2 4    2 <- 3    5 <- 6 7
COLLIGO_CONSTEXPR tree kary(int p, int k);
/// All ranks report to rank 0.
COLLIGO_CONSTEXPR tree flat(int p) { return kary(p, p); }
/// Rank r reports to r - 1.
COLLIGO_CONSTEXPR tree chain(int p) { return kary(p, 1); }
/// The tree of binary_tree.
COLLIGO_CONSTEXPR tree binomial(int p, int root);
COLLIGO_CONSTEXPR tree binomial(int p) { return binomial(p, 0); }

/// LAM-MPI 6.5's reduce: flat up to 4 ranks; above, r without its lowest set bit is the parent.
///   p = 32:  0 <- 1 2 4 8 16    12 <- 13 14        Source  Bjorndalen et al. on LAM-MPI, section 3 and figure 2
template <class Lazy = void>
COLLIGO_CONSTEXPR tree lam_reduce(int p);
/// LAM-MPI 6.5's broadcast: flat up to 4 ranks; above, r without its highest set bit is the parent. Served in ascending
/// order, so listed in descending order.
///   p = 32:  0 -> 1 2 4 8 16    3 -> 7 11 19
template <class Lazy = void>
COLLIGO_CONSTEXPR tree lam_broadcast(int p);

/// A shape for any number of ranks, led by the first: flat, chain, binomial, or {kary, k}.
class shape {
 public:
  constexpr shape(tree (*make)(int p)) : of_p_(make) {}
  constexpr shape(tree (*make)(int p, int k), int k) : of_p_and_k_(make), k_(k) {}
  COLLIGO_CONSTEXPR tree operator()(int p) const { return of_p_ ? of_p_(p) : of_p_and_k_(p, k_); }

 private:
  tree (*of_p_)(int) = nullptr;
  tree (*of_p_and_k_)(int, int) = nullptr;
  int k_ = 0;
};

struct by_host_options {
  shape within = binomial;             ///< of the ranks of a group
  int groups = 1;                      ///< per host, of even sizes; each reports to the other hosts by itself
                                       ///< (the paper's best for 8-way nodes: 2)
  shape between = binomial;            ///< of the groups' leaders
  std::span<int const> clusters = {};  ///< the cluster of each rank; empty: all hosts are in one
  shape between_clusters = flat;       ///< of the clusters' leaders
  int root = 0;
};

namespace by_name {

/// A tree in levels: within groups of ranks of one host, between these groups, between clusters. Children of the inner
/// levels report first. Leaders are the lowest ranks, but the root leads wherever it is. In order where hosts and
/// clusters hold consecutive ranks, the shapes are in order, and the root is rank 0.
/// @param hosts    the host of each rank, any numbers; its size is p
/// @param options  shapes, groups, clusters, the root
/// Throws argument_error where sizes, the root, groups or shapes do not fit. Takes O(p log p) beside the shapes.
template <class Lazy = void>
COLLIGO_CONSTEXPR tree by_host(std::span<int const> hosts, by_host_options const& options = {});

}  // namespace by_name
using namespace by_name;   // core/mode.hpp

}  // namespace colligo

namespace colligo::inline COLLIGO_MODE::trees {

namespace detail {

constexpr void require_ranks(int p) {
  if (p < 1)
    throw argument_error("colligo: trees: a tree over " + std::to_string(p) + " ranks was asked for, at least 1 is "
                         "needed");
}

template <class ParentOf>
COLLIGO_CONSTEXPR tree with_parents(int p, ParentOf parent_of) {
  require_ranks(p);
  std::vector<int> parents;
  for (int r = 0; r < p; ++r) parents.push_back(parent_of(r));
  return tree::of_parents(parents);
}

}  // namespace detail

COLLIGO_CONSTEXPR tree kary(int p, int k) {
  detail::require_ranks(p);
  if (k < 1) throw argument_error("colligo: trees::kary: k is " + std::to_string(k) + ", at least 1 is needed");
  std::vector<std::vector<int>> children(static_cast<std::size_t>(p));
  std::vector<int> last(children.size(), p);   // r has ranks r .. last[r] - 1 below it
  for (std::size_t r = 0; r < children.size(); ++r) {
    int const first = static_cast<int>(r) + 1, below = last[r] - first;
    blocks const parts{{static_cast<std::size_t>(first), static_cast<std::size_t>(last[r])}, std::min(k, below)};
    for (int i = 0; i < parts.parts; ++i) {
      children[r].push_back(static_cast<int>(parts[i].first));
      last[parts[i].first] = static_cast<int>(parts[i].last);
    }
  }
  return tree::of_children(children);
}

COLLIGO_CONSTEXPR tree binomial(int p, int root) {
  detail::require_ranks(p);
  if (root < 0 || root >= p)
    throw argument_error("colligo: trees::binomial: root " + std::to_string(root) + " is not a rank, ranks are 0 to " +
                         std::to_string(p - 1));
  return binomial_tree{p, root};
}

template <class Lazy>
COLLIGO_CONSTEXPR tree lam_reduce(int p) {
  return detail::with_parents(p, [p](int r) { return r == 0 ? nobody : p <= 4 ? 0 : r & (r - 1); });
}

template <class Lazy>
COLLIGO_CONSTEXPR tree lam_broadcast(int p) {
  tree const ascending = detail::with_parents(p, [p](int r) {
    return r == 0 ? nobody : p <= 4 ? 0 : r - floor_power_of_two(r);
  });
  std::vector<std::vector<int>> children;
  for (int r = 0; r < p; ++r) {
    auto& list = children.emplace_back();
    for (int i = ascending.child_count(r); i > 0; --i) list.push_back(ascending.child(r, i - 1));
  }
  return tree::of_children(children);
}

namespace detail {

// The state of the recursion over levels: the part of a level that each rank is in, and the shape that joins the parts.
struct level {
  std::vector<int> part;
  shape join;
};

// The places of each value, ascending; values in the order of their first places. O(n log n), for n values.
template <class Lazy>
COLLIGO_CONSTEXPR std::vector<std::vector<std::size_t>> places_of_equals(std::vector<int> const& values) {
  std::vector<std::vector<std::size_t>> all;
  for (std::size_t const place : colligo::detail::stable_order(values, [](int value) { return value; })) {
    if (all.empty() || values[all.back().front()] != values[place]) all.emplace_back();
    all.back().push_back(place);
  }
  colligo::detail::sort_stably(all, [](auto const& places) { return places.front(); });
  return all;
}

// Builds the tree of some ranks, the first of which leads, from the given level inwards; innermost
// every rank is a part of its own.
template <class Lazy>
COLLIGO_CONSTEXPR void join_levels(std::vector<int> const& ranks, std::span<level const> levels, shape within,
                           std::vector<std::vector<int>>& children) {
  std::vector<int> leaders = ranks;
  if (!levels.empty()) {
    leaders.clear();
    std::vector<int> parts;
    for (int const r : ranks) parts.push_back(levels[0].part[static_cast<std::size_t>(r)]);
    for (std::vector<std::size_t> const& places : places_of_equals<Lazy>(parts)) {
      leaders.push_back(ranks[places.front()]);
      std::vector<int> part;
      for (std::size_t const place : places) part.push_back(ranks[place]);
      join_levels<Lazy>(part, levels.subspan(1), within, children);
    }
  }
  tree const joined = (levels.empty() ? within : levels[0].join)(static_cast<int>(leaders.size()));
  if (joined.size() != static_cast<int>(leaders.size()) || joined.root() != 0)
    throw argument_error("colligo: trees::by_host: a shape for " + std::to_string(leaders.size()) + " ranks gave " +
                         std::to_string(joined.size()) + " with root " + std::to_string(joined.root()) +
                         "; rank 0 must lead");
  for (int r = 0; r < joined.size(); ++r)
    for (int const c : joined.children(r))
      children[static_cast<std::size_t>(leaders[static_cast<std::size_t>(r)])].push_back(
          leaders[static_cast<std::size_t>(c)]);
}

// Each host's ranks in `groups` even groups, numbered by their lowest ranks.
template <class Lazy>
COLLIGO_CONSTEXPR std::vector<int> groups_of(std::span<int const> hosts, int groups) {
  std::vector<int> part(hosts.size(), 0);
  for (std::vector<std::size_t> const& host : places_of_equals<Lazy>({hosts.begin(), hosts.end()})) {
    blocks const even{{0, host.size()}, groups};
    for (int g = 0; g < groups; ++g)
      for (std::size_t i = even[g].first; i < even[g].last; ++i) part[host[i]] = static_cast<int>(host[even[g].first]);
  }
  return part;
}

}  // namespace detail

template <class Lazy>
COLLIGO_CONSTEXPR tree by_name::by_host(std::span<int const> hosts, by_host_options const& options) {
  int const p = static_cast<int>(hosts.size());
  detail::require_ranks(p);
  if (options.groups < 1)
    throw argument_error("colligo: trees::by_host: " + std::to_string(options.groups) +
                         " groups per host were asked for, at least 1 is needed");
  if (options.root < 0 || options.root >= p)
    throw argument_error("colligo: trees::by_host: root " + std::to_string(options.root) +
                         " is not a rank, ranks are 0 to " + std::to_string(p - 1));
  if (!options.clusters.empty() && options.clusters.size() != hosts.size())
    throw argument_error("colligo: trees::by_host: clusters of " + std::to_string(options.clusters.size()) +
                         " ranks were given and hosts of " + std::to_string(p));
  std::vector<detail::level> levels;
  if (!options.clusters.empty())
    levels.push_back({{options.clusters.begin(), options.clusters.end()}, options.between_clusters});
  levels.push_back({detail::groups_of<Lazy>(hosts, options.groups), options.between});
  std::vector<int> ranks;
  ranks.push_back(options.root);
  for (int r = 0; r < p; ++r)
    if (r != options.root) ranks.push_back(r);
  std::vector<std::vector<int>> children(hosts.size());
  detail::join_levels<Lazy>(ranks, levels, options.within, children);
  return tree::of_children(children);
}

}  // namespace colligo
