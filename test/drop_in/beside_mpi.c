/* SPDX-License-Identifier: BSL-1.0
 * Every blocking collective by MPI's name, which the library before MPI serves, beside the MPI library's own: whole
 * buffers have to be equal, gaps of datatypes and elements behind the result included. Where MPI libraries are wrong
 * themselves, the other side is made of calls that are right. Then every request, which is passed on. */
#include "own_mpi.h"

#include <stdint.h>
#include <string.h>

enum { half = 1 << 16, most = 16 };
static char in_all[2 * half], out_all[2 * half], wanted_all[2 * half], in_before[2 * half], out_before[2 * half],
    between[half];
/* Elements lie on both sides: some types have negative extents. */
static char *const in = in_all + half, *const out = out_all + half, *const wanted = wanted_all + half;
static int rank, p, failed, checked;
static int only = -1, derived = most;   /* the arguments: one length, so many derived types */
static MPI_Comm comm;

static unsigned noise(unsigned x) { return (x ^ 61u ^ (x >> 7)) * 2654435769u >> 5; }
/* Numbers whose sums are exact in every type, or bytes of any kind. */
static void fill(MPI_Datatype type, int in_place) {
  static int filled_by = -1;
  for (unsigned i = 0; filled_by != rank && i < 2 * half; ++i) {
    in_before[i] = (char)noise(i * 7919u + (unsigned)rank * 104729u);
    out_before[i] = (char)noise(i + 5u);
  }
  filled_by = rank;
  memcpy(in_all, in_before, sizeof in_all);
  if (type == MPI_DOUBLE || type == MPI_2INT || type == MPI_FLOAT)
    for (unsigned i = 0; i < 2 * half / 8; ++i) {
      unsigned const value = noise(i * 31u + (unsigned)rank) % 9;
      if (type == MPI_DOUBLE) ((double*)in_all)[i] = value;
      if (type == MPI_2INT) ((int*)in_all)[2 * i] = (int)value;
      if (type == MPI_FLOAT) ((float*)in_all)[2 * i] = ((float*)in_all)[2 * i + 1] = (float)value;
    }
  char const* const result = in_place ? in_all : out_before;
  memcpy(out_all, result, sizeof out_all), memcpy(wanted_all, result, sizeof wanted_all);
}
static void compare(char const* what, char const* of, int n, int in_place) {
  ++checked;
  if (memcmp(out_all, wanted_all, sizeof out_all) == 0) return;
  size_t first = 0;
  while (out_all[first] == wanted_all[first]) ++first;
  if (++failed < 9)
    fprintf(stderr, "rank %d of %d: %s of %s, n = %d%s: byte %ld differs\n", rank, p, what, of, n,
            in_place ? ", in place" : "", (long)first - half);
}

/* 2 x 2 matrices modulo 2^32 in the four ints of an element, wherever they lie: the product does not commute. */
static MPI_Op least_op, largest_op;
static MPI_Aint places[most][4];
static MPI_Datatype types[most];
static char const* names[most];
static int known;
static void product(void* left, void* both, int* n, MPI_Datatype* type) {
  MPI_Aint lower, extent, at[4] = {0, 4, 8, 12};
  MPI_Type_get_extent(*type, &lower, &extent);
  for (int t = 0; t < known; ++t)
    if (*type == types[t]) memcpy(at, places[t], sizeof at);
  for (int i = 0; i < *n; ++i) {
    uint32_t a[4], b[4], c[4];
    char *const l = (char*)left + i * extent, *const r = (char*)both + i * extent;
    for (int k = 0; k < 4; ++k) memcpy(a + k, l + at[k], 4), memcpy(b + k, r + at[k], 4);
    for (int x = 0; x < 2; ++x)
      for (int y = 0; y < 2; ++y) c[2 * x + y] = a[2 * x] * b[y] + a[2 * x + 1] * b[2 + y];
    for (int k = 0; k < 4; ++k) memcpy(r + at[k], c + k, 4);
  }
}
/* The sum of each int: commutes. */
static void sum(void* in_other, void* both, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < 4 * *n; ++i) ((uint32_t*)both)[i] += ((uint32_t*)in_other)[i];
}
/* Minima and maxima of unsigned numbers: MPICH 4.0 has those of signed ones, Open MPI 4.1 some. */
static void least(void* in_other, void* both, int* n, MPI_Datatype* type) {
  (void)type;
  unsigned short const* const a = in_other;
  unsigned short* const b = both;
  for (int i = 0; i < *n; ++i)
    if (a[i] < b[i]) b[i] = a[i];
}
static void largest(void* in_other, void* both, int* n, MPI_Datatype* type) {
  (void)type;
  unsigned long const* const a = in_other;
  unsigned long* const b = both;
  for (int i = 0; i < *n; ++i)
    if (a[i] > b[i]) b[i] = a[i];
}
static void add_type(char const* name, MPI_Aint const at[4], MPI_Aint lower, MPI_Aint extent) {
  int const ones[4] = {1, 1, 1, 1};
  MPI_Datatype const ints[4] = {MPI_UINT32_T, MPI_UINT32_T, MPI_UINT32_T, MPI_UINT32_T};
  MPI_Datatype made;
  MPI_Type_create_struct(4, ones, at, ints, &made);
  MPI_Type_create_resized(made, lower, extent, &types[known]);
  MPI_Type_commit(&types[known]);
  MPI_Type_free(&made);
  memcpy(places[known], at, sizeof places[0]);
  names[known++] = name;
}

