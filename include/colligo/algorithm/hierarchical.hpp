// SPDX-License-Identifier: BSL-1.0
/// @file
/// Hierarchical: any two algorithms, one within each host and one between the hosts, whose lowest ranks (or the root) speak for them.
/// Picture  hosts 0-3 and 4-7, binary_tree and recursive_doubling   within: 1->0 3->2 5->4 7->6   2->0 6->4   between: 0-4   within: back
/// Cost     the sum of its parts, equal to the recorded schedule where all hosts have as many ranks: with m ranks on each of h hosts, all_reduce is
///          reduce over m, all_reduce over h, broadcast over m. By default 2 ceil(lg m) one-way messages and recursive_doubling's over h
/// Needs    any p, any root. Between hosts an algorithm that does not look back at a rank's own contribution (not rotating_ring, not census).
///          Where Within has no reduce or broadcast, and Between none for reduce and broadcast, binary_tree's is taken
/// Order    kept where the parts keep it and hosts hold consecutive ranks, otherwise the functor must commute; same bits on all ranks if Between gives them
/// Prefer   several hosts, short vectors.   Avoid: long vectors, one rank per host moves all of it (see multi_leader)
/// Source   Bjorndalen et al. on LAM-MPI, section 5 (reduction within each node first); with an all_reduce between leaders instead of a root
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "../core/error.hpp"
#include "../core/policy.hpp"
#include "../shape/host_map.hpp"
#include "binary_tree.hpp"
#include "recursive_doubling.hpp"

namespace colligo {

namespace detail {

template <class Tag>
inline constexpr Tag instead{};

/// The tag's policy for C or, if it has no form for that, the other tag's.
template <collective C, class T, class Op, class Other, class Tag>
constexpr auto part_of(Tag const& tag) {
  if constexpr (offers<Tag, C, T, Op>) {
    static_assert(has_text<policy_t<C, Tag, T, Op>>(), "colligo: vendor is not made of steps, so nothing can be composed of it");
    return make_policy<C, Tag, T, Op>(tag);
  } else {
    return make_policy<C, Other, T, Op>(instead<Other>);
  }
}
template <collective C, class T, class Op, class Other, class Tag>
using part_t = decltype(part_of<C, T, Op, Other>(std::declval<Tag const&>()));

/// Runs one part on some of the ranks.
template <collective C, class Part, steps Step>
constexpr void apply_part(Part const& part, Step& step, blocks const& vector, int root = 0) {
  if (int const p = made_for(part, step.size()); p != step.size())
    throw argument_error("a part of a hierarchical " + std::string(name_of(C)) + " is made for " + std::to_string(p) + " ranks, but has " + std::to_string(step.size()) + " of them to run on");
  apply<C>(part, step, vector, root);
}
template <collective C, class Part, steps Step>
constexpr void apply_part(Part const& part, Step& step, range all, int root = 0) { apply_part<C>(part, step, blocks{all, step.size()}, root); }

}  // namespace detail

template <class Within = binary_tree, class Between = recursive_doubling>
struct hierarchical {
  static constexpr std::string_view name = "hierarchical";

  Within within{};
  Between between{};
  std::span<int const> hosts{};   ///< the host of each rank; empty: as the communicator knows

  template <class T, class Op>
  struct all_reduce {
    hierarchical const& tag;
    detail::part_t<collective::reduce, T, Op, binary_tree, Within> up = detail::part_of<collective::reduce, T, Op, binary_tree>(tag.within);
    policy_t<collective::all_reduce, Between, T, Op> across = make_policy<collective::all_reduce, Between, T, Op>(tag.between);
    detail::part_t<collective::broadcast, T, Op, binary_tree, Within> down = detail::part_of<collective::broadcast, T, Op, binary_tree>(tag.within);

    static constexpr bool ordered = keeps_order<decltype(up)>() && keeps_order<decltype(across)>();
    static constexpr bool same_bits = gives_same_bits<decltype(across)>();
    static constexpr bool keeps_input = colligo::keeps_input<decltype(up)>();
    static_assert(!colligo::keeps_input<decltype(across)>(), "colligo: between hosts no algorithm that looks back at a rank's own contribution, as rotating_ring and census do");

