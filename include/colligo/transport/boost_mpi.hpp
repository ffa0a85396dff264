// SPDX-License-Identifier: BSL-1.0
/// @file
/// The main transport, boost::mpi::communicator. Steps run on its MPI_Comm as in mpi.hpp; elements that are not bytes
/// travel serialised; functors that Boost.MPI has been told to be commutative are.
#pragma once

#include <boost/mpi/communicator.hpp>

#include "mpi.hpp"
#include "serialised.hpp"

namespace colligo::inline COLLIGO_MODE {

template <>
struct port_of<boost::mpi::communicator> : detail::over_mpi {
  static detail::endpoint& open(boost::mpi::communicator const& comm) {
    if (!comm)
      throw argument_error("colligo: the communicator is empty (a boost::mpi::communicator that holds MPI_COMM_NULL)");
    return detail::mpi_endpoint(comm);
  }
};

}  // namespace colligo
