// SPDX-License-Identifier: BSL-1.0
#include <mpi.h>

#include <colligo/all_reduce.hpp>

#include <functional>
#include <iostream>

#if !defined(COLLIGO_WITHOUT_BOOST_MPI) || defined(BOOST_MPI_CONFIG_HPP)
#error "Boost.MPI was not asked for"
#endif
#if COLLIGO_VERSION < 100
#error "the header's version is not that of this library"
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  colligo::mpi_communicator const world(MPI_COMM_WORLD);
  int const ranks = colligo::all_reduce(world, 1, std::plus<>{});
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::cout << "sum over " << ranks << " ranks\n";
  MPI_Finalize();
}
