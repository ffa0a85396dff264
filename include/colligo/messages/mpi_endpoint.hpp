// SPDX-License-Identifier: BSL-1.0
/// @file
/// From an MPI_Comm to its port.
#pragma once

#include <mpi.h>

#include <atomic>

#include "../engine/call.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The number of ports freed so far: it invalidates `latest`, because MPI may reuse a freed communicator's handle.
inline std::atomic<unsigned> mpi_ports_freed = 0;
endpoint& look_up_mpi_port(MPI_Comm user);

/// The port of a communicator. Made on first use, which is collective.
inline endpoint& mpi_endpoint(MPI_Comm user) {
  static thread_local struct { MPI_Comm comm; endpoint* port; unsigned freed; } latest{};   // zeros: no guard to pass
  unsigned const freed = mpi_ports_freed.load(std::memory_order_acquire);
  if (latest.port == nullptr || latest.comm != user || latest.freed != freed)
    latest = {user, &look_up_mpi_port(user), freed};
  return *latest.port;
}

}  // namespace colligo
