// SPDX-License-Identifier: BSL-1.0
/// @file
/// Errors of MPI calls as exceptions.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>

#include "../../core/error.hpp"
#include "../../core/strings.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Throws mpi_error with MPI's error string unless the call succeeded.
[[noreturn, gnu::noinline, gnu::cold]] inline void throw_mpi(int code, char const* call) {
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0, rank = -1;
  MPI_Error_string(code, text.data(), &length);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  text.resize(static_cast<std::size_t>(length));
  throw mpi_error(concat({call, " failed on rank ", rank, " of MPI_COMM_WORLD: ", text}), code);
}
inline void check_mpi(int code, char const* call) {
  if (code != MPI_SUCCESS) throw_mpi(code, call);
}

/// Throws before MPI_Init and after MPI_Finalize, where MPI would end the program.
inline void require_mpi() {
  int yes = 0;
  MPI_Initialized(&yes);
  if (!yes) throw error("colligo: MPI is not initialised (make a boost::mpi::environment or call MPI_Init first)");
  MPI_Finalized(&yes);
  if (yes) throw error("colligo: MPI has been finalised: no collective can be called any more");
}

}  // namespace colligo
