// SPDX-License-Identifier: BSL-1.0
/// @file
/// The levels of a communicator's ranks, from their reports on their cores.
#pragma once

#include <span>
#include <utility>

#include "../core/run_list.hpp"
#include "../shape/nest.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Of p ranks; without the levels that one of them does not know. `hosts`: of each rank; empty: all are on one.
[[gnu::cold]] inline nest nest_of_domains(int p, std::span<run_list const> domains, run_list const& hosts) {
  row_of_lists levels;
  row<distance> far;
  for (std::size_t level = 0; level < domains.size(); ++level) {
    if (domains[level].empty()) continue;
    far.push_back(level < 2 ? distance::cache : distance::socket);
    levels.add(domains[level].list());
  }
  if (!hosts.empty()) levels.add(hosts.list()), far.push_back(distance::host);
  far.push_back(hosts.empty() ? distance::host : distance::network);
  return nest::of_lists(p, levels, std::move(far));
}

}  // namespace colligo
