/* SPDX-License-Identifier: BSL-1.0 */
/** @file
 * The C interface of the compiled library: every collective over elements that are described at run time. From C++ use
 * <colligo/bytes.hpp>, from Fortran the module colligo (colligo.f90 beside this header).
 *
 * Every function returns an error code; colligo_error_text() says more. All calls of collectives are collective over
 * comm, which is no intercommunicator. Counts and displacements are numbers of elements. `algorithm` is the name of an
 * algorithm with its knobs ("ring", "pipelined_ring:block=64k", "ring@messages"), or NULL: the library chooses, and
 * environment variables (COLLIGO_ALL_REDUCE=ring ...) are followed.
 *
 * Each collective has three forms: colligo_NAME is complete when it returns; colligo_iNAME starts a request, and
 * colligo_NAME_init makes a persistent one, which is not started; both have the request as last argument. Vectors and
 * the element's context have to live until a request is complete, counts and displacements until it is made.
 */
#ifndef COLLIGO_H
#define COLLIGO_H

#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum colligo_code {
  COLLIGO_SUCCESS = 0,
  COLLIGO_ERROR = 1,             /* none of the following */
  COLLIGO_ARGUMENT = 2,          /* a negative count, a root out of range, vectors that overlap, a bad description */
  COLLIGO_ALGORITHM = 3,         /* unknown for this collective, or must not be used with this element */
  COLLIGO_MPI = 4,               /* the MPI library reported a failure */
  COLLIGO_MISMATCH = 5,          /* the ranks make different calls */
  COLLIGO_FAILED_ELSEWHERE = 6,  /* the call has failed on another rank */
  COLLIGO_RANK_LOST = 7,         /* a rank that this one waits for is gone */
  COLLIGO_STALLED = 8,           /* waited as long as COLLIGO_PATIENCE=...,throw allows */
  COLLIGO_NO_MEMORY = 9
};
/** What this thread's latest call that failed says of it. Valid until the next one fails. Never NULL. */
char const* colligo_error_text(void);

/** into[i] = left[i] op right[i] for n elements; `left` comes from lower ranks. `into` may be left or right; otherwise
 * none of the three overlap. Associative. */
typedef void colligo_combine(void* context, void const* left, void const* right, void* into, size_t n);
struct colligo_description {
  size_t size;               /* bytes of an element, at least 1, a multiple of the alignment */
  size_t alignment;          /* of the memory that combine is given: a power of two, at most a line of cache */
  colligo_combine* combine;  /* NULL: such elements are only moved */
  void* context;             /* for combine; lives as long as calls and requests that use it */
  int commutative;           /* operands may change places */
  int exact;                 /* any grouping and order gives the same bits */
  char const* name;          /* in errors, checks and tables; the same on all ranks; NULL: "bytes" */
  char const* functor;       /* of combine, likewise; NULL: "combine" */
};
/** An element that the library knows, by value. Nothing has to be freed. */
typedef struct colligo_element {
  void const* moved;
  void const* combined;
  void* context;
} colligo_element;
int colligo_describe(struct colligo_description const* description, colligo_element* element);

enum colligo_type {
  COLLIGO_BYTE, COLLIGO_INT8, COLLIGO_INT16, COLLIGO_INT32, COLLIGO_INT64, COLLIGO_UINT8, COLLIGO_UINT16,
  COLLIGO_UINT32, COLLIGO_UINT64, COLLIGO_FLOAT, COLLIGO_DOUBLE, COLLIGO_LONG_DOUBLE, COLLIGO_COMPLEX_FLOAT,
  COLLIGO_COMPLEX_DOUBLE, COLLIGO_COMPLEX_LONG_DOUBLE, COLLIGO_BOOL,
  /* a value and an int, for MAXLOC and MINLOC */
  COLLIGO_FLOAT_INT, COLLIGO_DOUBLE_INT, COLLIGO_LONG_INT, COLLIGO_SHORT_INT, COLLIGO_INT_INT, COLLIGO_LONG_DOUBLE_INT
};
enum colligo_op {
  COLLIGO_NO_OP, COLLIGO_SUM, COLLIGO_PROD, COLLIGO_MAX, COLLIGO_MIN, COLLIGO_LAND, COLLIGO_LOR, COLLIGO_LXOR,
  COLLIGO_BAND, COLLIGO_BOR, COLLIGO_BXOR, COLLIGO_MAXLOC, COLLIGO_MINLOC
};
/** An element of the library's own, combined by its vectorised loops; sums follow COLLIGO_SUM=exact. COLLIGO_ARGUMENT
 * if the type has no such operation. */
int colligo_known_element(enum colligo_type type, enum colligo_op op, colligo_element* element);

