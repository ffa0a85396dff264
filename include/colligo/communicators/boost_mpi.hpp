// SPDX-License-Identifier: BSL-1.0
/// @file
/// The main transport, boost::mpi::communicator. Steps run on its MPI_Comm as in mpi.hpp; elements that are not bytes
/// travel serialised. Functors that commute by boost::mpi::is_commutative do here too.
#pragma once

#include <boost/mpi/communicator.hpp>

#include <concepts>

#include "mpi.hpp"
#include "../transport/messages/serialised.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Accepts Cartesian and graph communicators too, but no intercommunicator, whose ranks are in two groups.
template <std::derived_from<boost::mpi::communicator> Comm>
  requires(!std::derived_from<Comm, boost::mpi::intercommunicator>)
struct state_of<Comm> : detail::over_mpi {
  static detail::endpoint& open(boost::mpi::communicator const& comm) {
    if (!comm)
      throw argument_error("colligo: the communicator is empty (a boost::mpi::communicator that holds MPI_COMM_NULL): "
                           "this rank is not in it, and makes no call");
    return detail::mpi_endpoint(comm);
  }
};

}  // namespace colligo