/* Both names of a call; `by` is MPI_ or own_, `to` where it writes. */
#define BOTH(what, of, type, n, in_place, call)        \
  do {                                                 \
    fill(type, in_place);                              \
    { char* const to = out; call(MPI_); }              \
    { char* const to = wanted; call(own_); }          \
    compare(what, of, n, in_place);                    \
  } while (0)

/* Reduce and Scatterv: MPICH 4.0 multiplies by the true extent in Reduce_scatter by an operation that does not commute,
 * and writes behind its memory. With negative extents both libraries do, in Scan too: so the other side takes the same
 * elements in the reverse order, as `as`, whose extent is positive. */
static MPI_Datatype as;
static void reduce_scatter(void* from, char* to, int const counts[], MPI_Op op, int is_reversed) {
  int first[64], n = 0;
  for (int i = 0; i < p; ++i) first[i] = n, n += counts[i];
  for (int i = 0; i < p && is_reversed; ++i) first[i] = n - first[i] - counts[i];
  char* const input = from == MPI_IN_PLACE ? to : from;
  MPI_Aint lower, extent;
  PMPI_Type_get_extent(as, &lower, &extent);
  char* const both = between + 64;
  own_Reduce(is_reversed ? input - extent * (n - 1) : input, both, n, as, op, 0, comm);
  own_Scatterv(both, counts, first, as, is_reversed ? to - extent * (counts[rank] - 1) : to, counts[rank], as, 0, comm);
}

/* `by_mpi`: the same operation on MPI's side. */
static void check_reductions(MPI_Datatype type, MPI_Op op, MPI_Op by_mpi, char const* of, int n) {
  int counts[64], equal_counts[64];
  MPI_Aint lower, extent;
  PMPI_Type_get_extent(type, &lower, &extent);
  int const is_reversed = extent < 0;
  for (int i = 0; i < p; ++i) counts[i] = i == 1 ? 0 : n + i, equal_counts[i] = n;
/* Both names of a call, `by`: MPI_ or own_, which is never in place: MPICH 4.0 copies from MPI_IN_PLACE in Reduce. */
#define BOTH_REDUCE(what, in_place, call)                                             \
  do {                                                                                \
    fill(type, in_place);                                                             \
    {                                                                                 \
      char *const to = out;                                                           \
      void *const input = in, *const from = in_place ? MPI_IN_PLACE : input;          \
      MPI_Op const how = op;                                                          \
      as = type;                                                                      \
      call(MPI_);                                                                     \
    }                                                                                 \
    {                                                                                 \
      MPI_Aint const before = is_reversed ? extent * (n - 1) : 0;                     \
      char* const to = wanted + before;                                               \
      void *const input = in + before, *const from = input;                           \
      MPI_Op const how = by_mpi;                                                      \
      as = is_reversed ? types[0] : type;                                             \
      call(own_);                                                                    \
    }                                                                                 \
    compare(what, of, n, in_place);                                                   \
  } while (0)
  for (int in_place = 0; in_place < 2; ++in_place) {
    for (int root = 0; root < p; root += p > 1 ? p - 1 : 1) {
#define CALL(by) by##Reduce(rank == root ? from : input, to, n, as, how, root, comm)
      BOTH_REDUCE("Reduce", in_place, CALL);
#undef CALL
    }
#define CALL(by) by##Allreduce(from, to, n, as, how, comm)
    BOTH_REDUCE("Allreduce", in_place, CALL);
#undef CALL
#define CALL(by) by##Scan(from, to, n, as, how, comm)
    BOTH_REDUCE("Scan", in_place, CALL);
#undef CALL
#define CALL(by) by##Exscan(from, to, n, as, how, comm)
    BOTH_REDUCE("Exscan", in_place, CALL);
#undef CALL
  }
  for (int in_place = 0; in_place < 2; ++in_place)
    for (int equal = 0; equal < 2; ++equal) {
      int const* const shares = equal ? equal_counts : counts;
      void* const from = in_place ? MPI_IN_PLACE : (void*)in;
      fill(type, in_place);
      if (equal) MPI_Reduce_scatter_block(from, out, n, type, op, comm);
      else MPI_Reduce_scatter(from, out, shares, type, op, comm);
      as = is_reversed ? types[0] : type;
      reduce_scatter(from, wanted, shares, by_mpi, is_reversed);
      if (in_place) {   /* What is behind the block is undefined. */
        if (is_reversed) continue;
        MPI_Aint const behind = (lower < 0 ? lower : 0) + extent * shares[rank];
        memcpy(wanted + behind, out + behind, (size_t)(half - behind));
      }
      compare(equal ? "Reduce_scatter_block" : "Reduce_scatter", of, n, in_place);
    }
}

