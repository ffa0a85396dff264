// SPDX-License-Identifier: BSL-1.0
/// @file
/// Hierarchical: any two algorithms, one within each host and one between the hosts' leaders, their lowest ranks (or
/// the root).
/// Picture  hosts 0-3 and 4-7, binary_tree and recursive_doubling   within: 1->0 3->2 5->4 7->6   2->0 6->4
///          between: 0-4   within: back
/// Cost     the sum of its stages, equal to the recorded schedule where all hosts have as many ranks: with m ranks on
///          each of h hosts, all_reduce is reduce over m, all_reduce over h, broadcast over m. By default 2 ceil(lg m)
///          one-way messages and recursive_doubling's over h
/// Needs    any p, any root. Between hosts an algorithm that does not use a rank's own contribution to the end (not
///          rotating_ring, not census). binary_tree replaces Within if it has no reduce or broadcast, and Between if it
///          has none for reduce and broadcast
/// Order    kept if the stages keep it and hosts have consecutive ranks, otherwise the functor must commute; same bits
///          on all ranks if Between gives them
/// Prefer   several hosts, short vectors.   Avoid: long vectors, which one rank per host moves (see multi_leader)
/// Source   Bjorndalen et al. on LAM-MPI, section 5 (reduction within each node first); with an all_reduce between
///          leaders instead of a root
#pragma once

#include <span>
#include <string_view>
#include <type_traits>

#include "../core/stage.hpp"
#include "../topology/host_map.hpp"
#include "binary_tree.hpp"
#include "direct.hpp"
#include "recursive_doubling.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {
/// The exactness of a sum of stages' formulas, which assume equally many ranks on each host.
constexpr formula of_stages(host_map const& map, auto... stages) {
  return map.even() ? std::max({stages...}) : formula::estimate;
}
}  // namespace detail

template <class Within = binary_tree, class Between = recursive_doubling>
struct hierarchical {
  /// The two of the catalogue have different names; other compositions are known only by their type.
  static constexpr std::string_view name = std::is_same_v<Between, direct> ? "hierarchical_direct" : "hierarchical";

  Within within{};
  Between between{};
  std::span<int const> hosts{};   ///< the host of each rank; empty: as the communicator knows
  hierarchy const* by_host = nullptr;   ///< hierarchy::of_hosts of these, if kept

  // `up` reduces to the leaders (not in a broadcast), `across` runs between them, `down` broadcasts (not in a reduce).
  template <collective C, class T, class Op>
  struct form {
    static constexpr bool combines = C != collective::broadcast;

    hierarchical const& tag;
    detail::stage_if<combines, collective::reduce, Within, binary_tree, T, Op> up{tag.within};
    detail::later_stage<C, Between, std::conditional_t<C == collective::all_reduce, void, binary_tree>, T, Op> across{
        tag.between};
    detail::stage_if<C != collective::reduce, collective::broadcast, Within, binary_tree, T, Op> down{tag.within};

    static constexpr bool ordered = decltype(up)::ordered && decltype(across)::ordered;
    static constexpr bool same_bits = C == collective::all_reduce && decltype(across)::same_bits;
    static constexpr bool keeps_input = decltype(up)::keeps_input;

    constexpr int made_for(int p) const { return tag.made_for(p); }
    constexpr bool in_order(int p) const { return up.in_order(p) && across.in_order(p) && tag.map(p).consecutive(); }

    template <steps Step>
    constexpr void operator()(Step& step, range all, int root = 0) const {
      host_map const map = tag.map(step.size());
      auto host = map.within(step);
      int const leader = map.together(step.rank(), root) ? map.place(root) : 0;
      up(host, all, leader);
      if (host.rank() == leader) {
        auto leaders = map.across(step, map.leaders(root));
        across(leaders, all, map.host_of(root));
      }
      down(host, all, leader);
    }

    constexpr double cost(machine const& m, int p, std::size_t n) const
      requires detail::priced<decltype(up), decltype(across), decltype(down)>
    {
      host_map const map = tag.map(p);
      int const here = map.ranks_with(0);
      machine const& on_host = m.at(distance::host);
      return up.cost(on_host, here, n) + across.cost(m.at(distance::network), map.host_count(), n) +
             down.cost(on_host, here, n);
    }
    constexpr formula exact_for(machine const& m, int p, std::size_t n) const {
      host_map const map = tag.map(p);
      return detail::of_stages(map, up.exact_for(m, map.fewest(), n), across.exact_for(m, map.host_count(), n),
                               down.exact_for(m, map.fewest(), n));
    }
  };

  template <class T, class Op>
  using all_reduce = form<collective::all_reduce, T, Op>;
  template <class T, class Op>
  using reduce = form<collective::reduce, T, Op>;
  template <class T>
  using broadcast = form<collective::broadcast, T, void>;

  constexpr host_map map(int p) const { return {hosts, p, by_host}; }
  constexpr int made_for(int p) const { return hosts.empty() ? p : static_cast<int>(hosts.size()); }
};

}  // namespace colligo
