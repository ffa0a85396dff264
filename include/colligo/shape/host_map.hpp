// SPDX-License-Identifier: BSL-1.0
/// @file
/// Which ranks share a host, and views of a step with the ranks of one host, or one rank of each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "../core/renumbered.hpp"

namespace colligo::inline COLLIGO_MODE {

/// The tables of a host_map, kept with a communicator, because a call looks them up some dozens of times.
struct host_tables {
  std::vector<int> host, place;      ///< of each rank: which host, and which of its ranks
  std::vector<int> members, first;   ///< ranks, host by host; where each host begins, and the end
  int fewest = 0;
  bool consecutive = true;

  host_tables() = default;
  template <class Lazy = void>
  explicit host_tables(std::span<int const> hosts);
};

/// The host of each of p ranks, any numbers; empty: all are on one host. Hosts count in the order of their lowest
/// ranks. Without tables every look-up searches the ranks, at worst once per host.
struct host_map {
  std::span<int const> hosts;
  int p;
  host_tables const* tables = nullptr;   ///< of these hosts

  constexpr bool together(int a, int b) const { return hosts.empty() || hosts[index(a)] == hosts[index(b)]; }
  /// The i-th rank of r's host.
  constexpr int member(int r, int i) const {
    if (hosts.empty()) return i;
    if (tables) return tables->members[index(first_of(r) + i)];
    int s = 0;
    while (!together(s, r) || i-- > 0) ++s;
    return s;
  }
  /// r is member(r, place(r))
  constexpr int place(int r) const {
    return hosts.empty() ? r : tables ? tables->place[index(r)] : count_together(r, 0, r);
  }
  constexpr int ranks_with(int r) const {   ///< on r's host
    if (tables) return tables->first[index(tables->host[index(r)] + 1)] - first_of(r);
    return hosts.empty() ? p : count_together(r, 0, p);
  }
  constexpr bool is_lowest(int r) const {
    if (hosts.empty() || tables) return place(r) == 0;
    for (int s = r - 1; s >= 0; --s)
      if (together(s, r)) return false;
    return true;
  }
  constexpr int host_count() const { return tables ? static_cast<int>(tables->first.size()) - 1 : lowest_before(p); }
  /// The lowest rank of host h.
  constexpr int lowest(int h) const {
    if (tables) return tables->members[index(tables->first[index(h)])];
    int r = 0;
    while (!is_lowest(r) || h-- > 0) ++r;
    return r;
  }
  constexpr int host_of(int r) const { return tables ? tables->host[index(r)] : lowest_before(member(r, 0)); }
  /// Every host has consecutive ranks.
  constexpr bool consecutive() const {
    if (tables) return tables->consecutive;
    for (int r = 1; r < static_cast<int>(hosts.size()); ++r)
      if (!together(r - 1, r) && !is_lowest(r)) return false;
    return true;
  }
  /// The number of ranks of the smallest host.
  constexpr int fewest() const {
    if (tables) return tables->fewest;
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
  constexpr auto speakers(int root) const {
    return [*this, root](int h) {
      int const r = lowest(h);
      return together(r, root) ? root : r;
    };
  }

 private:
  static constexpr std::size_t index(int r) { return static_cast<std::size_t>(r); }
  constexpr int first_of(int r) const { return tables->first[index(tables->host[index(r)])]; }
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

template <class Lazy>
[[gnu::cold]] host_tables::host_tables(std::span<int const> hosts) : host(hosts.size()), place(hosts.size()) {
  std::vector<std::pair<int, int>> numbers;   // of hosts, and which they are
  std::vector<int> ranks;
  for (std::size_t r = 0; r < hosts.size(); ++r) {
    auto const at = std::lower_bound(numbers.begin(), numbers.end(), std::pair(hosts[r], 0));
    bool const known = at != numbers.end() && at->first == hosts[r];
    host[r] = known ? at->second : static_cast<int>(ranks.size());
    if (!known) numbers.emplace(at, hosts[r], host[r]), ranks.push_back(0);
    consecutive = consecutive && (!known || host[r] == host[r - 1]);
    place[r] = ranks[static_cast<std::size_t>(host[r])]++;
  }
  first.assign(1, 0);
  for (int const n : ranks) first.push_back(first.back() + n);
  if (!ranks.empty()) fewest = *std::min_element(ranks.begin(), ranks.end());
  members.resize(hosts.size());
  for (std::size_t r = 0; r < hosts.size(); ++r)
    members[static_cast<std::size_t>(first[static_cast<std::size_t>(host[r])] + place[r])] = static_cast<int>(r);
}

}  // namespace colligo
