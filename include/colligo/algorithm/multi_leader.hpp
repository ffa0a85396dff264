// SPDX-License-Identifier: BSL-1.0
/// @file
/// Multi-leader: cuts the vector into one slice per rank of a host, and each rank leads its slice: reduce_scatter
/// within each host, all_reduce of a slice between its leaders, all_gather within each host. All ranks of a host use
/// the network at once.
/// Picture  hosts 0-1 and 2-3, vector AB   within: 0-1 2-3   between: 0-2 A, 1-3 B   within: 0-1 2-3
/// Cost     the sum of its stages, equal to the recorded schedule where all hosts have as many ranks and these divide
///          n: with m ranks on each of h hosts, reduce_scatter over m, all_reduce of n/m over h, all_gather over m
/// Needs    any p. If hosts have different numbers of ranks, there are as many slices as the smallest host has ranks,
///          and other ranks lead none. Between hosts an algorithm that does not use a rank's own contribution to the
///          end (not rotating_ring, not census). If Within has no reduce_scatter, halving_doubling's replaces it; if it
///          has no all_gatherv, recursive_doubling's
/// Order    kept if the stages keep it and hosts have consecutive ranks, otherwise the functor must commute; same bits
///          on all ranks if Between gives them
/// Prefer   several hosts, long vectors.   Avoid: short ones, three algorithms' start-ups (see hierarchical)
/// Source   no paper: the scheme of hierarchical.hpp, with a leader per slice
#pragma once

#include "../core/stage.hpp"
#include "halving_doubling.hpp"
#include "hierarchical.hpp"

namespace colligo::inline COLLIGO_MODE {

template <class Within = halving_doubling, class Between = halving_doubling>
struct multi_leader {
  static constexpr std::string_view name = "multi_leader";

  Within within{};
  Between between{};
  std::span<int const> hosts{};   ///< the host of each rank; empty: as the communicator knows
  hierarchy const* by_host = nullptr;   ///< hierarchy::of_hosts of these, if kept

  template <class T, class Op>
  struct all_reduce {
    multi_leader const& tag;
    detail::stage<collective::reduce_scatter, Within, halving_doubling, T, Op> cut{tag.within};
    detail::later_stage<collective::all_reduce, Between, void, T, Op> across{tag.between};
    detail::stage<collective::all_gatherv, Within, recursive_doubling, T, Op> join{tag.within};

    static constexpr bool ordered = decltype(cut)::ordered && decltype(across)::ordered;
    static constexpr bool same_bits = decltype(across)::same_bits;
    static constexpr bool keeps_input = decltype(cut)::keeps_input;

    constexpr int made_for(int p) const { return tag.hosts.empty() ? p : static_cast<int>(tag.hosts.size()); }
    constexpr bool in_order(int p) const {
      return cut.in_order(p) && across.in_order(p) && host_map{tag.hosts, p, tag.by_host}.consecutive();
    }

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      host_map const map{tag.hosts, step.size(), tag.by_host};
      auto host = map.within(step);
      int const mine = host.rank(), slices = map.fewest();
      blocks const slice{all, host.size(), nullptr, host.size() - slices};
      cut(host, slice);
      if (mine < slices) {
        auto leaders = map.across(step, [map, mine](int h) { return map.member(map.lowest(h), mine); });
        across(leaders, slice[mine]);
      }
      join(host, slice);
    }

    constexpr double cost(machine const& m, int p, std::size_t n) const {
      host_map const map{tag.hosts, p, tag.by_host};
      int const here = map.ranks_with(0), slices = map.fewest();
      machine const &on_host = m.at(distance::host), shared = m.at(distance::network).shared_by(slices);
      return cut.cost(on_host, here, n) +
             across.cost(shared, map.host_count(), n / static_cast<std::size_t>(slices)) + join.cost(on_host, here, n);
    }
    constexpr formula exact_for(machine const& m, int p, std::size_t n) const {
      host_map const map{tag.hosts, p, tag.by_host};
      int const here = map.fewest();
      if (!divides(here, n)) return formula::estimate;
      return detail::of_stages(map, cut.exact_for(m, here, n),
                               across.exact_for(m, map.host_count(), n / static_cast<std::size_t>(here)),
                               join.exact_for(m, here, n));
    }
  };
};

}  // namespace colligo
