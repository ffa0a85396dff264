// SPDX-License-Identifier: BSL-1.0
// Every collective of the family, once: what has a function for each of them is a macro F(name, its name in small
// letters, suffix, collective, parameters, arguments, how it is served). Counts are int, or MPI_Count in the functions
// _c of MPI 4.
#pragma once

#include <mpi.h>

#define COLLECTIVES(F, suffix, count_t, address_t)                                                                    \
  F(Allreduce, allreduce, suffix, all_reduce,                                                                         \
    (void const* in, void* out, count_t n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),                              \
    (in, out, n, type, op, comm), all_reduce(in, out, n, type, op, comm))                                             \
  F(Reduce, reduce, suffix, reduce,                                                                                   \
    (void const* in, void* out, count_t n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),                    \
    (in, out, n, type, op, root, comm), reduce(in, out, n, type, op, root, comm))                                     \
  F(Scan, scan, suffix, scan, (void const* in, void* out, count_t n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),    \
    (in, out, n, type, op, comm), scan(in, out, n, type, op, comm))                                                   \
  F(Exscan, exscan, suffix, exclusive_scan,                                                                           \
    (void const* in, void* out, count_t n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),                              \
    (in, out, n, type, op, comm), exclusive_scan(in, out, n, type, op, comm))                                         \
  F(Reduce_scatter, reduce_scatter, suffix, reduce_scatter,                                                           \
    (void const* in, void* out, count_t const counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),                 \
    (in, out, counts, type, op, comm), reduce_scatter(in, out, counts, type, op, comm))                               \
  F(Reduce_scatter_block, reduce_scatter_block, suffix, reduce_scatter_block,                                         \
    (void const* in, void* out, count_t n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),                              \
    (in, out, n, type, op, comm), reduce_scatter_block(in, out, n, type, op, comm))                                   \
  F(Bcast, bcast, suffix, broadcast, (void* both, count_t n, MPI_Datatype type, int root, MPI_Comm comm),             \
    (both, n, type, root, comm), broadcast(both, n, type, root, comm))                                                \
  F(Allgather, allgather, suffix, all_gather,                                                                         \
    (void const* in, count_t n, MPI_Datatype type, void* out, count_t out_n, MPI_Datatype out_type, MPI_Comm comm),   \
    (in, n, type, out, out_n, out_type, comm), all_gather({in, n, type}, {out, out_n, out_type}, comm))               \
  F(Allgatherv, allgatherv, suffix, all_gatherv,                                                                      \
    (void const* in, count_t n, MPI_Datatype type, void* out, count_t const counts[], address_t const displs[],       \
     MPI_Datatype out_type, MPI_Comm comm),                                                                           \
    (in, n, type, out, counts, displs, out_type, comm),                                                               \
    all_gatherv({in, n, type}, {out, counts, displs, out_type}, comm))                                                \
  F(Gather, gather, suffix, gather,                                                                                   \
    (void const* in, count_t n, MPI_Datatype type, void* out, count_t out_n, MPI_Datatype out_type, int root,         \
     MPI_Comm comm),                                                                                                  \
    (in, n, type, out, out_n, out_type, root, comm), gather({in, n, type}, {out, out_n, out_type}, root, comm))       \
  F(Gatherv, gatherv, suffix, gatherv,                                                                                \
    (void const* in, count_t n, MPI_Datatype type, void* out, count_t const counts[], address_t const displs[],       \
     MPI_Datatype out_type, int root, MPI_Comm comm),                                                                 \
    (in, n, type, out, counts, displs, out_type, root, comm),                                                         \
    gatherv({in, n, type}, {out, counts, displs, out_type}, root, comm))                                              \
  F(Scatter, scatter, suffix, scatter,                                                                                \
    (void const* in, count_t n, MPI_Datatype type, void* out, count_t out_n, MPI_Datatype out_type, int root,         \
     MPI_Comm comm),                                                                                                  \
    (in, n, type, out, out_n, out_type, root, comm), scatter({in, n, type}, {out, out_n, out_type}, root, comm))      \
  F(Scatterv, scatterv, suffix, scatterv,                                                                             \
    (void const* in, count_t const counts[], address_t const displs[], MPI_Datatype type, void* out, count_t out_n,   \
     MPI_Datatype out_type, int root, MPI_Comm comm),                                                                 \
    (in, counts, displs, type, out, out_n, out_type, root, comm),                                                     \
    scatterv({in, counts, displs, type}, {out, out_n, out_type}, root, comm))                                         \
  F(Alltoall, alltoall, suffix, all_to_all,                                                                           \
    (void const* in, count_t n, MPI_Datatype type, void* out, count_t out_n, MPI_Datatype out_type, MPI_Comm comm),   \
    (in, n, type, out, out_n, out_type, comm), all_to_all({in, n, type}, {out, out_n, out_type}, comm))               \
  F(Alltoallv, alltoallv, suffix, all_to_all_v,                                                                       \
    (void const* in, count_t const counts[], address_t const displs[], MPI_Datatype type, void* out,                  \
     count_t const out_counts[], address_t const out_displs[], MPI_Datatype out_type, MPI_Comm comm),                 \
    (in, counts, displs, type, out, out_counts, out_displs, out_type, comm),                                          \
    all_to_all_v({in, counts, displs, type}, {out, out_counts, out_displs, out_type}, comm))
#define BARRIER(F) F(Barrier, barrier, , barrier, (MPI_Comm comm), (comm), barrier(comm))

// Their functions: FUNCTION(name, parameters, arguments, body) for each blocking one, request and persistent request.
#define LISTED(...) __VA_ARGS__
#define BLOCKING(name, small, suffix, what, parameters, arguments, ...) \
  FUNCTION(MPI_##name##suffix, parameters, arguments, SERVED(nullptr, MPI_##name##suffix arguments, __VA_ARGS__))
#define REQUEST(name, small, suffix, what, parameters, arguments, ...)                                    \
  FUNCTION(MPI_I##small##suffix, (LISTED parameters, MPI_Request* request), (LISTED arguments, request),  \
           SERVED(request, MPI_I##small##suffix(LISTED arguments, request), __VA_ARGS__))
#define PERSISTENT(name, small, suffix, what, parameters, arguments, ...)                       \
  FUNCTION(MPI_##name##_init##suffix, (LISTED parameters, MPI_Info info, MPI_Request* request), \
           (LISTED arguments, info, request),                                                   \
           NOT_SERVED(what, MPI_##name##_init##suffix(LISTED arguments, info, request)))
#define FUNCTIONS_OF_MPI_3 \
  BARRIER(BLOCKING) BARRIER(REQUEST) COLLECTIVES(BLOCKING, , int, int) COLLECTIVES(REQUEST, , int, int)
#if MPI_VERSION < 4
#define FUNCTIONS FUNCTIONS_OF_MPI_3
#else
#define FUNCTIONS                                                                                     \
  FUNCTIONS_OF_MPI_3 BARRIER(PERSISTENT) COLLECTIVES(PERSISTENT, , int, int)                          \
  COLLECTIVES(BLOCKING, _c, MPI_Count, MPI_Aint) COLLECTIVES(REQUEST, _c, MPI_Count, MPI_Aint)        \
  COLLECTIVES(PERSISTENT, _c, MPI_Count, MPI_Aint)
#endif
