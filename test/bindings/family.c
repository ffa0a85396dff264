/* SPDX-License-Identifier: BSL-1.0
 * Every collective of the C interface beside the MPI library's own: blocking, started and persistent, in place, with
 * displacements, by a functor that does not commute; and errors. */
#include <colligo/colligo.h>

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 40, longest = 700 };
/* 2 x 2 matrices modulo 2^32: their product is associative, exact and does not commute. */
typedef struct { uint32_t at[4]; } matrix;
static int rank, p, failed, checked;

static matrix product(matrix const* a, matrix const* b) {
  matrix c;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) c.at[2 * i + j] = a->at[2 * i] * b->at[j] + a->at[2 * i + 1] * b->at[2 + j];
  return c;
}
static void combine(void* context, void const* left, void const* right, void* into, size_t n) {
  *(long*)context += (long)n;
  for (size_t i = 0; i < n; ++i) ((matrix*)into)[i] = product((matrix const*)left + i, (matrix const*)right + i);
}
static void combine_for_mpi(void* in, void* in_out, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; ++i) ((matrix*)in_out)[i] = product((matrix*)in + i, (matrix*)in_out + i);
}

static matrix in[most * longest], out[most * longest], wanted[most * longest];
static void fill(void) {
  for (size_t i = 0; i < most * longest; ++i)
    for (int k = 0; k < 4; ++k) {
      in[i].at[k] = (uint32_t)(i * 2654435761u + (unsigned)rank * 40503u + (unsigned)k * 977u + 1u);
      out[i].at[k] = wanted[i].at[k] = 0xdeadbeefu + (uint32_t)i;
    }
}
static void compare(char const* what, char const* how, int n) {
  ++checked;
  if (memcmp(out, wanted, sizeof out) != 0) {
    ++failed;
    fprintf(stderr, "rank %d of %d: %s, %s, n = %d: differs from MPI's\n", rank, p, what, how, n);
  }
}
static void require(int code, int is, char const* what) {
  ++checked;
  if (code != is) {
    ++failed;
    fprintf(stderr, "rank %d of %d: %s: code %d instead of %d: %s\n", rank, p, what, code, is, colligo_error_text());
  }
}

