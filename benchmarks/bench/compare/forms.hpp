// SPDX-License-Identifier: BSL-1.0
/// @file
/// A collective's three forms: blocking, started, made once. Their arguments are the same, so a definition writes them
/// once, behind all three.
#pragma once

#include <mpi.h>

#include <string_view>
#include <utility>

#include "../agreed_error.hpp"

namespace bench {

enum class mode { blocking, nonblocking, persistent };

inline constexpr std::string_view mode_names[]{"blocking", "nonblocking", "persistent"};
constexpr std::string_view name_of(mode m) { return mode_names[static_cast<int>(m)]; }

inline mode mode_named(std::string_view name) {
  for (auto const m : {mode::blocking, mode::nonblocking, mode::persistent})
    if (name_of(m) == name) return m;
  throw agreed_error("--mode: known are: blocking, nonblocking, persistent");
}

/// The library's, as three functions that forward what they are given.
#define BENCH_COLLIGO(name)                                                           \
  [](auto&&... all) { colligo::name(std::forward<decltype(all)>(all)...); },            \
      [](auto&&... all) { return colligo::i##name(std::forward<decltype(all)>(all)...); }, \
      [](auto&&... all) { return colligo::name##_init(std::forward<decltype(all)>(all)...); }

/// MPI's. The third came with MPI 4.
#if MPI_VERSION >= 4
#define BENCH_MPI(name, i_name) MPI_##name, MPI_I##i_name, MPI_##name##_init
inline constexpr bool mpi_has_persistent = true;
#else
#define BENCH_MPI(name, i_name) MPI_##name, MPI_I##i_name, nullptr
inline constexpr bool mpi_has_persistent = false;
#endif

/// What is timed, as a message.
inline std::string_view describe(mode m) {
  using enum mode;
  if (m == nonblocking) return "nonblocking: a call is started and waited for, mpi is MPI_I... and MPI_Wait";
  if (m == persistent && mpi_has_persistent)
    return "persistent: made once per input, a call is a start and a wait, mpi is MPI_Start and MPI_Wait";
  if (m == persistent)
    return "persistent: made once per input, a call is a start and a wait, mpi is MPI_I... and MPI_Wait, as it has no "
           "persistent collectives";
  return "blocking";
}

}  // namespace bench
