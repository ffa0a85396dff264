// SPDX-License-Identifier: BSL-1.0
/// @file
/// How long the cache lines of this machine are, where the processor alone does not say it.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>

#include "../core/element.hpp"
#include "../core/strings.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Bytes of the longest line of the first core's caches, as the system says: a power of two from cache_line to
/// longest_line. `root`: the folder that contains /sys.
std::size_t cache_line_found(std::string const& root = "");

/// Tests say what machine a rank is on; 0: they do not.
inline std::size_t cache_line_told = 0;

/// Bytes of a line of this machine. The first call may read files.
std::size_t cache_line_of_machine();

#if COLLIGO_HAS_BODIES
// Some processors have longer lines in an outer cache than in the inner ones. Without these files, as in some
// containers, the C library may ask the processor.
[[gnu::cold]] COLLIGO_BODY std::size_t cache_line_found(std::string const& root) {
  std::size_t longest = cache_line;
  for (int cache = 0; cache < 4; ++cache) {
    std::string const file = concat({root, "/sys/devices/system/cpu/cpu0/cache/index", cache, "/coherency_line_size"});
    std::string const text = read_file(file.c_str(), 16).text;
    std::string_view digits = text;
    longest = std::max(longest, digits_in(digits).value_or(0));
  }
#if defined(_SC_LEVEL1_DCACHE_LINESIZE)
  if (root.empty())
    longest = std::max(longest, static_cast<std::size_t>(std::max(0L, sysconf(_SC_LEVEL1_DCACHE_LINESIZE))));
#endif
  return std::min(std::bit_ceil(longest), longest_line);
}

[[gnu::cold]] COLLIGO_BODY std::size_t cache_line_of_machine() {
  if constexpr (!line_is_found) return cache_line;
  static std::size_t const found = cache_line_found();
  return cache_line_told != 0 ? cache_line_told : found;
}
#endif

}  // namespace colligo
