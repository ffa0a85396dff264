// SPDX-License-Identifier: BSL-1.0
/// @file
/// COLLIGO_TRACE=file.json or file.svg traces every call of a program. This header is for ranks that are threads,
/// mpi_trace.hpp for MPI.
#pragma once

#include "../../threads/thread_port.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// A file for each group of ranks, trace.json, trace.2.json ...
owner<trace_of_threads> trace_threads(int p);

/// Units that include this turn COLLIGO_TRACE on.
inline bool const threads_are_followed = (follow_threads = &trace_threads, true);

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "traced_program_body.hpp"
#endif
