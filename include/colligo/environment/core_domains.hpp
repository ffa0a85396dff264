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

/// Reads cores, "0-3,8"; empty if the text is invalid.
cpu_set_t cores_in(std::string_view list);

/// Reads numbers above 0, at least one, "4x16x2"; empty if the text is invalid.
std::vector<int> sizes_in(std::string_view text);

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "core_domains_body.hpp"
#endif
