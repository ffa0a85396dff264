/* SPDX-License-Identifier: BSL-1.0
 * A tool as others are: it counts a program's calls by MPI's names, and calls the functions by their other names. What
 * the library before MPI sends itself would be among them if it had not other names too. */
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int all_reduces, gathers, requests, splits, others;

#define COUNT(name, counter, parameters, ...) \
  int MPI_##name parameters {                 \
    ++counter;                                \
    return PMPI_##name(__VA_ARGS__);          \
  }
COUNT(Allreduce, all_reduces, (void const* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm), in, out,
      n, type, op, comm)
COUNT(Gather, gathers, (void const* in, int n, MPI_Datatype type, void* out, int out_n, MPI_Datatype out_type, int root,
                        MPI_Comm comm), in, n, type, out, out_n, out_type, root, comm)
COUNT(Ibarrier, requests, (MPI_Comm comm, MPI_Request* request), comm, request)
COUNT(Comm_split, splits, (MPI_Comm comm, int color, int key, MPI_Comm* made), comm, color, key, made)
/* What the library uses on the way. */
COUNT(Bcast, others, (void* both, int n, MPI_Datatype type, int root, MPI_Comm comm), both, n, type, root, comm)
COUNT(Barrier, others, (MPI_Comm comm), comm)
COUNT(Allgather, others, (void const* in, int n, MPI_Datatype type, void* out, int out_n, MPI_Datatype out_type,
                          MPI_Comm comm), in, n, type, out, out_n, out_type, comm)
COUNT(Send, others, (void const* in, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm), in, n, type, to, tag,
      comm)
COUNT(Isend, others, (void const* in, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* made), in,
      n, type, to, tag, comm, made)
COUNT(Recv, others, (void* out, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status), out, n,
      type, from, tag, comm, status)
COUNT(Irecv, others, (void* out, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* made), out, n,
      type, from, tag, comm, made)
COUNT(Sendrecv, others, (void const* in, int n, MPI_Datatype type, int to, int tag, void* out, int out_n,
                         MPI_Datatype out_type, int from, int out_tag, MPI_Comm comm, MPI_Status* status), in, n, type,
      to, tag, out, out_n, out_type, from, out_tag, comm, status)
COUNT(Iprobe, others, (int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status), from, tag, comm, flag, status)
COUNT(Comm_create, others, (MPI_Comm comm, MPI_Group ranks, MPI_Comm* made), comm, ranks, made)
COUNT(Testall, others, (int n, MPI_Request* all, int* flag, MPI_Status* statuses), n, all, flag, statuses)

__attribute__((destructor)) static void print(void) {
  fprintf(stderr, "tool: %d all_reduce, %d gather, %d request, %d split, %d others\n", all_reduces, gathers, requests,
          splits, others);
}
