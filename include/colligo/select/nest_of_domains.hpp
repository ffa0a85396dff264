// SPDX-License-Identifier: BSL-1.0
/// @file
/// The levels of a communicator's ranks, from their reports on their cores.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "../core/row.hpp"
#include "../environment/core_domains.hpp"
#include "../shape/nest.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Of p ranks that all know their cores, or none; without the levels that one of them does not know. `hosts`: the host
/// of each rank; empty: all are on one.
[[gnu::cold]] inline nest nest_of_domains(int p, std::span<core_domains const> ranks,
                                                std::span<int const> hosts) {
  std::vector<std::vector<int>> levels;
  std::vector<distance> far;
  for (std::size_t level = 0; level < domain_levels && !ranks.empty(); ++level) {
    if (is_any(ranks, [level](core_domains const& its) { return its.group[level] == core_domains::unknown; })) continue;
    far.push_back(level < 2 ? distance::cache : distance::socket);
    auto& groups = levels.emplace_back();   // by any number that no other group of any host has
    for (std::size_t r = 0; r < ranks.size(); ++r)
      groups.push_back((hosts.empty() ? 0 : hosts[r]) * CPU_SETSIZE + ranks[r].group[level]);
  }
  if (!hosts.empty()) levels.emplace_back(hosts.begin(), hosts.end()), far.push_back(distance::host);
  far.push_back(hosts.empty() ? distance::host : distance::network);
  return nest(p, std::move(levels), std::move(far));
}

}  // namespace colligo
