// SPDX-License-Identifier: BSL-1.0
/// @file
/// Groups of ranks as numbers, one for each rank.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "../core/mode.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Sorts `all` by number[each], stably (counting sort). Returns where each of the `count` numbers begins, and the end.
std::vector<int> sort_by(std::span<int const> number, int count, std::vector<int>& all);
/// Replaces group numbers: each rank gets the lowest rank of its group.
std::vector<int> by_lowest(std::span<int const> numbers);

/// Numbers each rank's group, differently on different hosts; empty if a rank's group is unknown. `hosts`: the lowest
/// rank of each rank's host, empty if all are on one; group_on_host(rank): below `most`, negative if it is unknown.
/// Allocates nothing if the capacity of `groups` is enough.
template <class GroupOnHost>
void number_groups(std::vector<int>& groups, std::size_t ranks, std::vector<int> const& hosts, int most,
                   GroupOnHost const& group_on_host) {
  groups.clear();
  for (int count = 0; groups.size() < ranks;) {
    std::size_t const r = groups.size(), lowest = hosts.empty() ? 0 : static_cast<std::size_t>(hosts[r]);
    int const here = group_on_host(r);
    if (here < 0) return groups.clear();
    int const host = lowest == r ? count++ : groups[lowest] / most;
    groups.push_back(host * most + here);
  }
}

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "group_numbers_body.hpp"
#endif