/* All forms of a call; `reset` makes the arguments anew, `mpi` is MPI's call into `wanted`. */
#define IN_ALL_FORMS(n, name, reset, mpi, ...)                                            \
  do {                                                                                    \
    colligo_request request = NULL;                                                       \
    reset;                                                                                \
    mpi;                                                                                  \
    require(colligo_##name(MPI_COMM_WORLD, __VA_ARGS__), 0, #name);                       \
    compare(#name, "blocking", n);                                                        \
    reset;                                                                                \
    mpi;                                                                                  \
    require(colligo_i##name(MPI_COMM_WORLD, __VA_ARGS__, &request), 0, "i" #name);        \
    require(colligo_wait(&request), 0, "wait");                                           \
    require(request != NULL, 0, "freed");                                                 \
    compare(#name, "started", n);                                                         \
    reset;                                                                                \
    require(colligo_##name##_init(MPI_COMM_WORLD, __VA_ARGS__, &request), 0, #name "_init"); \
    for (int again = 0; again < 2; ++again) {                                             \
      reset;                                                                              \
      mpi;                                                                                \
      require(colligo_start(request), 0, "start");                                        \
      int complete = 0, code = 0;                                                         \
      while (!complete) code = colligo_test(&request, &complete);                         \
      require(code, 0, "test");                                                           \
      compare(#name, "persistent", n);                                                    \
    }                                                                                     \
    require(colligo_request_free(&request), 0, "free");                                   \
  } while (0)

static colligo_element element;
static MPI_Datatype type;
static MPI_Op op;

static void check_length(int n, char const* by) {
  MPI_Comm const world = MPI_COMM_WORLD;
  size_t const bytes = (size_t)n * sizeof(matrix);
  matrix *const own_out = out + (size_t)rank * (size_t)n, *const own_wanted = wanted + (size_t)rank * (size_t)n;
  int const root = n % p;
#define SAME(count) (fill(), memcpy(out, in, (count) * sizeof(matrix)), memcpy(wanted, in, (count) * sizeof(matrix)))
  size_t const one = (size_t)n, all = (size_t)n * (size_t)p;

  IN_ALL_FORMS(n, all_reduce, fill(), MPI_Allreduce(in, wanted, n, type, op, world), in, out, n, element, by);
  IN_ALL_FORMS(n, all_reduce, SAME(one), MPI_Allreduce(MPI_IN_PLACE, wanted, n, type, op, world),
               COLLIGO_IN_PLACE, out, n, element, by);
  IN_ALL_FORMS(n, reduce, fill(), MPI_Reduce(in, wanted, n, type, op, root, world), in, out, n, element, root, by);
  IN_ALL_FORMS(n, reduce, SAME(rank == root ? one : 0),
               MPI_Reduce(rank == root ? MPI_IN_PLACE : (void*)in, wanted, n, type, op, root, world),
               rank == root ? COLLIGO_IN_PLACE : (void*)in, out, n, element, root, by);
  IN_ALL_FORMS(n, broadcast, SAME(rank == root ? one : 0), MPI_Bcast(wanted, n, type, root, world), out, n, element,
               root, by);
  IN_ALL_FORMS(n, scan, fill(), MPI_Scan(in, wanted, n, type, op, world), in, out, n, element, by);
  IN_ALL_FORMS(n, scan, SAME(one), MPI_Scan(MPI_IN_PLACE, wanted, n, type, op, world), COLLIGO_IN_PLACE, out, n,
               element, by);
  IN_ALL_FORMS(n, exclusive_scan, fill(), MPI_Exscan(in, wanted, n, type, op, world), in, out, n, element, by);
  IN_ALL_FORMS(n, exclusive_scan, SAME(one), MPI_Exscan(MPI_IN_PLACE, wanted, n, type, op, world), COLLIGO_IN_PLACE,
               out, n, element, by);
  IN_ALL_FORMS(n, barrier, fill(), MPI_Barrier(world), by);
  IN_ALL_FORMS(n, all_gather, fill(), MPI_Allgather(in, n, type, wanted, n, type, world), in, out, n, element, by);
  IN_ALL_FORMS(n, all_gather, (fill(), memcpy(own_out, in, bytes), memcpy(own_wanted, in, bytes)),
               MPI_Allgather(MPI_IN_PLACE, n, type, wanted, n, type, world), COLLIGO_IN_PLACE, out, n, element, by);
  IN_ALL_FORMS(n, gather, fill(), MPI_Gather(in, n, type, wanted, n, type, root, world), in, out, n, element, root,
               by);
  IN_ALL_FORMS(n, gather, (fill(), memcpy(own_out, in, bytes), memcpy(own_wanted, in, bytes)),
               MPI_Gather(rank == root ? MPI_IN_PLACE : (void*)in, n, type, wanted, n, type, root, world),
               rank == root ? COLLIGO_IN_PLACE : (void*)in, out, n, element, root, by);
  IN_ALL_FORMS(n, scatter, fill(), MPI_Scatter(in, n, type, wanted, n, type, root, world), in, out, n, element, root,
               by);
  IN_ALL_FORMS(n, scatter, fill(),
               MPI_Scatter(in, n, type, rank == root ? MPI_IN_PLACE : (void*)wanted, n, type, root, world), in,
               rank == root ? COLLIGO_IN_PLACE : (void*)out, n, element, root, by);
  IN_ALL_FORMS(n, reduce_scatter_block, fill(), MPI_Reduce_scatter_block(in, wanted, n, type, op, world), in, out, n,
               element, by);
  IN_ALL_FORMS(n, all_to_all, fill(), MPI_Alltoall(in, n, type, wanted, n, type, world), in, out, n, element, by);
  IN_ALL_FORMS(n, all_to_all, SAME(all), MPI_Alltoall(MPI_IN_PLACE, n, type, wanted, n, type, world),
               COLLIGO_IN_PLACE, out, n, element, by);
  /* MPI leaves what is behind the block undefined. */
#define FORGET_REST memcpy(wanted + n, out + n, sizeof out - bytes)
  fill();
  SAME(all);
  MPI_Reduce_scatter_block(MPI_IN_PLACE, wanted, n, type, op, world);
  require(colligo_reduce_scatter_block(world, COLLIGO_IN_PLACE, out, n, element, by), 0, "reduce_scatter_block");
  FORGET_REST;
  compare("reduce_scatter_block", "in place", n);
}

static void check_blocks(int n, int apart, char const* by) {
  MPI_Comm const world = MPI_COMM_WORLD;
  int counts[most], first[most], out_counts[most], out_first[most], own_first = 0, sum = 0, out_sum = 0;
  ptrdiff_t counts_of[most], first_of[most], out_counts_of[most], out_first_of[most];
  for (int i = 0; i < p; ++i) {
    counts_of[i] = counts[i] = i == 1 ? 0 : n + i;
    first_of[i] = first[i] = sum;
    sum += counts[i] + apart;
  }
  /* Displacements may go down. */
  if (apart)
    for (int i = 0; i < p; ++i) first_of[i] = first[i] = sum - first[i] - counts[i];
  own_first = first[rank];
  int const mine = counts[rank], root = (n + 1) % p;
  ptrdiff_t const* const places = apart ? first_of : NULL;
  size_t const bytes = (size_t)mine * sizeof(matrix);
#define OWN_IN_PLACE (fill(), memcpy(out + own_first, in, bytes), memcpy(wanted + own_first, in, bytes))

  IN_ALL_FORMS(n, all_gatherv, fill(), MPI_Allgatherv(in, mine, type, wanted, counts, first, type, world), in, out,
               counts_of, places, element, by);
  IN_ALL_FORMS(n, all_gatherv, OWN_IN_PLACE,
               MPI_Allgatherv(MPI_IN_PLACE, mine, type, wanted, counts, first, type, world), COLLIGO_IN_PLACE, out,
               counts_of, places, element, by);
  IN_ALL_FORMS(n, gatherv, fill(), MPI_Gatherv(in, mine, type, wanted, counts, first, type, root, world), in, mine,
               out, counts_of, places, element, root, by);
  IN_ALL_FORMS(n, gatherv, OWN_IN_PLACE,
               MPI_Gatherv(rank == root ? MPI_IN_PLACE : (void*)in, mine, type, wanted, counts, first, type, root,
                           world),
               rank == root ? COLLIGO_IN_PLACE : (void*)in, mine, out, counts_of, places, element, root, by);
  IN_ALL_FORMS(n, scatterv, fill(), MPI_Scatterv(in, counts, first, type, wanted, mine, type, root, world), in,
               counts_of, places, out, mine, element, root, by);
  IN_ALL_FORMS(n, scatterv, fill(),
               MPI_Scatterv(in, counts, first, type, rank == root ? MPI_IN_PLACE : (void*)wanted, mine, type, root,
                            world),
               in, counts_of, places, rank == root ? COLLIGO_IN_PLACE : (void*)out, mine, element, root, by);
  IN_ALL_FORMS(n, reduce_scatter, fill(), MPI_Reduce_scatter(in, wanted, counts, type, op, world), in, out, counts_of,
               element, by);
  /* Counts that the root alone gives. */
  fill();
  MPI_Gatherv(in, mine, type, wanted, counts, first, type, root, world);
  require(colligo_gatherv(world, in, mine, out, rank == root ? counts_of : NULL, rank == root ? places : NULL, element,
                          root, by), 0, "gatherv");
  compare("gatherv", "counts of the root", n);
  fill();
  MPI_Scatterv(in, counts, first, type, wanted, mine, type, root, world);
  require(colligo_scatterv(world, in, rank == root ? counts_of : NULL, rank == root ? places : NULL, out, mine,
                           element, root, by), 0, "scatterv");
  compare("scatterv", "counts of the root", n);
  fill();
  memcpy(out, in, sizeof out), memcpy(wanted, in, sizeof out);
  MPI_Reduce_scatter(MPI_IN_PLACE, wanted, counts, type, op, world);
  require(colligo_reduce_scatter(world, COLLIGO_IN_PLACE, out, counts_of, element, by), 0, "reduce_scatter");
  memcpy(wanted + mine, out + mine, sizeof out - bytes);   /* undefined by MPI */
  compare("reduce_scatter", "in place", n);

  /* Rank s has n + 2 s + d elements for rank d. */
  sum = 0;
  for (int i = 0; i < p; ++i) {
    counts_of[i] = counts[i] = n + 2 * rank + i;
    out_counts_of[i] = out_counts[i] = n + 2 * i + rank;
    first_of[i] = first[i] = sum + apart * i;
    out_first_of[i] = out_first[i] = out_sum + 2 * apart * (i + 1);
    sum += counts[i], out_sum += out_counts[i];
  }
  IN_ALL_FORMS(n, all_to_all_v, fill(),
               MPI_Alltoallv(in, counts, first, type, wanted, out_counts, out_first, type, world), in, counts_of,
               apart ? first_of : NULL, out, out_counts_of, apart ? out_first_of : NULL, element, by);
  out_sum = 0;
  for (int i = 0; i < p; ++i) {   /* in place: as many both ways */
    out_counts_of[i] = out_counts[i] = n + i + rank;
    out_first_of[i] = out_first[i] = out_sum + apart * i;
    out_sum += out_counts[i];
  }
  IN_ALL_FORMS(n, all_to_all_v, (fill(), memcpy(out, in, sizeof out), memcpy(wanted, in, sizeof out)),
               MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, type, wanted, out_counts, out_first, type, world),
               COLLIGO_IN_PLACE, NULL, NULL, out, out_counts_of, apart ? out_first_of : NULL, element, by);
}

/* Where in place stands for nothing it is refused, in all forms, before anything is written. */
#define REFUSED(name, ...)                                                                                     \
  do {                                                                                                         \
    colligo_request request = NULL;                                                                            \
    require(colligo_##name(MPI_COMM_WORLD, __VA_ARGS__), COLLIGO_ARGUMENT, #name);                             \
    require(colligo_i##name(MPI_COMM_WORLD, __VA_ARGS__, &request), COLLIGO_ARGUMENT, "i" #name);              \
    require(colligo_##name##_init(MPI_COMM_WORLD, __VA_ARGS__, &request), COLLIGO_ARGUMENT, #name "_init");    \
    require(request != NULL, 0, #name ": a request of a call that is refused");                                \
  } while (0)
static void check_in_place(void) {
  void* const place = COLLIGO_IN_PLACE;
  ptrdiff_t counts[most], apart[most];
  for (int i = 0; i < p; ++i) counts[i] = 1, apart[i] = 2 * (p - i);
  char const before = *(char*)place;
  int const is_root = rank == p - 1;
  /* The root of these gives one wrong vector, the others give the other one. */
  void *const root_only = is_root ? place : out, *const others_only = is_root ? (void*)in : place;
  fill();
  REFUSED(all_reduce, in, place, 1, element, NULL);
  REFUSED(all_reduce, place, place, 1, element, NULL);
  REFUSED(reduce, others_only, root_only, 1, element, p - 1, NULL);
  REFUSED(broadcast, place, 1, element, p - 1, NULL);
  REFUSED(scan, in, place, 1, element, NULL);
  REFUSED(exclusive_scan, place, place, 1, element, NULL);
  REFUSED(all_gather, in, place, 1, element, NULL);
  REFUSED(all_gatherv, in, place, counts, apart, element, NULL);
  REFUSED(all_gatherv, place, place, counts, apart, element, NULL);
  REFUSED(gather, others_only, root_only, 1, element, p - 1, NULL);
  REFUSED(gatherv, others_only, 1, root_only, counts, apart, element, p - 1, NULL);
  REFUSED(scatter, is_root ? place : in, is_root ? (void*)out : place, 1, element, p - 1, NULL);
  REFUSED(scatterv, is_root ? place : in, counts, apart, is_root ? (void*)out : place, 1, element, p - 1, NULL);
  REFUSED(scatterv, place, counts, apart, place, 1, element, p - 1, NULL);
  REFUSED(reduce_scatter, in, place, counts, element, NULL);
  REFUSED(reduce_scatter, place, place, counts, element, NULL);
  REFUSED(reduce_scatter_block, in, place, 1, element, NULL);
  REFUSED(all_to_all, in, place, 1, element, NULL);
  REFUSED(all_to_all_v, in, counts, apart, place, counts, apart, element, NULL);
  REFUSED(all_to_all_v, place, NULL, NULL, place, counts, apart, element, NULL);
  compare("in place", "refused", 1);
  require(*(char*)place != before, 0, "what stands for in place is written");
}

static void check_errors(void) {
  MPI_Comm const world = MPI_COMM_WORLD;
  colligo_element known, moved;
  colligo_request request = NULL;
  struct colligo_description bad = {24, 16, NULL, NULL, 0, 0, "odd", NULL};
  fill();
  require(colligo_describe(&bad, &known), COLLIGO_ARGUMENT, "a size that is no multiple of the alignment");
  bad.size = 0, bad.alignment = 1;
  require(colligo_describe(&bad, &known), COLLIGO_ARGUMENT, "no size");
  bad.size = 24, bad.alignment = 3;
  require(colligo_describe(&bad, &known), COLLIGO_ARGUMENT, "an alignment that is no power of two");
  bad.alignment = 8;
  require(colligo_describe(&bad, &moved), 0, "moved alone");
  require(colligo_all_reduce(world, in, out, 1, moved, NULL), COLLIGO_ARGUMENT, "all_reduce of what is moved alone");
  if (strncmp(colligo_error_text(), "colligo: ", 9) != 0) require(1, 0, "the text of an error");
  require(colligo_all_reduce(world, in, out, -1, element, NULL), COLLIGO_ARGUMENT, "a negative count");
  require(colligo_broadcast(world, out, 1, element, p, NULL), COLLIGO_ARGUMENT, "a root out of range");
  require(colligo_all_reduce(world, in, in, 5, element, NULL), COLLIGO_ARGUMENT, "vectors that overlap");
  require(colligo_all_reduce(world, in, out, 5, element, "rnig"), COLLIGO_ALGORITHM, "an unknown algorithm");
  if (p > 1)
    require(colligo_all_reduce(world, in, out, 5, element, "ring"), COLLIGO_ALGORITHM, "an algorithm that reorders");
  require(colligo_known_element(COLLIGO_DOUBLE, COLLIGO_BXOR, &known), COLLIGO_ARGUMENT, "bits of a double");
  require(colligo_all_reduce(MPI_COMM_NULL, in, out, 5, element, NULL), COLLIGO_ARGUMENT, "MPI_COMM_NULL");
  require(colligo_wait(&request), 0, "an empty request");
  require(colligo_start(request), COLLIGO_ARGUMENT, "start of an empty request");
  require(colligo_iall_reduce(world, in, out, 5, element, NULL, &request), 0, "iall_reduce");
  require(colligo_start(request), COLLIGO_ARGUMENT, "start of a started request");
  require(colligo_request_free(&request), 0, "free of an active request");
}

/* The root's vector is in memory that can not be written; its own block stays there. */
static void check_constant(char const* by) {
  static int const vector[8] = {[0] = 5, [2] = 6, [4] = 7, [6] = 8};
  ptrdiff_t const counts[most] = {1, 1, 1, 1}, first[most] = {0, 2, 4, 6};
  colligo_element number;
  require(colligo_known_element(COLLIGO_INT32, COLLIGO_NO_OP, &number), 0, "integers");
  IN_ALL_FORMS(1, scatterv, fill(), if (rank != 0) memcpy(wanted, vector + 2 * rank, sizeof *vector), vector, counts,
               first, rank == 0 ? COLLIGO_IN_PLACE : (void*)out, 1, number, 0, by);
}

static void check_known(void) {
  double x[9], sums[9], mpi[9];
  struct { double value; int index; } best = {1.0 * ((rank + 2) % p), rank}, found, mpi_found;
  colligo_element sum, where;
  for (int i = 0; i < 9; ++i) x[i] = rank + i;
  require(colligo_known_element(COLLIGO_DOUBLE, COLLIGO_SUM, &sum), 0, "sums of doubles");
  require(colligo_known_element(COLLIGO_DOUBLE_INT, COLLIGO_MAXLOC, &where), 0, "places of maxima");
  require(colligo_all_reduce(MPI_COMM_WORLD, x, sums, 9, sum, "ring"), 0, "a sum by ring");
  MPI_Allreduce(x, mpi, 9, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  require(memcmp(sums, mpi, sizeof sums), 0, "the sums");   /* of small integers: exact */
  require(colligo_all_reduce(MPI_COMM_WORLD, &best, &found, 1, where, NULL), 0, "maxloc");
  MPI_Allreduce(&best, &mpi_found, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  require(found.index, mpi_found.index, "the place of the maximum");
}

/* A functor that waits for its own request, which stays as it is. */
static colligo_request waited_for = NULL;
static void wait_within(void* calls, void const* left, void const* right, void* into, size_t n) {
  colligo_request const before = waited_for;
  int complete = 1;
  ++*(int*)calls;
  for (size_t i = 0; i < n; ++i) ((int*)into)[i] = ((int const*)left)[i] + ((int const*)right)[i];
  if (rank != 0) return;   /* others may not have it yet */
  require(colligo_wait(&waited_for), COLLIGO_ERROR, "wait in a functor");
  require(colligo_test(&waited_for, &complete) == COLLIGO_SUCCESS && !complete, 1, "test in a functor");
  require(colligo_request_free(&waited_for), COLLIGO_ERROR, "free in a functor");
  require(waited_for == before, 1, "a request that a functor has waited for");
}
static void check_waits_in_functors(void) {
  int calls = 0, x = rank, sum = -1;
  struct colligo_description const waits = {sizeof x, sizeof x, &wait_within, &calls, 1, 1, "int", "sum"};
  colligo_element number;
  require(colligo_describe(&waits, &number), 0, "describe");
  if (rank != 0) MPI_Barrier(MPI_COMM_WORLD);   /* until rank 0 has its request */
  require(colligo_ireduce(MPI_COMM_WORLD, &x, &sum, 1, number, 0, NULL, &waited_for), 0, "ireduce");
  if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);
  require(colligo_wait(&waited_for), 0, "wait for what a functor has waited for");
  if (rank == 0) require(sum == p * (p - 1) / 2 && (calls > 0 || p == 1), 1, "a sum whose functor has waited");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  long combined = 0;
  struct colligo_description const of_matrix = {sizeof(matrix), 4, &combine, &combined, 0, 1, "matrix", "product"};
  require(colligo_describe(&of_matrix, &element), 0, "describe");
  MPI_Type_contiguous(4, MPI_UINT32_T, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(&combine_for_mpi, 0, &op);
  int const lengths[] = {0, 1, 5, 600};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
    check_length(lengths[i], NULL);
    check_length(lengths[i], "vendor");
    check_blocks(lengths[i], 0, NULL);
    check_blocks(lengths[i], 3, "automatic");
  }
  check_constant(NULL), check_constant("vendor");
  check_known();
  check_errors();
  check_in_place();
  check_waits_in_functors();
  require(p > 1 && combined == 0, 0, "the functor's context");
  int all = 0;
  MPI_Allreduce(&failed, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d checks on each of %d ranks, %d failed\n", checked, p, all);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  MPI_Finalize();
  return all != 0;
}
