// SPDX-License-Identifier: BSL-1.0
/// @file
/// Which caches, nodes and sockets the cores of a process share with others, as the system says.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core_set.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Innermost first: the hardware threads of a core, a last-level cache, a NUMA node, a die, a socket.
inline constexpr std::size_t domain_levels = 5;

/// The group of a process on each level, named by the lowest core of the group. Unknown if the system does not say, or
/// if the process may run on cores of several groups.
struct core_domains {
  static constexpr std::int32_t unknown = -1;
  std::array<std::int32_t, domain_levels> group{unknown, unknown, unknown, unknown, unknown};
};

/// The domains of a process that may run on these cores. `root`: the folder that contains /sys.
core_domains domains_of(core_set const& cores, std::string const& root = "");
/// Those of this process, by its affinity at the first call.
core_domains const& domains_of_process();

/// Numbers each rank's group on a level, differently on different hosts; empty if a rank's group is unknown. `hosts`:
/// the lowest rank of each rank's host; domains_of(rank). Allocates nothing if the capacity of `groups` is enough.
template <class DomainsOf>
void fill_groups(std::vector<int>& groups, std::size_t level, std::size_t ranks, std::vector<int> const& hosts,
                 DomainsOf const& domains_of) {
  groups.clear();
  for (int count = 0; groups.size() < ranks;) {
    std::size_t const r = groups.size(), lowest = hosts.empty() ? 0 : static_cast<std::size_t>(hosts[r]);
    std::int32_t const core = domains_of(r).group[level];
    if (core == core_domains::unknown) return groups.clear();
    constexpr int most = core_set::most;
    int const host = lowest == r ? count++ : groups[lowest] / most;
    groups.push_back(host * most + core);
  }
}

/// Reads a list of cores, "0-3,8"; empty if the text is invalid.
core_set cores_in(std::string_view list);

/// Slurm's list of tasks per node, "16(x2),8": those of the node with this number, from 0 on; 0 if a text is invalid.
int tasks_on_node(std::string_view tasks, std::string_view node);

/// Reads numbers above 0, at least one, "4x16x2"; empty if the text is invalid.
std::vector<int> sizes_in(std::string_view text);

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "core_domains_body.hpp"
#endif
