// SPDX-License-Identifier: BSL-1.0
// Hosts that are none: with COLLIGO_TEST_RANKS_PER_HOST=2 every two ranks are on a host of their own, so that some of
// the ranks that wait for each other share memory and some do not.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

extern "C" int MPI_Get_processor_name(char* name, int* length) {
  int const code = PMPI_Get_processor_name(name, length);
  char const* const text = std::getenv("COLLIGO_TEST_RANKS_PER_HOST");
  if (code != MPI_SUCCESS || !text) return code;
  int const each = std::atoi(text);
  if (each < 1) {
    std::fprintf(stderr, "COLLIGO_TEST_RANKS_PER_HOST=%s: a number from 1 on is expected\n", text);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  *length = std::snprintf(name, MPI_MAX_PROCESSOR_NAME, "emulated%d", rank / each);
  return code;
}