/** Instead of a pointer: input and output are one vector. Instead of `in`; in scatter and scatterv of `out`, at the
 * root. COLLIGO_ARGUMENT elsewhere. */
extern char colligo_in_place_storage[1];
#define COLLIGO_IN_PLACE ((void*)colligo_in_place_storage)

/** Started, or persistent. NULL is an empty one, which is complete. */
typedef struct colligo_request_object* colligo_request;
/** Returns when it is complete. A started one is freed then, and *request is NULL. In a functor of a call on the same
 * communicator it is an error, and *request stays. */
int colligo_wait(colligo_request* request);
/** Makes progress. *complete tells whether it is complete; a started one is freed then, and *request is NULL. */
int colligo_test(colligo_request* request, int* complete);
/** Starts a persistent one, which must not be active. Collective. */
int colligo_start(colligo_request request);
/** Waits until it is complete if it is active, and frees it: *request is NULL. Returns what waiting returns. */
int colligo_request_free(colligo_request* request);

#define COLLIGO_COLLECTIVE(name, ...)                                               \
  int colligo_##name(MPI_Comm comm, __VA_ARGS__);                                   \
  int colligo_i##name(MPI_Comm comm, __VA_ARGS__, colligo_request* request);        \
  int colligo_##name##_init(MPI_Comm comm, __VA_ARGS__, colligo_request* request);

COLLIGO_COLLECTIVE(all_reduce, void const* in, void* out, ptrdiff_t n, colligo_element element, char const* algorithm)
/** The root alone uses `out`. */
COLLIGO_COLLECTIVE(reduce, void const* in, void* out, ptrdiff_t n, colligo_element element, int root,
                   char const* algorithm)
COLLIGO_COLLECTIVE(broadcast, void* both, ptrdiff_t n, colligo_element element, int root, char const* algorithm)
COLLIGO_COLLECTIVE(scan, void const* in, void* out, ptrdiff_t n, colligo_element element, char const* algorithm)
/** Rank 0's `out` stays as it is. */
COLLIGO_COLLECTIVE(exclusive_scan, void const* in, void* out, ptrdiff_t n, colligo_element element,
                   char const* algorithm)
COLLIGO_COLLECTIVE(barrier, char const* algorithm)
/** n elements of each rank. */
COLLIGO_COLLECTIVE(all_gather, void const* in, void* out, ptrdiff_t n, colligo_element element, char const* algorithm)
/** counts[i] elements of rank i, from out + displacements[i] on; displacements NULL: one block after the other. */
COLLIGO_COLLECTIVE(all_gatherv, void const* in, void* out, ptrdiff_t const* counts, ptrdiff_t const* displacements,
                   colligo_element element, char const* algorithm)
COLLIGO_COLLECTIVE(gather, void const* in, void* out, ptrdiff_t n, colligo_element element, int root,
                   char const* algorithm)
/** The blocking form reads counts and displacements at the root alone, and n elsewhere, as MPI does; an all_gather
 * exchanges the numbers first. For the other forms all ranks give the counts, and n is not read. */
COLLIGO_COLLECTIVE(gatherv, void const* in, ptrdiff_t n, void* out, ptrdiff_t const* counts,
                   ptrdiff_t const* displacements, colligo_element element, int root, char const* algorithm)
COLLIGO_COLLECTIVE(scatter, void const* in, void* out, ptrdiff_t n, colligo_element element, int root,
                   char const* algorithm)
/** As gatherv. */
COLLIGO_COLLECTIVE(scatterv, void const* in, ptrdiff_t const* counts, ptrdiff_t const* displacements, void* out,
                   ptrdiff_t n, colligo_element element, int root, char const* algorithm)
/** Block i of the combination comes to rank i; in place: to the beginning of `out`, which has the input. */
COLLIGO_COLLECTIVE(reduce_scatter, void const* in, void* out, ptrdiff_t const* counts, colligo_element element,
                   char const* algorithm)
COLLIGO_COLLECTIVE(reduce_scatter_block, void const* in, void* out, ptrdiff_t n, colligo_element element,
                   char const* algorithm)
/** n elements for each rank. */
COLLIGO_COLLECTIVE(all_to_all, void const* in, void* out, ptrdiff_t n, colligo_element element, char const* algorithm)
/** In place: by the counts and displacements of `out`. */
COLLIGO_COLLECTIVE(all_to_all_v, void const* in, ptrdiff_t const* counts, ptrdiff_t const* displacements, void* out,
                   ptrdiff_t const* out_counts, ptrdiff_t const* out_displacements, colligo_element element,
                   char const* algorithm)

#undef COLLIGO_COLLECTIVE

#ifdef __cplusplus
}
#endif
#endif
