/* SPDX-License-Identifier: BSL-1.0
 * The MPI library's own collectives, own_Allreduce ...: of both of their names the library before MPI has its own. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define COLLECTIVES(F)                                                                                                \
  F(Allgather) F(Allgatherv) F(Allreduce) F(Alltoall) F(Alltoallv) F(Bcast) F(Exscan) F(Gather) F(Gatherv) F(Reduce)  \
  F(Reduce_scatter) F(Reduce_scatter_block) F(Scan) F(Scatter) F(Scatterv)
#define DECLARED(name) static __typeof__(MPI_##name)* own_##name;
COLLECTIVES(DECLARED)

static void* own_function(char const* name) {
#if defined(OPEN_MPI)
  void* const mpi = dlopen("libmpi.so.40", RTLD_LAZY);
#elif defined(MPI_ABI_VERSION)
  void* const mpi = dlopen("libmpi_abi.so.1", RTLD_LAZY);
#else
  void* const mpi = dlopen("libmpich.so.12", RTLD_LAZY);
#endif
  void* const found = mpi ? dlsym(mpi, name) : NULL;
  if (!found) fprintf(stderr, "the MPI library has no %s\n", name), exit(1);
  return found;
}
static void find_own_mpi(void) {
#define FOUND(name) own_##name = (__typeof__(own_##name))own_function("PMPI_" #name);
  COLLECTIVES(FOUND)
}
