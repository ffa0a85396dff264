// SPDX-License-Identifier: BSL-1.0
// expect: colligo: the first argument is no communicator of the library
// lines: 12
#include <colligo/all_reduce.hpp>

double sum(MPI_Comm comm, double value) {
#ifdef COLLIGO_MUST_FAIL
  return colligo::all_reduce(comm, value, std::plus<>{});
#else
  return colligo::all_reduce(colligo::mpi_communicator(comm), value, std::plus<>{});
#endif
}
