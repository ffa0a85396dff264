// SPDX-License-Identifier: BSL-1.0
/// @file
/// Which ranks share a host, and views of a step with the ranks of one host, or one rank of each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "../core/renumbered.hpp"
#include "hierarchy.hpp"

namespace colligo::inline COLLIGO_MODE {

/// The host of each of p ranks, as any numbers; empty: all are on one host. Hosts are numbered in the order of their
/// lowest ranks. Without a hierarchy every look-up searches the ranks, at worst once per host.
struct host_map {
  std::span<int const> hosts;
  int p;
  hierarchy const* known = nullptr;   ///< hierarchy::of_hosts, if kept: a call makes dozens of look-ups
  int level = known ? known->level_within(distance::network) : 0;   ///< the level of hosts in `known`

  constexpr bool together(int a, int b) const {
    if (known) return host_of(a) == host_of(b);
    return hosts.empty() || hosts[index(a)] == hosts[index(b)];
  }
  /// The i-th rank of r's host.
  constexpr int member(int r, int i) const {
    if (known) return known->rank_at(group_of(r).first + i);
    if (hosts.empty()) return i;
    int s = 0;
    while (!together(s, r) || i-- > 0) ++s;
    return s;
  }
  /// r is member(r, place(r))
  constexpr int place(int r) const {
    if (known) return known->place_of(r) - group_of(r).first;
    return hosts.empty() ? r : count_together(r, 0, r);
  }
  constexpr int ranks_with(int r) const {   ///< on r's host
    if (known) return group_of(r).size();
    return hosts.empty() ? p : count_together(r, 0, p);
  }
  constexpr bool is_lowest(int r) const {
    if (hosts.empty() || known) return place(r) == 0;
    for (int s = r - 1; s >= 0; --s)
      if (together(s, r)) return false;
    return true;
  }
  constexpr int host_count() const { return known ? known->parts(level, {0, p}) : lowest_before(p); }
  /// The lowest rank of host h.
  constexpr int lowest(int h) const {
    if (known) return known->rank_at(known->part(level, {0, p}, h).first);
    int r = 0;
    while (!is_lowest(r) || h-- > 0) ++r;
    return r;
  }
  constexpr int host_of(int r) const {
    return known ? known->part_of(level, {0, p}, known->place_of(r)) : lowest_before(member(r, 0));
  }
  /// Every host has consecutive ranks.
  constexpr bool consecutive() const {
    if (known) return known->consecutive();
    for (int r = 1; r < static_cast<int>(hosts.size()); ++r)
      if (!together(r - 1, r) && !is_lowest(r)) return false;
    return true;
  }
  /// The number of ranks of the smallest host.
  constexpr int fewest() const {
    if (known) return known->smallest(level);
    int least = p;
    for (int r = 0; r < p && !hosts.empty(); ++r)
      if (is_lowest(r)) least = std::min(least, ranks_with(r));
    return least;
  }

  /// All hosts have equally many ranks.
  constexpr bool even() const { return fewest() * host_count() == p; }

  /// The algorithm sees the ranks of this one's host, in order.
  template <steps Step>
  constexpr auto within(Step& step) const {
    int const me = step.rank();
    return renumbered(step, place(me), ranks_with(me), [*this, me](int i) { return member(me, i); });
  }
  /// The algorithm sees one rank of each host, leader(h) of host h.
  template <steps Step, class Leader>
  constexpr auto across(Step& step, Leader leader) const {
    return renumbered(step, host_of(step.rank()), host_count(), leader);
  }
  /// The leader of host h: the root, otherwise the lowest rank.
  constexpr auto leaders(int root) const {
    return [*this, root](int h) {
      int const r = lowest(h);
      return together(r, root) ? root : r;
    };
  }

 private:
  static constexpr std::size_t index(int r) { return static_cast<std::size_t>(r); }
  hierarchy::group group_of(int r) const { return known->group_at(level, known->place_of(r)); }
  constexpr int count_together(int with, int from, int to) const {
    int n = 0;
    for (int r = from; r < to; ++r) n += together(r, with);
    return n;
  }
  constexpr int lowest_before(int end) const {
    if (hosts.empty()) return end > 0;
    int n = 0;
    for (int r = 0; r < end; ++r) n += is_lowest(r);
    return n;
  }
};

}  // namespace colligo
