// SPDX-License-Identifier: BSL-1.0
/// @file
/// COLLIGO_TRACE over MPI: one log per process, whatever communicators it uses. When MPI is finalised rank 0 collects
/// the logs and writes them.
#pragma once

#include <mpi.h>

#include <vector>

#include "../../messages/mpi_port.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Traces a communicator if rank 0's environment asks for it. Collective over comm. `hosts` as in port.hpp.
owner<observer> trace_mpi(MPI_Comm comm, run_list const& hosts);

/// Units that include this turn COLLIGO_TRACE on.
inline bool const mpi_is_followed = (follow_mpi = &trace_mpi, true);

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "mpi_trace_body.hpp"
#endif
