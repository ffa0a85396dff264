// SPDX-License-Identifier: BSL-1.0
/// @file
/// tracing: logs this rank's calls over a communicator for a while. COLLIGO_TRACE=file.json or file.svg: logs every
/// call of a program that includes this in one unit.
#pragma once

#include <utility>

#include "../transport/threads/thread_state.hpp"
#include "trace_file.hpp"
#if __has_include(<mpi.h>)
#include "../transport/messages/mpi_state.hpp"
#endif

namespace colligo::inline COLLIGO_MODE {

/// While it lives, this rank's calls over comm are logged in `log`, which nothing else uses: gather the logs and pass
/// them to write_chrome_trace or write_timeline. Preconditions: comm and log outlive it; no call is in progress.
template <communicator Comm>
class tracing {
 public:
  tracing(Comm const& comm, trace_log& log)
      : now_(detail::state_at(state_of<Comm>::open(comm)).trace),
        before_(std::exchange(now_, detail::make_owner<tracer>(log))) {}
  ~tracing() { now_ = std::move(before_); }
  tracing(tracing const&) = delete;
  tracing& operator=(tracing const&) = delete;

 private:
  detail::owner<detail::observer>& now_;
  detail::owner<detail::observer> before_;
};

namespace detail {

/// Ranks that are threads write a file for each group, trace.json, trace.2.json ...
owner<trace_of_threads> trace_threads(int p);
inline bool const threads_are_followed = (follow_threads = &trace_threads, true);

#if __has_include(<mpi.h>)
/// Traces a communicator if rank 0's environment asks for it. Collective over comm. `hosts` as in
/// communicator_state.hpp.
owner<observer> trace_mpi(MPI_Comm comm, run_list const& hosts);
inline bool const mpi_is_followed = (follow_mpi = &trace_mpi, true);
#endif

}  // namespace detail
}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "traced_program_body.hpp"
#if __has_include(<mpi.h>)
#include "mpi_trace_body.hpp"
#endif
#endif