static void check_movements(MPI_Datatype type, char const* of, int n) {
  int counts[64], first[64], out_counts[64], out_first[64], next = 0, out_next = 0;
  int const root = n % p, last = p - 1;
  for (int i = 0; i < p; ++i) {   /* blocks apart, the first one last */
    counts[i] = i == 1 ? 0 : n + i;
    first[i] = next;
    next += counts[i] + 2;
  }
  for (int i = 0; i < p; ++i) first[i] = next - first[i] - counts[i];
#define CALL(by) by##Bcast(to, n, type, root, comm)
  fill(type, rank == root);
  BOTH("Bcast", of, type, n, rank == root, CALL);
#undef CALL
  for (int in_place = 0; in_place < 2; ++in_place) {
    void* const from = in_place ? MPI_IN_PLACE : (void*)in;
    void *const at_root = rank == root ? from : (void*)in, *const at_last = rank == last ? from : (void*)in;
#define CALL(by) by##Allgather(from, n, type, to, n, type, comm)
    BOTH("Allgather", of, type, n, in_place, CALL);
#undef CALL
#define CALL(by) by##Allgatherv(from, counts[rank], type, to, counts, first, type, comm)
    BOTH("Allgatherv", of, type, n, in_place, CALL);
#undef CALL
#define CALL(by) by##Gather(at_root, n, type, to, n, type, root, comm)
    BOTH("Gather", of, type, n, in_place, CALL);
#undef CALL
#define CALL(by) by##Gatherv(at_last, counts[rank], type, to, counts, first, type, last, comm)
    BOTH("Gatherv", of, type, n, in_place, CALL);
#undef CALL
#define CALL(by) by##Scatter(in, n, type, in_place && rank == root ? MPI_IN_PLACE : (void*)to, n, type, root, comm)
    BOTH("Scatter", of, type, n, 0, CALL);
#undef CALL
#define CALL(by) \
  by##Scatterv(in, counts, first, type, in_place && rank == last ? MPI_IN_PLACE : (void*)to, counts[rank], type, last, comm)
    BOTH("Scatterv", of, type, n, 0, CALL);
#undef CALL
#define CALL(by) by##Alltoall(from, n, type, to, n, type, comm)
    BOTH("Alltoall", of, type, n, in_place, CALL);
#undef CALL
  }
  next = 0;
  for (int i = 0; i < p; ++i) {
    counts[i] = n + 2 * rank + i, out_counts[i] = n + 2 * i + rank;
    first[i] = next, out_first[i] = out_next + 1;
    next += counts[i] + 1, out_next += out_counts[i] + 2;
  }
#define CALL(by) by##Alltoallv(in, counts, first, type, to, out_counts, out_first, type, comm)
  BOTH("Alltoallv", of, type, n, 0, CALL);
#undef CALL
  for (int i = 0, at = 0; i < p; ++i) {
    out_counts[i] = n + i + rank, out_first[i] = at;
    at += out_counts[i] + 1;
  }
#define CALL(by) by##Alltoallv(MPI_IN_PLACE, NULL, NULL, type, to, out_counts, out_first, type, comm)
  BOTH("Alltoallv", of, type, n, 1, CALL);
#undef CALL
}
/* Signatures are equal, types are not. */
static void check_other_types(MPI_Datatype type, int n) {
#define CALL(by) by##Allgather(in, 4 * n, MPI_UINT32_T, to, n, type, comm)
  BOTH("Allgather", "ints as elements", type, n, 0, CALL);
#undef CALL
#define CALL(by) by##Alltoall(in, n, type, to, 4 * n, MPI_UINT32_T, comm)
  BOTH("Alltoall", "elements as ints", type, n, 0, CALL);
#undef CALL
#define CALL(by) by##Bcast(to, rank == 0 ? n : 4 * n, rank == 0 ? type : MPI_UINT32_T, 0, comm)
  BOTH("Bcast", "elements as ints", type, n, 0, CALL);
#undef CALL
  /* Addresses in the type. */
  MPI_Datatype absolute;
  MPI_Aint at;
#define CALL(by)                                                      \
  MPI_Get_address(to, &at);                                           \
  MPI_Type_create_hindexed(1, &n, &at, type, &absolute);              \
  MPI_Type_commit(&absolute);                                         \
  by##Allgather(in, n, type, MPI_BOTTOM, 1, absolute, comm);          \
  by##Bcast(MPI_BOTTOM, 1, absolute, 0, comm);                        \
  MPI_Type_free(&absolute)
  BOTH("Allgather and Bcast", "elements at MPI_BOTTOM", type, n, 0, CALL);
#undef CALL
}

