// SPDX-License-Identifier: BSL-1.0
/// @file
/// Every MPI call is checked here.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>

#include "../core/error.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Throws mpi_error with MPI's own words unless the call succeeded.
[[noreturn, gnu::noinline, gnu::cold]] inline void throw_mpi(int code, char const* call) {
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0, rank = -1;
  MPI_Error_string(code, text.data(), &length);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  text.resize(static_cast<std::size_t>(length));
  throw mpi_error(std::string(call) + " failed on rank " + std::to_string(rank) + " of MPI_COMM_WORLD: " + text, code);
}
inline void check_mpi(int code, char const* call) {
  if (code != MPI_SUCCESS) throw_mpi(code, call);
}

}  // namespace colligo
