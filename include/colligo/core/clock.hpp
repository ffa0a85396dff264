// SPDX-License-Identifier: BSL-1.0
/// @file
/// The time, without the header chrono, whose calendar costs every unit a twentieth of a second.
#pragma once

#include <time.h>

#include <cstdint>

#include "mode.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

inline constexpr std::int64_t ns_per_ms = 1'000'000;

/// Nanoseconds of the clock behind std::chrono::steady_clock.
inline std::int64_t now_in_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * (1000 * ns_per_ms) + now.tv_nsec;
}
inline double seconds_since(std::int64_t began) { return static_cast<double>(now_in_ns() - began) * 1e-9; }

}  // namespace colligo
