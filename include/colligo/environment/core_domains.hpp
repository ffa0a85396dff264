// SPDX-License-Identifier: BSL-1.0
/// @file
/// Which caches, nodes and sockets the cores of a process share with others, as the system says.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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

/// Reads a list of cores, "0-3,8"; empty if the text is invalid.
core_set cores_in(std::string_view list);

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "core_domains_body.hpp"
#endif
