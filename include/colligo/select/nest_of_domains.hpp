// SPDX-License-Identifier: BSL-1.0
/// @file
/// The levels of a communicator's ranks, from their reports on their cores.
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "../environment/core_domains.hpp"
#include "../shape/nest.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Of p ranks that all know their cores, or none; without the levels that one of them does not know. `hosts`: the host
/// of each rank; empty: all are on one.
[[gnu::cold]] inline nest nest_of_domains(int p, std::span<core_domains const> ranks,
                                                std::span<int const> hosts) {
  std::vector<std::vector<int>> levels;
  for (std::size_t level = 0; level < domain_levels && !ranks.empty(); ++level) {
    auto const is_lost = [level](core_domains const& its) { return its.group[level] == core_domains::unknown; };
    if (std::ranges::any_of(ranks, is_lost)) continue;
    std::map<std::pair<int, int>, int> lowest;   // rank of each group of each host
    auto& groups = levels.emplace_back();
    for (std::size_t r = 0; r < ranks.size(); ++r)
      groups.push_back(
          lowest.try_emplace({hosts.empty() ? 0 : hosts[r], ranks[r].group[level]}, static_cast<int>(r)).first->second);
  }
  if (!hosts.empty()) levels.emplace_back(hosts.begin(), hosts.end());
  return nest(p, std::move(levels));
}

}  // namespace colligo
