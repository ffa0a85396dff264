// SPDX-License-Identifier: BSL-1.0
// MPI's names: each call is served, or passed on to the MPI library by its other name.
#include "drop_in.hpp"

extern "C" {
#pragma GCC visibility push(default)

int MPI_Init(int* argc, char*** argv) {
  int const code = PMPI_Init(argc, argv);
  if (code == MPI_SUCCESS) drop_in::begin();
  return code;
}
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  int const code = PMPI_Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) drop_in::begin();
  return code;
}
int MPI_Finalize(void) {
  drop_in::end();
  return PMPI_Finalize();
}

// The functions with int counts, and with MPI_Count, of MPI 4.
#define FORMS_OF_ALL(suffix, count_t, address_t)                                                                      \
  int MPI_Allreduce##suffix(void const* in, void* out, count_t n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {      \
    SERVED(MPI_Allreduce##suffix(in, out, n, type, op, comm), all_reduce(in, out, n, type, op, comm));                \
  }                                                                                                                   \
  int MPI_Reduce##suffix(void const* in, void* out, count_t n, MPI_Datatype type, MPI_Op op, int root,                \
                         MPI_Comm comm) {                                                                             \
    SERVED(MPI_Reduce##suffix(in, out, n, type, op, root, comm), reduce(in, out, n, type, op, root, comm));           \
  }                                                                                                                   \
  int MPI_Scan##suffix(void const* in, void* out, count_t n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {           \
    SERVED(MPI_Scan##suffix(in, out, n, type, op, comm), scan(in, out, n, type, op, comm));                           \
  }                                                                                                                   \
  int MPI_Exscan##suffix(void const* in, void* out, count_t n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {         \
    SERVED(MPI_Exscan##suffix(in, out, n, type, op, comm), exclusive_scan(in, out, n, type, op, comm));               \
  }                                                                                                                   \
  int MPI_Reduce_scatter##suffix(void const* in, void* out, count_t const counts[], MPI_Datatype type, MPI_Op op,     \
                                 MPI_Comm comm) {                                                                     \
    SERVED(MPI_Reduce_scatter##suffix(in, out, counts, type, op, comm),                                               \
           reduce_scatter(in, out, counts, type, op, comm));                                                          \
  }                                                                                                                   \
  int MPI_Reduce_scatter_block##suffix(void const* in, void* out, count_t n, MPI_Datatype type, MPI_Op op,            \
                                       MPI_Comm comm) {                                                               \
    SERVED(MPI_Reduce_scatter_block##suffix(in, out, n, type, op, comm),                                              \
           reduce_scatter_block(in, out, n, type, op, comm));                                                         \
  }                                                                                                                   \
  int MPI_Bcast##suffix(void* both, count_t n, MPI_Datatype type, int root, MPI_Comm comm) {                          \
    SERVED(MPI_Bcast##suffix(both, n, type, root, comm), broadcast(both, n, type, root, comm));                       \
  }                                                                                                                   \
  int MPI_Allgather##suffix(void const* in, count_t n, MPI_Datatype type, void* out, count_t out_n,                   \
                            MPI_Datatype out_type, MPI_Comm comm) {                                                   \
    SERVED(MPI_Allgather##suffix(in, n, type, out, out_n, out_type, comm),                                            \
           all_gather({in, n, type}, {out, out_n, out_type}, comm));                                                  \
  }                                                                                                                   \
  int MPI_Allgatherv##suffix(void const* in, count_t n, MPI_Datatype type, void* out, count_t const counts[],         \
                             address_t const displs[], MPI_Datatype out_type, MPI_Comm comm) {                        \
    SERVED(MPI_Allgatherv##suffix(in, n, type, out, counts, displs, out_type, comm),                                  \
           all_gatherv({in, n, type}, {out, counts, displs, out_type}, comm));                                        \
  }                                                                                                                   \
  int MPI_Gather##suffix(void const* in, count_t n, MPI_Datatype type, void* out, count_t out_n,                      \
                         MPI_Datatype out_type, int root, MPI_Comm comm) {                                            \
    SERVED(MPI_Gather##suffix(in, n, type, out, out_n, out_type, root, comm),                                         \
           gather({in, n, type}, {out, out_n, out_type}, root, comm));                                                \
  }                                                                                                                   \
  int MPI_Gatherv##suffix(void const* in, count_t n, MPI_Datatype type, void* out, count_t const counts[],            \
                          address_t const displs[], MPI_Datatype out_type, int root, MPI_Comm comm) {                 \
    SERVED(MPI_Gatherv##suffix(in, n, type, out, counts, displs, out_type, root, comm),                               \
           gatherv({in, n, type}, {out, counts, displs, out_type}, root, comm));                                      \
  }                                                                                                                   \
  int MPI_Scatter##suffix(void const* in, count_t n, MPI_Datatype type, void* out, count_t out_n,                     \
                          MPI_Datatype out_type, int root, MPI_Comm comm) {                                           \
    SERVED(MPI_Scatter##suffix(in, n, type, out, out_n, out_type, root, comm),                                        \
           scatter({in, n, type}, {out, out_n, out_type}, root, comm));                                               \
  }                                                                                                                   \
  int MPI_Scatterv##suffix(void const* in, count_t const counts[], address_t const displs[], MPI_Datatype type,       \
                           void* out, count_t out_n, MPI_Datatype out_type, int root, MPI_Comm comm) {                \
    SERVED(MPI_Scatterv##suffix(in, counts, displs, type, out, out_n, out_type, root, comm),                          \
           scatterv({in, counts, displs, type}, {out, out_n, out_type}, root, comm));                                 \
  }                                                                                                                   \
  int MPI_Alltoall##suffix(void const* in, count_t n, MPI_Datatype type, void* out, count_t out_n,                    \
                           MPI_Datatype out_type, MPI_Comm comm) {                                                    \
    SERVED(MPI_Alltoall##suffix(in, n, type, out, out_n, out_type, comm),                                             \
           all_to_all({in, n, type}, {out, out_n, out_type}, comm));                                                  \
  }                                                                                                                   \
  int MPI_Alltoallv##suffix(void const* in, count_t const counts[], address_t const displs[], MPI_Datatype type,      \
                            void* out, count_t const out_counts[], address_t const out_displs[],                      \
                            MPI_Datatype out_type, MPI_Comm comm) {                                                   \
    SERVED(MPI_Alltoallv##suffix(in, counts, displs, type, out, out_counts, out_displs, out_type, comm),              \
           all_to_all_v({in, counts, displs, type}, {out, out_counts, out_displs, out_type}, comm));                  \
  }

FORMS_OF_ALL(, int, int)
int MPI_Barrier(MPI_Comm comm) { SERVED(MPI_Barrier(comm), barrier(comm)); }
#if MPI_VERSION >= 4
FORMS_OF_ALL(_c, MPI_Count, MPI_Aint)
#endif

#pragma GCC visibility pop
}