/* Every request beside the blocking call, and the call with counts of 64 bits. */
static void check_requests(int n) {
  int counts[64], first[64];
  for (int i = 0; i < p; ++i) counts[i] = n, first[i] = i * n;
#if MPI_VERSION >= 4
  MPI_Count wide_counts[64];
  MPI_Aint wide_first[64];
  for (int i = 0; i < p; ++i) wide_counts[i] = n, wide_first[i] = i * n;
#endif
  MPI_Request made;
#define CHECK(form, name, start, ...)                               \
  fill(MPI_DOUBLE, 0);                                              \
  { char* const to = out; start; MPI_Wait(&made, MPI_STATUS_IGNORE); } \
  { char* const to = wanted; own_##name(__VA_ARGS__); }             \
  compare(form #name, "double", n, 0)
#if MPI_VERSION < 4
#define BOTH_REQUESTS(name, small, ...) CHECK("a request, ", name, MPI_I##small(__VA_ARGS__, &made), __VA_ARGS__)
#else
#define BOTH_REQUESTS(name, small, ...)                                                                        \
  CHECK("a request, ", name, MPI_I##small(__VA_ARGS__, &made), __VA_ARGS__);                                   \
  CHECK("a persistent request, ", name,                                                                        \
        MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &made); MPI_Start(&made), __VA_ARGS__);                  \
  MPI_Request_free(&made);                                                                                     \
  CHECK("wide counts, ", name, WIDE(MPI_##name##_c(__VA_ARGS__)), __VA_ARGS__)
#define WIDE(call)                                                                                             \
  MPI_Count* const counts = wide_counts;                                                                       \
  MPI_Aint* const first = wide_first;                                                                          \
  (void)counts, (void)first, (void)call;                                                                       \
  made = MPI_REQUEST_NULL
#endif
  BOTH_REQUESTS(Allreduce, allreduce, in, to, n, MPI_DOUBLE, MPI_SUM, comm);
  BOTH_REQUESTS(Reduce, reduce, in, to, n, MPI_DOUBLE, MPI_SUM, 0, comm);
  BOTH_REQUESTS(Scan, scan, in, to, n, MPI_DOUBLE, MPI_SUM, comm);
  BOTH_REQUESTS(Exscan, exscan, in, to, n, MPI_DOUBLE, MPI_SUM, comm);
  BOTH_REQUESTS(Reduce_scatter, reduce_scatter, in, to, counts, MPI_DOUBLE, MPI_SUM, comm);
  BOTH_REQUESTS(Reduce_scatter_block, reduce_scatter_block, in, to, n, MPI_DOUBLE, MPI_SUM, comm);
  BOTH_REQUESTS(Bcast, bcast, to, n, MPI_DOUBLE, 0, comm);
  BOTH_REQUESTS(Allgather, allgather, in, n, MPI_DOUBLE, to, n, MPI_DOUBLE, comm);
  BOTH_REQUESTS(Allgatherv, allgatherv, in, n, MPI_DOUBLE, to, counts, first, MPI_DOUBLE, comm);
  BOTH_REQUESTS(Gather, gather, in, n, MPI_DOUBLE, to, n, MPI_DOUBLE, 0, comm);
  BOTH_REQUESTS(Gatherv, gatherv, in, n, MPI_DOUBLE, to, counts, first, MPI_DOUBLE, 0, comm);
  BOTH_REQUESTS(Scatter, scatter, in, n, MPI_DOUBLE, to, n, MPI_DOUBLE, 0, comm);
  BOTH_REQUESTS(Scatterv, scatterv, in, counts, first, MPI_DOUBLE, to, n, MPI_DOUBLE, 0, comm);
  BOTH_REQUESTS(Alltoall, alltoall, in, n, MPI_DOUBLE, to, n, MPI_DOUBLE, comm);
  BOTH_REQUESTS(Alltoallv, alltoallv, in, counts, first, MPI_DOUBLE, to, counts, first, MPI_DOUBLE, comm);
  MPI_Ibarrier(comm, &made);
  MPI_Wait(&made, MPI_STATUS_IGNORE);
}

static void check_communicator(MPI_Op op, MPI_Op commuting) {
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &p);
  int const lengths[] = {0, 1, 7, 300};
  for (int i = 0; i < 4; ++i) {
    int const n = lengths[i];
    if (only >= 0 && n != only) continue;
    check_reductions(MPI_DOUBLE, MPI_SUM, MPI_SUM, "double, sum", n);
    check_reductions(MPI_FLOAT, MPI_MAX, MPI_MAX, "float, max", n);
    check_reductions(MPI_INT, MPI_BXOR, MPI_BXOR, "int, bxor", n);
    check_reductions(MPI_UNSIGNED_SHORT, MPI_MIN, least_op, "unsigned short, min", n);
    check_reductions(MPI_UNSIGNED_LONG, MPI_MAX, largest_op, "unsigned long, max", n);
    check_reductions(MPI_2INT, MPI_MAXLOC, MPI_MAXLOC, "two ints, maxloc", n);
    check_movements(MPI_CHAR, "char", n);
    check_movements(MPI_DOUBLE, "double", n);
    check_movements(MPI_SHORT_INT, "short and int", n);
    for (int t = 0; t < known && t < derived; ++t) {
      MPI_Aint lower, extent;
      MPI_Type_get_extent(types[t], &lower, &extent);
      if (extent < 0) {   /* MPI's own calls, also those on one rank, are ended by a signal */
        if (p > 1) check_reductions(types[t], op, op, names[t], n);
        continue;
      }
      check_reductions(types[t], op, op, names[t], n);
      check_movements(types[t], names[t], n);
      check_other_types(types[t], n);
    }
    check_reductions(types[0], commuting, commuting, "ints, by an operation that commutes", n);
  }
  MPI_Barrier(comm);
}

/* A wrong call has MPI's own error, by the handler of the communicator. (In Allreduce MPICH 4.0 does not see that a count
 * is negative.) */
static int handled;
static void handler(MPI_Comm* over, int* code, ...) {
  (void)over, (void)code;
  ++handled;
}
static void check_errors(void) {
  MPI_Errhandler own;
  MPI_Comm_create_errhandler(&handler, &own);
  MPI_Comm_set_errhandler(comm, own);
  int const negative = MPI_Bcast(out, -1, MPI_INT, 0, comm), root = MPI_Bcast(out, 1, MPI_INT, p, comm),
            op = MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_BXOR, comm);
  int error_class = 0;
  MPI_Error_class(negative, &error_class);
  if (error_class != MPI_ERR_COUNT) ++failed, fprintf(stderr, "a negative count: class %d\n", error_class);
  MPI_Error_class(root, &error_class);
  if (error_class != MPI_ERR_ROOT) ++failed, fprintf(stderr, "a root out of range: class %d\n", error_class);
  MPI_Error_class(op, &error_class);
  if (error_class != MPI_ERR_OP) ++failed, fprintf(stderr, "bits of doubles: class %d\n", error_class);
  if (handled != 3) ++failed, fprintf(stderr, "the handler was called %d times instead of 3\n", handled);
  /* What the library itself refuses: ranks with other counts. It prints why. */
  MPI_Comm other;
  MPI_Comm_dup(comm, &other);
  MPI_Comm_set_errhandler(other, own);
  handled = 0;
  int told[2] = {MPI_Allreduce(in, out, rank == 0 ? 2 : 1, MPI_INT, MPI_SUM, other) != MPI_SUCCESS, 0}, of_all[2];
  told[1] = handled;
  if (told[0] != told[1]) ++failed, fprintf(stderr, "an error without its handler\n");
  own_Allreduce(told, of_all, 2, MPI_INT, MPI_SUM, comm);
  if (of_all[0] == 0) ++failed, fprintf(stderr, "no rank was told of another count\n");
  MPI_Comm_free(&other);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&own);
}

int main(int argc, char** argv) {
  int before = -1;
  find_own_mpi();
  MPI_Initialized(&before);
  MPI_Init(&argc, &argv);
  if (argc > 1) only = atoi(argv[1]);
  if (argc > 2) derived = atoi(argv[2]);
  MPI_Op op, commuting;
  MPI_Op_create(&product, 0, &op);
  MPI_Op_create(&sum, 1, &commuting);
  MPI_Op_create(&least, 1, &least_op);
  MPI_Op_create(&largest, 1, &largest_op);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  add_type("ints without gaps", (MPI_Aint[4]){0, 4, 8, 12}, 0, 16);
  add_type("ints in another order", (MPI_Aint[4]){12, 4, 8, 0}, 0, 16);
  add_type("ints with gaps", (MPI_Aint[4]){0, 8, 12, 20}, 0, 24);
  add_type("ints with gaps of 16", (MPI_Aint[4]){0, 8, 12, 20}, 0, 32);
  add_type("a lower bound of 8", (MPI_Aint[4]){8, 12, 20, 28}, 8, 32);
  add_type("a lower bound of -8", (MPI_Aint[4]){-8, 0, 8, 16}, -8, 40);
  add_type("a negative extent", (MPI_Aint[4]){0, 4, 8, 12}, 16, -16);
  add_type("a lower bound without data", (MPI_Aint[4]){20, 24, 32, 36}, 0, 48);
  comm = MPI_COMM_WORLD;
  check_communicator(op, commuting);
  check_requests(7);
  check_errors();
  MPI_Comm world = MPI_COMM_WORLD, odd, other;
  MPI_Comm_split(world, rank % 2, -rank, &odd);
  comm = odd;
  if (only < 0) check_communicator(op, commuting);
  MPI_Comm_rank(world, &rank);
  /* Communicators come and go. */
  for (int i = 0; i < (only >= 0 ? 10 : 200); ++i) {
    int one = 1, sum = 0, ranks;
    MPI_Comm_dup(odd, &other);
    MPI_Comm_size(other, &ranks);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, other);
    if (sum != ranks) ++failed;
    MPI_Comm_free(&other);
  }
  MPI_Comm_size(world, &p);
  if (p > 1) {   /* an intercommunicator */
    int one = rank, sum = -1;
    MPI_Intercomm_create(odd, 0, world, rank % 2 ? 2 * ((p - 1) / 2) : p / 2 * 2 - 1, 7, &other);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_MAX, other);
    if (sum % 2 == rank % 2) ++failed, fprintf(stderr, "rank %d: of its own group\n", rank);
    MPI_Comm_free(&other);
  }
  MPI_Comm_free(&odd);
  int all = 0;
  own_Allreduce(&failed, &all, 1, MPI_INT, MPI_SUM, world);
  /* On stderr, as the report, which comes after it. */
  if (rank == 0) fprintf(stderr, "%d comparisons on each of %d ranks, %d differ\n", checked, p, all);
  for (int t = 0; t < known; ++t) MPI_Type_free(&types[t]);
  MPI_Op_free(&op);
  MPI_Op_free(&commuting);
  MPI_Op_free(&least_op);
  MPI_Op_free(&largest_op);
  MPI_Finalize();
  return all != 0;
}
