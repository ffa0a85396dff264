/* SPDX-License-Identifier: BSL-1.0
 * Arguments that MPI allows and that are unlike on the ranks, and arguments that it forbids but that MPI libraries take,
 * or refuse by the handler of the communicator. Calls for which a rank has no memory. */
#include "own_mpi.h"

#include <malloc.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

enum { most = 300, room = 1 << 15 };
static int rank, p, failed;

static void require(int is_right, char const* what) {
  if (!is_right && ++failed < 9) fprintf(stderr, "rank %d of %d: %s\n", rank, p, what);
}

/* Two numbers, which lie elsewhere in an element on each rank: x -> a x + b, one after the other. */
enum { lower_bounds, orders, addresses, kinds };
static char const* const names[] = {"other lower bounds", "another order", "addresses"};
static MPI_Aint at[2], extent;
struct map { uint32_t a, b; };
static struct map map_at(char* base, int i) {
  struct map m;
  memcpy(&m.a, base + i * extent + at[0], sizeof m.a), memcpy(&m.b, base + i * extent + at[1], sizeof m.b);
  return m;
}
static void put(struct map m, char* base, int i) {
  memcpy(base + i * extent + at[0], &m.a, sizeof m.a), memcpy(base + i * extent + at[1], &m.b, sizeof m.b);
}
static struct map then(struct map x, struct map y) { return (struct map){x.a * y.a, x.b * y.a + y.b}; }
static void compose(void* left, void* both, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; ++i) put(then(map_at(left, i), map_at(both, i)), both, i);
}
static int commutes;
static struct map of_ranks(int first, int end, int i) {
  struct map all = {1, 0};
  for (int r = first; r < end; ++r)
    all = then(all, (struct map){commutes ? 1 : (uint32_t)(2 * r + 3 + i), (uint32_t)(7 * r + i + 1)});
  return all;
}

