// SPDX-License-Identifier: BSL-1.0
/// @file
/// From an MPI_Comm to its state.
#pragma once

#include <mpi.h>

#include <atomic>

#include "../../engine/call.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The number of states freed so far: it invalidates `latest`, because MPI may reuse a freed communicator's handle.
inline std::atomic<unsigned> mpi_states_freed = 0;
/// How many more states of several ranks may be made: each takes a communicator, of which MPI may have few.
inline std::atomic<int> mpi_states_left = 1 << 30;
endpoint& look_up_mpi_state(MPI_Comm user, unsigned& freed);   // lowers `freed` if the state may not be kept

/// The state of a communicator. Made on first use, which is collective.
inline endpoint& mpi_endpoint(MPI_Comm user) {
  static thread_local struct { MPI_Comm comm; endpoint* state; unsigned freed; } latest{};   // zeros: no guard to pass
  unsigned freed = mpi_states_freed.load(std::memory_order_acquire);
  if (latest.state == nullptr || latest.comm != user || latest.freed != freed)
    latest = {user, &look_up_mpi_state(user, freed), freed};
  return *latest.state;
}

}  // namespace colligo
