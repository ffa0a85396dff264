// SPDX-License-Identifier: BSL-1.0
/// @file
/// How long the cache lines of this machine are, where the processor alone does not say it.
#pragma once

#include <cstddef>
#include <string>

#include "../core/element.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Bytes of the longest line of the first core's caches, as the system says: a power of two from cache_line to
/// longest_line. `root`: the folder that contains /sys.
std::size_t cache_line_found(std::string const& root = "");

/// Tests say what machine a rank is on; 0: they do not.
inline std::size_t cache_line_told = 0;

/// Bytes of a line of this machine. The first call may read files.
std::size_t cache_line_of_machine();

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "cache_line_body.hpp"
#endif