static _Alignas(64) char out[room], wanted[room];
static void check_displacements(int kind, int n) {
  MPI_Aint const first = kind == orders ? 0 : 4 * rank + 4, second = kind == orders ? 4 : first + 8;
  MPI_Aint base = 0;
  if (kind == addresses) MPI_Get_address(out, &base);
  int const is_other = kind == orders && rank % 2;
  at[0] = base + (is_other ? second : first), at[1] = base + (is_other ? first : second);
  extent = kind == orders ? 8 : kind == addresses ? 64 : 40 + 8 * rank;
  char *const both = kind == addresses ? (char*)MPI_BOTTOM : out, *const expected = wanted - base;
  MPI_Datatype made, type;
  MPI_Type_create_hindexed_block(2, 1, at, MPI_UINT32_T, &made);
  MPI_Type_create_resized(made, 0, extent, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&made);
  MPI_Op op;
  MPI_Op_create(&compose, commutes, &op);
/* A call in place of `all` elements, of which `n` from `shift` on become those of the ranks from `from` to `end`. */
#define CHECK(name, all, from, end, shift, ...)                                                                 \
  memset(out, 85, room), memset(wanted, 85, room);                                                              \
  for (int i = 0; i < all; ++i)                                                                                 \
    put(of_ranks(rank, rank + 1, i), both, i), put(of_ranks(rank, rank + 1, i), expected, i);                   \
  require(MPI_##name(__VA_ARGS__) == MPI_SUCCESS, #name ": an error");                                          \
  for (int i = 0; i < n && from < end; ++i) put(of_ranks(from, end, shift + i), expected, i);                   \
  if (all > n) memcpy(wanted + n * extent, out + n * extent, (size_t)(room - n * extent)); /* undefined */      \
  if (memcmp(out, wanted, room) != 0) require(0, #name " of a type that differs between ranks:"), require(0, names[kind])
  int const is_last = rank == p - 1;
  CHECK(Allreduce, n, 0, p, 0, MPI_IN_PLACE, both, n, type, op, MPI_COMM_WORLD);
  CHECK(Reduce, n, 0, (is_last ? p : 0), 0, is_last ? MPI_IN_PLACE : both, is_last ? both : NULL, n, type, op, p - 1,
        MPI_COMM_WORLD);
  CHECK(Scan, n, 0, rank + 1, 0, MPI_IN_PLACE, both, n, type, op, MPI_COMM_WORLD);
  CHECK(Exscan, n, 0, rank, 0, MPI_IN_PLACE, both, n, type, op, MPI_COMM_WORLD);
  CHECK(Reduce_scatter_block, n * p, 0, p, n * rank, MPI_IN_PLACE, both, n, type, op, MPI_COMM_WORLD);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}

/* What MPI refuses has its error, by the handler of the call's communicator; that of others ends the program. */
static int handled, looks;   /* whether the MPI library looks for input where its result comes */
static void handler(MPI_Comm* over, int* code, ...) {
  (void)over, (void)code;
  ++handled;
}
static void check_refused(void) {
  MPI_Comm comm;
  MPI_Errhandler own;
  MPI_Datatype type;
  MPI_Op op;
  int in[32] = {0}, of_all[32 * 8], first[64] = {0}, ones[64], places[64], refused = 0;
  for (int i = 0; i < 64; ++i) ones[i] = 1, places[i] = i;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(&handler, &own);
  MPI_Comm_set_errhandler(comm, own);
  MPI_Type_vector(3, 1, 2, MPI_INT, &type);   /* is not committed */
  MPI_Op_create(&compose, 1, &op);
#define REFUSED(what, ...)                                                                                   \
  require(__VA_ARGS__ != MPI_SUCCESS && handled == ++refused, what ": MPI's error, by the communicator's handler")
  REFUSED("Bcast of a type that is not committed", MPI_Bcast(in, 1, type, 0, comm));
  REFUSED("Allgather of a type that is not committed", MPI_Allgather(in, 1, type, of_all, 1, type, comm));
  REFUSED("Allreduce of a type that is not committed", MPI_Allreduce(in, of_all, 1, type, op, comm));
  REFUSED("Allgather to MPI_IN_PLACE", MPI_Allgather(in, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm));
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(library, &length);
  int const is_open_mpi = strstr(library, "Open MPI") != NULL;
  if (!is_open_mpi) {   /* which does not look, or calls the handler of MPI_COMM_WORLD */
    REFUSED("Allreduce to MPI_IN_PLACE", MPI_Allreduce(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm));
    REFUSED("Allreduce of NULL", MPI_Allreduce(NULL, of_all, 1, MPI_INT, MPI_SUM, comm));
    REFUSED("Bcast of NULL", MPI_Bcast(NULL, 1, MPI_INT, 0, comm));
  }
  if (looks) {
    REFUSED("Allreduce of its result", MPI_Allreduce(in, in, 1, MPI_INT, MPI_SUM, comm));
    REFUSED("Exscan of its result", MPI_Exscan(in, in, 1, MPI_INT, MPI_SUM, comm));
    REFUSED("Allgather of a block of its result", MPI_Allgather(of_all + rank, 1, MPI_INT, of_all, 1, MPI_INT, comm));
    REFUSED("Allgatherv of a block of its result",
            MPI_Allgatherv(of_all + rank, 1, MPI_INT, of_all, ones, places, MPI_INT, comm));
    REFUSED("Alltoall of its result", MPI_Alltoall(of_all, 1, MPI_INT, of_all, 1, MPI_INT, comm));
    REFUSED("Alltoallv of its result",
            MPI_Alltoallv(of_all, ones, places, MPI_INT, of_all, ones, places, MPI_INT, comm));
  }
  if (rank == 0) {   /* alone: the others make no such call */
    REFUSED("Bcast of a negative count", MPI_Bcast(in, -1, MPI_INT, 0, comm));
    REFUSED("Reduce of its result", MPI_Reduce(in, in, 1, MPI_INT, MPI_SUM, 0, comm));
  }
  if (rank == 0 && looks) {
    REFUSED("Gather of a block of its result", MPI_Gather(of_all, 1, MPI_INT, of_all, 1, MPI_INT, 0, comm));
    REFUSED("Gatherv of a block of its result",
            MPI_Gatherv(of_all, 1, MPI_INT, of_all, ones, places, MPI_INT, 0, comm));
    REFUSED("Scatter to its input", MPI_Scatter(of_all, 1, MPI_INT, of_all, 1, MPI_INT, 0, comm));
    REFUSED("Scatterv to its input", MPI_Scatterv(of_all, ones, places, MPI_INT, of_all, 1, MPI_INT, 0, comm));
  }
  /* On rank 1, which makes the call once more. The others wait for that. */
#define REFUSED_AT_FIRST(what, ...)                                                             \
  for (int wrong = rank == 1; wrong >= 0; --wrong) {                                            \
    void *const in_1 = wrong ? MPI_IN_PLACE : in, *const out_1 = wrong ? MPI_IN_PLACE : of_all; \
    (void)in_1, (void)out_1;                                                                    \
    require((__VA_ARGS__ != MPI_SUCCESS) == wrong, what ", not of the root");                   \
  }                                                                                             \
  handled = refused;                                                                            \
  require(MPI_Allreduce(&rank, of_all, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && *of_all == p * (p - 1) / 2, \
          what ", not of the root: wrong afterwards")
  if (is_open_mpi) {   /* MPICH 4.0 does not look, and is ended by a signal */
    REFUSED_AT_FIRST("Gather in place", MPI_Gather(in_1, 1, MPI_INT, of_all, 1, MPI_INT, 0, comm));
    REFUSED_AT_FIRST("Scatter in place", MPI_Scatter(in, 1, MPI_INT, out_1, 1, MPI_INT, 0, comm));
    REFUSED_AT_FIRST("Scatterv in place", MPI_Scatterv(in, ones, first, MPI_INT, out_1, 1, MPI_INT, 0, comm));
    REFUSED_AT_FIRST("Reduce in place", MPI_Reduce(in_1, of_all, 1, MPI_INT, MPI_SUM, 0, comm));
  }
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  MPI_Errhandler_free(&own);
  MPI_Comm_free(&comm);
}

/* Input that overlaps the result. MPI forbids it; MPICH looks whether it is where its result comes. */
static void check_overlaps(void) {
  MPI_Comm const comm = MPI_COMM_WORLD;
  int x[64], y[64], counts[64], first[64];
  for (int i = 0; i < p; ++i) counts[i] = 1, first[i] = 2 * i;
#define OVERLAPPING(what, is_there, place, value, ...)                                     \
  for (int i = 0; i < 64; ++i) x[i] = y[i] = 100 * rank + i;                               \
  require(__VA_ARGS__ == MPI_SUCCESS, what ": an error where input and result overlap");   \
  for (int i = 0; i < p && (is_there); ++i) y[place] = value;                              \
  require(memcmp(x, y, sizeof x) == 0, what ": wrong where input and result overlap")
  if (!looks) {
    OVERLAPPING("Allgather", 1, i, 101 * i, MPI_Allgather(x + rank, 1, MPI_INT, x, 1, MPI_INT, comm));
    OVERLAPPING("Allgatherv", 1, 2 * i, 102 * i,
                MPI_Allgatherv(x + 2 * rank, 1, MPI_INT, x, counts, first, MPI_INT, comm));
    OVERLAPPING("Gather", rank == 1, i, 101 * i, MPI_Gather(x + rank, 1, MPI_INT, x, 1, MPI_INT, 1, comm));
    OVERLAPPING("Gatherv", rank == 1, 2 * i, 102 * i,
                MPI_Gatherv(x + 2 * rank, 1, MPI_INT, x, counts, first, MPI_INT, 1, comm));
    OVERLAPPING("Scatter", 1, rank, 100 + rank, MPI_Scatter(x, 1, MPI_INT, x + rank, 1, MPI_INT, 1, comm));
    OVERLAPPING("Scatterv", 1, 2 * rank, 100 + 2 * rank,
                MPI_Scatterv(x, counts, first, MPI_INT, x + 2 * rank, 1, MPI_INT, 1, comm));
    OVERLAPPING("Alltoall", 1, i, 100 * i + rank, MPI_Alltoall(x, 1, MPI_INT, x, 1, MPI_INT, comm));
    OVERLAPPING("Alltoallv", 1, 2 * i, 100 * i + 2 * rank,
                MPI_Alltoallv(x, counts, first, MPI_INT, x, counts, first, MPI_INT, comm));
  }
  OVERLAPPING("Allgather of another place", 1, i, 100 * i + (i + 1) % p,
              MPI_Allgather(x + (rank + 1) % p, 1, MPI_INT, x, 1, MPI_INT, comm));
  OVERLAPPING("Allreduce", 1, i + 1, 50 * p * (p - 1) + p * i,
              MPI_Allreduce(x, x + 1, p, MPI_INT, MPI_SUM, comm));
  OVERLAPPING("Scan", 1, i, 50 * rank * (rank + 1) + (rank + 1) * (i + 1),
              MPI_Scan(x + 1, x, p, MPI_INT, MPI_SUM, comm));
}

/* The root's input is in memory that can not be written. */
static int const constant[64] = {[0] = 5, [2] = 6, [4] = 7};
static void check_constant(void) {
  int counts[64], first[64], got = 5;
  for (int i = 0; i < p; ++i) counts[i] = 1, first[i] = 2 * i;
  MPI_Scatterv(constant, counts, first, MPI_INT, rank == 0 ? MPI_IN_PLACE : &got, 1, MPI_INT, 0, MPI_COMM_WORLD);
  require(got == 5 + rank, "Scatterv in place of a constant vector");
}

/* Rank 1 can not allocate what it packs. The other ranks are told, and later calls are right. Elements without an extent
 * need no memory of the program's. */
static rlim_t no_more_memory(void) {
  long pages = 0;
  FILE* const file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld", &pages) != 1) fprintf(stderr, "no /proc/self/statm\n"), exit(1);
  fclose(file);
  struct rlimit limit;
  getrlimit(RLIMIT_AS, &limit);
  rlim_t const before = limit.rlim_cur;
  limit.rlim_cur = (rlim_t)pages * 4096 + (8 << 20);
  setrlimit(RLIMIT_AS, &limit);
  return before;
}
static void check_memory(void) {
  enum { n = 1 << 22 };
  MPI_Comm comm;
  MPI_Datatype vector, type;
  MPI_Op op;
  int x[8] = {0}, y[8], sum = 0, counts[64] = {[1] = n}, first[64] = {0};
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 0, &type);
  MPI_Type_commit(&type);
  at[0] = 0, at[1] = 8, extent = 0;
  MPI_Op_create(&compose, 1, &op);
#define WITHOUT_MEMORY(name, ...)                                                              \
  {                                                                                            \
    MPI_Barrier(comm);                                                                         \
    struct rlimit limit;                                                                       \
    getrlimit(RLIMIT_AS, &limit);                                                              \
    if (rank == 1) limit.rlim_cur = no_more_memory();                                          \
    int const code = MPI_##name(__VA_ARGS__);                                                  \
    if (rank == 1) setrlimit(RLIMIT_AS, &limit);                                               \
    require(code != MPI_SUCCESS, #name " of which a rank has no memory: no error");            \
    require(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS &&            \
            sum == p * (p - 1) / 2, #name " of which a rank had no memory: wrong afterwards"); \
  }
  WITHOUT_MEMORY(Bcast, x, n, type, 1, comm);
  WITHOUT_MEMORY(Allreduce, x, y, n, type, op, comm);
  WITHOUT_MEMORY(Gatherv, x, rank == 1 ? n : 0, type, y, counts, first, type, 0, comm);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  MPI_Type_free(&vector);
  MPI_Comm_free(&comm);
}

/* Operations of MPI's that are none of the library's own. */
static void check_operations(void) {
  MPI_Comm const comm = MPI_COMM_WORLD;
  struct { int value, place; } const pair = {rank % 2, rank};
  struct { int value, place; } of_all = {0, 0};
  unsigned char const byte = (unsigned char)(1 << rank);
  unsigned char bytes = 0;
  MPI_Allreduce(&byte, &bytes, 1, MPI_BYTE, MPI_BOR, comm);
  require(bytes == (1 << p) - 1, "bits of bytes");
  MPI_Allreduce(&pair, &of_all, 1, MPI_2INTEGER, MPI_MAXLOC, comm);
  require(of_all.value == 1 && of_all.place == 1, "maxloc of two integers");
}

/* An operation of the program's on elements of ever new sizes, of which little may be kept. */
static int maps;   /* of an element */
static void compose_maps(void* left, void* both, int* n, MPI_Datatype* type) {
  (void)type;
  struct map *const l = left, *const b = both;
  for (int i = 0; i < *n * maps; ++i) b[i] = then(l[i], b[i]);
}
static void check_sizes(void) {
  enum { least = 120, sizes = 1200, elements = 2 };
  static struct map in[elements * (least + sizes)], got[elements * (least + sizes)];
  MPI_Op op;
  MPI_Op_create(&compose_maps, 0, &op);
  commutes = 0;
  size_t before = 0;
  for (maps = least; maps < least + sizes; ++maps) {
    MPI_Datatype type;
    MPI_Type_contiguous(2 * maps, MPI_UINT32_T, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < elements * maps; ++i) in[i] = of_ranks(rank, rank + 1, i);
    MPI_Allreduce(in, got, elements, type, op, MPI_COMM_WORLD);
    int wrong = 0;
    for (int i = 0; i < elements * maps; ++i) {
      struct map const right = of_ranks(0, p, i);
      wrong += memcmp(&got[i], &right, sizeof right) != 0;
    }
    require(!wrong, "an operation on elements of many bytes");
    MPI_Type_free(&type);
    if (maps == least + sizes / 4) before = mallinfo2().uordblks;
  }
  MPI_Op_free(&op);
  require(mallinfo2().uordblks < before + (1 << 16), "much is kept of elements of new sizes");
}

int main(int argc, char** argv) {
  int all = 0;
  find_own_mpi();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  for (int kind = 0; kind < kinds; ++kind)
    for (commutes = 0; commutes < 2; ++commutes) check_displacements(kind, 1), check_displacements(kind, most / p);
  int in_out = 0;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  looks = MPI_Allreduce(&in_out, &in_out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF) != MPI_SUCCESS;
  check_refused();
  check_overlaps();
  check_constant();
  check_operations();
  check_memory();
  check_sizes();
  own_Allreduce(&failed, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) fprintf(stderr, "%d wrong\n", all);
  MPI_Finalize();
  return all != 0;
}
