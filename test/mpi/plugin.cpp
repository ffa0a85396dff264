// SPDX-License-Identifier: BSL-1.0
// A plugin that has the library inside.
#include <mpi.h>

#include <colligo/all_reduce.hpp>

extern "C" [[gnu::visibility("default")]] int ranks_of_world() {
  return colligo::all_reduce(colligo::mpi_communicator(MPI_COMM_WORLD), 1, [](int a, int b) { return a + b; });
}
