// SPDX-License-Identifier: BSL-1.0
/// @file
/// tracing: logs this rank's calls over a communicator for a while. For whole programs, set COLLIGO_TRACE=file.json or
/// file.svg instead.
#pragma once

#include <utility>

#include "../../engine/port.hpp"
#include "trace_file.hpp"
#include "traced_program.hpp"
#if __has_include(<mpi.h>)
#include "mpi_trace.hpp"
#endif

namespace colligo::inline COLLIGO_MODE {

/// While it lives, this rank's calls over comm are logged in `log`, which nothing else uses: gather the logs and pass
/// them to write_chrome_trace or write_timeline. Preconditions: comm and log outlive it; no call is in progress.
template <communicator Comm>
class tracing {
 public:
  tracing(Comm const& comm, trace_log& log)
      : now_(detail::port_at(port_of<Comm>::open(comm)).trace),
        before_(std::exchange(now_, detail::make_owner<tracer>(log))) {}
  ~tracing() { now_ = std::move(before_); }
  tracing(tracing const&) = delete;
  tracing& operator=(tracing const&) = delete;

 private:
  detail::owner<detail::observer>& now_;
  detail::owner<detail::observer> before_;
};

}  // namespace colligo