    constexpr int made_for(int p) const { return tag.made_for(p); }
    constexpr bool in_order(int p) const { return keeps_order_over(up, p) && keeps_order_over(across, p) && tag.map(p).consecutive(); }

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      host_map const map = tag.map(step.size());
      auto host = map.within(step);
      detail::apply_part<collective::reduce>(up, host, all);
      if (host.rank() == 0) {
        auto leaders = map.across(step, [map](int h) { return map.lowest(h); });
        detail::apply_part<collective::all_reduce>(across, leaders, all);
      }
      detail::apply_part<collective::broadcast>(down, host, all);
    }

    /// For hosts of as many ranks each.
    constexpr double cost(machine const& m, int p, std::size_t n) const {
      host_map const map = tag.map(p);
      int const here = map.ranks_with(0);
      return up.cost(m, here, n) + across.cost(m, map.host_count(), n) + down.cost(m, here, n);
    }
  };

  template <class T, class Op>
  struct reduce {
    hierarchical const& tag;
    detail::part_t<collective::reduce, T, Op, binary_tree, Within> up = detail::part_of<collective::reduce, T, Op, binary_tree>(tag.within);
    detail::part_t<collective::reduce, T, Op, binary_tree, Between> across = detail::part_of<collective::reduce, T, Op, binary_tree>(tag.between);

    static constexpr bool ordered = keeps_order<decltype(up)>() && keeps_order<decltype(across)>();
    static constexpr bool keeps_input = colligo::keeps_input<decltype(up)>();
    static_assert(!colligo::keeps_input<decltype(across)>(), "colligo: between hosts no algorithm that looks back at a rank's own contribution, as rotating_ring and census do");

    constexpr int made_for(int p) const { return tag.made_for(p); }
    constexpr bool in_order(int p) const { return keeps_order_over(up, p) && keeps_order_over(across, p) && tag.map(p).consecutive(); }

    template <steps Step>
    constexpr void operator()(Step& step, range all, int root) const {
      host_map const map = tag.map(step.size());
      auto host = map.within(step);
      int const speaker = map.together(step.rank(), root) ? map.place(root) : 0;
      detail::apply_part<collective::reduce>(up, host, all, speaker);
      if (host.rank() != speaker) return;
      auto speakers = map.across(step, map.speakers(root));
      detail::apply_part<collective::reduce>(across, speakers, all, map.host_of(root));
    }

    /// For hosts of as many ranks each.
    constexpr double cost(machine const& m, int p, std::size_t n) const {
      return up.cost(m, tag.map(p).ranks_with(0), n) + across.cost(m, tag.map(p).host_count(), n);
    }
  };

  template <class T>
  struct broadcast {
    hierarchical const& tag;
    detail::part_t<collective::broadcast, T, void, binary_tree, Between> across = detail::part_of<collective::broadcast, T, void, binary_tree>(tag.between);
    detail::part_t<collective::broadcast, T, void, binary_tree, Within> down = detail::part_of<collective::broadcast, T, void, binary_tree>(tag.within);

    constexpr int made_for(int p) const { return tag.made_for(p); }

    template <steps Step>
    constexpr void operator()(Step& step, range all, int root) const {
      host_map const map = tag.map(step.size());
      auto host = map.within(step);
      int const speaker = map.together(step.rank(), root) ? map.place(root) : 0;
      if (host.rank() == speaker) {
        auto speakers = map.across(step, map.speakers(root));
        detail::apply_part<collective::broadcast>(across, speakers, all, map.host_of(root));
      }
      detail::apply_part<collective::broadcast>(down, host, all, speaker);
    }

    /// For hosts of as many ranks each.
    constexpr double cost(machine const& m, int p, std::size_t n) const {
      return across.cost(m, tag.map(p).host_count(), n) + down.cost(m, tag.map(p).ranks_with(0), n);
    }
  };

  constexpr host_map map(int p) const { return {hosts, p}; }
  constexpr int made_for(int p) const { return hosts.empty() ? p : static_cast<int>(hosts.size()); }
};

}  // namespace colligo
