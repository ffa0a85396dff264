// SPDX-License-Identifier: BSL-1.0
/// @file
/// Which caches, nodes and sockets a process's cores share with others, from the system.
#pragma once

#include <sched.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../core/mode.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// From the innermost on: hardware threads of a core, a last-level cache, a NUMA node, a die, a socket.
inline constexpr std::size_t domain_levels = 5;

/// The group of a process on each level, as the lowest core there. Unknown if the system does not say, or if the
/// process may run on cores of several groups.
struct core_domains {
  static constexpr std::int32_t unknown = -1;
  std::array<std::int32_t, domain_levels> group{unknown, unknown, unknown, unknown, unknown};
};

/// For a process that may run on these cores. `root`: of the system's folders.
core_domains domains_of(cpu_set_t const& cores, std::string const& root = "");
/// For this process, at the time of the first call.
core_domains const& domains_of_process();

/// Fills in the group of each rank on a level, as any number that no group of another host has; none if some rank does
/// not know. `hosts` as in port.hpp; domains_of(rank). Allocates nothing if the capacity of `groups` is enough.
template <class DomainsOf>
void fill_groups(std::vector<int>& groups, std::size_t level, std::size_t ranks, std::vector<int> const& hosts,
                 DomainsOf const& domains_of) {
  groups.clear();
  for (int count = 0; groups.size() < ranks;) {
    std::size_t const r = groups.size(), lowest = hosts.empty() ? 0 : static_cast<std::size_t>(hosts[r]);
    std::int32_t const its = domains_of(r).group[level];
    if (its == core_domains::unknown) return groups.clear();
    int const host = lowest == r ? count++ : groups[lowest] / CPU_SETSIZE;
    groups.push_back(host * CPU_SETSIZE + its);
  }
}

/// Reads cores, "0-3,8"; empty if the text is invalid.
cpu_set_t cores_in(std::string_view list);

/// Reads numbers above 0, at least one, "4x16x2"; empty if the text is invalid.
std::vector<int> sizes_in(std::string_view text);

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "core_domains_body.hpp"
#endif
