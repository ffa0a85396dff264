// SPDX-License-Identifier: BSL-1.0
/// @file
/// Which cores share what with those that a process may run on, as the system says it.
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

/// The group of a process on each level, as the lowest core there. Unknown where the system does not say, or where it
/// may run on cores of several groups.
struct core_domains {
  static constexpr std::int32_t unknown = -1;
  std::array<std::int32_t, domain_levels> group{unknown, unknown, unknown, unknown, unknown};
};

/// Of a process that may run on these cores. `root`: of the system's folders.
core_domains domains_of(cpu_set_t const& cores, std::string const& root = "");
/// Of this process, when it was first asked for.
core_domains const& domains_of_process();

/// "0-3,8": cores; empty where it is nothing of the kind.
cpu_set_t cores_in(std::string_view list);

/// "4x16x2": numbers above 0, at least one; empty: it is nothing of the kind.
std::vector<int> sizes_in(std::string_view text);

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "core_domains_body.hpp"
#endif
