/* SPDX-License-Identifier: BSL-1.0
 * Requests beside the MPI library's blocking calls: all collectives at once, waited for in every way; ranks that are
 * blocked elsewhere in MPI, or in a blocking call, while others wait for a request; types and communicators that are
 * freed before; calls that are passed on between; ranks with different counts; a child of fork().
 *   requests [threads | time]    with MPI_THREAD_MULTIPLE; how long a short request takes */
#define _POSIX_C_SOURCE 200809L
#include "own_mpi.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { room = 1 << 15, most = 40, ways = 9 };
static struct call {
  char const* what;
  int n;   /* numbers that are compared */
  double in[room], out[room], wanted[room];
} calls[most];
static MPI_Request open[most];
static int rank, p, failed, checked, made;
static MPI_Comm comm;
static char const* const names_of_ways[] = {"Wait",    "Waitall",  "Waitany",  "Waitsome",          "Test",
                                            "Testall", "Testany", "Testsome", "Request_get_status"};

static void require(int is_right, char const* what, char const* how) {
  ++checked;
  if (!is_right && ++failed < 9) fprintf(stderr, "rank %d of %d: %s, %s\n", rank, p, what, how);
}

/* Completes all requests. */
static void finish(int way) {
  int flag = 0, at, some, which[most];
  MPI_Status statuses[most];
  switch (way) {
    case 0:
      for (int i = 0; i < made; ++i) MPI_Wait(&open[i], MPI_STATUS_IGNORE);
      break;
    case 1: MPI_Waitall(made, open, rank % 2 ? MPI_STATUSES_IGNORE : statuses); break;
    case 2:
      for (int i = 0; i < made; ++i) MPI_Waitany(made, open, &at, MPI_STATUS_IGNORE);
      break;
    case 3:
      for (some = 0; some != MPI_UNDEFINED;) MPI_Waitsome(made, open, &some, which, statuses);
      break;
    case 4:
      for (int i = made; i-- > 0;)
        for (flag = 0; !flag;) MPI_Test(&open[i], &flag, MPI_STATUS_IGNORE);
      break;
    case 5:
      while (!flag) MPI_Testall(made, open, &flag, statuses);
      break;
    case 6:
      for (at = 0; at != MPI_UNDEFINED || !flag;) MPI_Testany(made, open, &at, &flag, MPI_STATUS_IGNORE);
      break;
    case 7:
      for (some = 0; some != MPI_UNDEFINED;) MPI_Testsome(made, open, &some, which, statuses);
      break;
    default:
      for (int i = 0; i < made; ++i) {
        for (flag = 0; !flag;) MPI_Request_get_status(open[i], &flag, MPI_STATUS_IGNORE);
        MPI_Wait(&open[i], MPI_STATUS_IGNORE);
      }
  }
  for (int i = 0; i < made; ++i) {
    struct call const* const c = &calls[i];
    require(open[i] == MPI_REQUEST_NULL, c->what, "not null");
    require(memcmp(c->out, c->wanted, (size_t)c->n * sizeof c->out[0]) == 0, c->what, names_of_ways[way]);
  }
  made = 0;
}

/* A request, and MPI's own blocking call, which is never in place. In place, `m` numbers are at `place` of `to`. */
#define BOTH(name, small, is_in_place, place, m, compared, ...)                              \
  do {                                                                                       \
    struct call* const c = &calls[made];                                                     \
    c->what = "I" #small, c->n = compared;                                                   \
    for (int i = 0; i < room; ++i) {                                                         \
      c->in[i] = (i * 7 + rank * 13 + made * 5) % 9;                                         \
      c->out[i] = c->wanted[i] = -1;                                                         \
    }                                                                                        \
    if (is_in_place) memcpy(c->out + (place), c->in, (size_t)(m) * sizeof c->in[0]);         \
    if (is_in_place) memcpy(c->wanted + (place), c->in, (size_t)(m) * sizeof c->in[0]);      \
    {                                                                                        \
      void *const input = c->in, *const from = (is_in_place) ? MPI_IN_PLACE : input;         \
      double* const to = c->out;                                                             \
      (void)input, (void)from;                                                               \
      MPI_I##small(__VA_ARGS__, &open[made]);                                                \
    }                                                                                        \
    {                                                                                        \
      void* const from = c->in;                                                              \
      double* const to = c->wanted;                                                          \
      (void)from;                                                                            \
      own_##name(__VA_ARGS__);                                                               \
    }                                                                                        \
    ++made;                                                                                  \
  } while (0)

/* Every collective, all at once, from `first` on. */
static void start_all(int n, int in_place, int root) {
  int counts[64], first[64], out_counts[64], out_first[64], all = 0, out_all = 0;
  for (int i = 0; i < p; ++i) {
    counts[i] = n + i, first[i] = all + i, all += counts[i] + 1;
    out_counts[i] = n + rank, out_first[i] = out_all, out_all += out_counts[i] + 2;
  }
  int const is_root = rank == root, whole = room / 2;
  BOTH(Allreduce, allreduce, in_place, 0, n, whole, from, to, n, MPI_DOUBLE, MPI_SUM, comm);
  BOTH(Reduce, reduce, in_place && is_root, 0, n, whole, from, to, n, MPI_DOUBLE, MPI_MAX, root, comm);
  BOTH(Scan, scan, in_place, 0, n, whole, from, to, n, MPI_DOUBLE, MPI_SUM, comm);
  BOTH(Exscan, exscan, in_place && rank, 0, n, rank ? whole : 0, from, to, n, MPI_DOUBLE, MPI_SUM, comm);
  BOTH(Reduce_scatter_block, reduce_scatter_block, in_place, 0, n * p, n, from, to, n, MPI_DOUBLE, MPI_MIN, comm);
  BOTH(Reduce_scatter, reduce_scatter, in_place, 0, n * p + p * p, counts[rank], from, to, counts, MPI_DOUBLE, MPI_SUM,
       comm);
  BOTH(Bcast, bcast, is_root, 0, n, is_root ? 0 : whole, to, n, MPI_DOUBLE, root, comm);
  BOTH(Allgather, allgather, in_place, rank * n, n, whole, from, n, MPI_DOUBLE, to, n, MPI_DOUBLE, comm);
  BOTH(Allgatherv, allgatherv, in_place, first[rank], counts[rank], whole, from, counts[rank], MPI_DOUBLE, to, counts,
       first, MPI_DOUBLE, comm);
  BOTH(Gather, gather, in_place && is_root, rank * n, n, whole, from, n, MPI_DOUBLE, to, n, MPI_DOUBLE, root, comm);
  BOTH(Scatter, scatter, 0, 0, 0, whole, from, n, MPI_DOUBLE, in_place && is_root ? MPI_IN_PLACE : (void*)to, n,
       MPI_DOUBLE, root, comm);
  BOTH(Alltoall, alltoall, in_place, 0, n * p, whole, from, n, MPI_DOUBLE, to, n, MPI_DOUBLE, comm);
  BOTH(Alltoallv, alltoallv, 0, 0, 0, whole, from, counts, first, MPI_DOUBLE, to, out_counts, out_first, MPI_DOUBLE,
       comm);
  if (in_place) return;
  BOTH(Gatherv, gatherv, 0, 0, 0, whole, from, counts[rank], MPI_DOUBLE, to, counts, first, MPI_DOUBLE, root, comm);
  BOTH(Scatterv, scatterv, 0, 0, 0, whole, from, counts, first, MPI_DOUBLE, to, counts[rank], MPI_DOUBLE, root, comm);
}
#define ALL_REDUCE(n) BOTH(Allreduce, allreduce, 0, 0, 0, n, from, to, n, MPI_DOUBLE, MPI_SUM, comm)

static void barrier_waits(void) {
  MPI_Request entered;
  int flag = 0, token = 0;
  if (rank == p - 1) MPI_Recv(&token, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
  MPI_Ibarrier(comm, &entered);
  if (rank == 0) {
    for (int i = 0; i < 500; ++i) {
      MPI_Test(&entered, &flag, MPI_STATUS_IGNORE);
      require(!flag, "Ibarrier", "is complete before all have come");
    }
    MPI_Send(&token, 1, MPI_INT, p - 1, 0, comm);
  }
  MPI_Wait(&entered, MPI_STATUS_IGNORE);
}

/* Rank 0 waits for a request while the others are blocked elsewhere, where MPI has to let them go on. */
static void blocked_elsewhere(int n, MPI_Comm other) {
  int token = 0;
  ALL_REDUCE(n);   /* in MPI_Recv */
  if (rank == 0) MPI_Wait(&open[0], MPI_STATUS_IGNORE);
  if (rank == 0)
    for (int r = 1; r < p; ++r) MPI_Send(&token, 1, MPI_INT, r, 1, comm);
  else MPI_Recv(&token, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
  finish(0);
  ALL_REDUCE(n);   /* in a collective of MPI's own, which on another communicator may come in any order */
  if (rank == 0) MPI_Wait(&open[0], MPI_STATUS_IGNORE);
  own_Bcast(&token, 1, MPI_INT, 0, other);
  finish(1);
  ALL_REDUCE(n);   /* in a blocking call that is served */
  double one = 1, sum = 0;
  if (rank == 0) MPI_Wait(&open[0], MPI_STATUS_IGNORE);
  MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  require(sum == p, "Allreduce", "beside a request");
  finish(0);
  ALL_REDUCE(n);   /* in one on another communicator */
  if (rank == 0) MPI_Wait(&open[0], MPI_STATUS_IGNORE);
  MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, other);
  finish(2);
  /* Who waits for a request lets MPI go on with its messages. */
  static char long_in[1 << 21], long_out[1 << 21];
  MPI_Request sent = MPI_REQUEST_NULL;
  if (rank == 0) MPI_Isend(long_in, sizeof long_in, MPI_CHAR, p - 1, 2, comm, &sent);
  if (rank == p - 1) MPI_Recv(long_out, sizeof long_out, MPI_CHAR, 0, 2, comm, MPI_STATUS_IGNORE);
  double const in = rank;
  MPI_Request request;
  MPI_Iallreduce(&in, &sum, 1, MPI_DOUBLE, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  require(sum == p * (p - 1) / 2, "Iallreduce", "beside a long message");
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

/* Requests on two communicators, in another order on each rank, and one that is never waited for alone. */
static void on_two_communicators(int n, MPI_Comm other) {
  double const in = rank + 1;
  static double input[room], out[2][room];
  for (int i = 0; i < n; ++i) input[i] = in * i;
  MPI_Request both[2];
  for (int i = 0; i < 2; ++i) {
    int const which = (i + rank) % 2;
    MPI_Iallreduce(input, out[which], n, MPI_DOUBLE, MPI_SUM, which ? other : comm, &both[which]);
  }
  MPI_Wait(&both[rank % 2], MPI_STATUS_IGNORE);
  MPI_Wait(&both[1 - rank % 2], MPI_STATUS_IGNORE);
  double const last = (n - 1) * (p * (p + 1) / 2.0);
  require(out[0][n - 1] == last && out[1][n - 1] == last, "Iallreduce", "on two communicators");
}

static void product(void* left, void* both, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; ++i) ((double*)both)[i] *= ((double*)left)[i];
}
/* Types, operations and communicators are freed before their requests are complete. Not the communicator of a request
 * that is passed on: Open MPI is ended by a signal. */
static void freed_before(int n) {
  MPI_Comm other;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Request requests[3];
  MPI_Status statuses[3];
  double *const in = calls[0].in, *const out = calls[0].out, *const sums = calls[1].out;
  MPI_Comm_dup(comm, &other);
  MPI_Barrier(other);
  MPI_Type_vector(n, 1, 2, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(&product, 1, &op);
  for (int i = 0; i < 2 * n; ++i) in[i] = rank + i, out[i] = rank ? -1 : i, calls[1].in[i] = 2, sums[i] = 0;
  MPI_Ibcast(out, 1, type, 0, other, &requests[0]);
  MPI_Iallreduce(in, sums, n, MPI_DOUBLE, MPI_SUM, other, &requests[1]);
  MPI_Iallreduce(calls[1].in, calls[2].out, n, MPI_DOUBLE, op, comm, &requests[2]);
  MPI_Type_free(&type);
  MPI_Op_free(&op);
  MPI_Comm_free(&other);
  /* Handles come again. */
  MPI_Type_contiguous(3, MPI_CHAR, &type);
  MPI_Type_commit(&type);
  MPI_Comm_dup(comm, &other);
  MPI_Waitall(3, requests, statuses);
  int right = 1;
  for (int i = 0; i < n; ++i) {
    right &= out[2 * i] == 2 * i && (rank == 0 || out[2 * i + 1] == -1 || i == n - 1);
    right &= sums[i] == p * i + p * (p - 1) / 2 && calls[2].out[i] == (double)(1 << p);
  }
  require(right, "Ibcast and Iallreduce", "freed before");
  MPI_Type_free(&type);
  MPI_Comm_free(&other);
}

static int handled;
static void handler(MPI_Comm* over, int* code, ...) {
  (void)over, (void)code;
  ++handled;
}
static void wrong_call(void) {
  MPI_Errhandler own;
  MPI_Comm other;
  MPI_Request request;
  int in[2] = {1, 1}, out[2], of_all = 0;
  MPI_Comm_dup(comm, &other);
  MPI_Barrier(other);
  MPI_Comm_create_errhandler(&handler, &own);
  MPI_Comm_set_errhandler(other, own);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Iallreduce(in, out, rank == 0 ? 2 : 1, MPI_INT, MPI_SUM, other, &request);
  int const told = MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  require(told == handled, "Iallreduce", "an error without its handler, or the other way round");
  own_Allreduce(&handled, &of_all, 1, MPI_INT, MPI_SUM, comm);
  require(of_all > 0, "Iallreduce", "no rank was told of another count");
  MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, other);   /* the next call is in step */
  require(out[0] == p, "Allreduce", "after a wrong request");
  MPI_Comm_free(&other);
  MPI_Errhandler_free(&own);
}

/* Two threads, each with requests on a communicator of its own. */
static void* in_thread(void* of) {
  MPI_Comm const own = *(MPI_Comm*)of;
  int right = 1;
  for (int i = 0; i < 100; ++i) {
    int in[2] = {rank + i, 1}, out[2] = {0, 0};
    MPI_Request requests[2];
    for (int k = 0; k < 2; ++k) MPI_Iallreduce(&in[k], &out[k], 1, MPI_INT, MPI_SUM, own, &requests[k]);
    for (int k = 2; k-- > 0;) {
      int is_complete = i % 2;   /* asked while the other thread waits for its own */
      while (!is_complete) MPI_Request_get_status(requests[k], &is_complete, MPI_STATUS_IGNORE);
      MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
    }
    right &= out[0] == p * (p - 1) / 2 + p * i && out[1] == p;
  }
  return right ? of : NULL;
}
static void two_threads(MPI_Comm other) {
  pthread_t second;
  MPI_Comm first = comm;
  void* done = NULL;
  pthread_create(&second, NULL, &in_thread, &other);
  require(in_thread(&first) != NULL, "Iallreduce", "of the first thread");
  pthread_join(second, &done);
  require(done != NULL, "Iallreduce", "of the second thread");
}

/* A child of fork() ends, though it lacks whatever makes progress for its parent, and sleeps by now. */
static void child_ends(void) {
  nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  pid_t const child = fork();
  if (child == 0) alarm(5), exit(0);
  int status = 0;
  require(waitpid(child, &status, 0) == child && WIFEXITED(status), "fork", "the child hangs");
}

/* `requests time`: the best of 50 loops. */
static void print_times(void) {
  MPI_Barrier(comm);
  for (int n = 1; n <= 8192; n *= 8192) {
    int const calls_of_loop = n == 1 ? 500 : 50;
    double best = 1;
    for (int loop = 0; loop < 50; ++loop) {
      MPI_Barrier(comm);
      double const began = MPI_Wtime();
      for (int i = 0; i < calls_of_loop; ++i) {
        MPI_Iallreduce(calls[0].in, calls[0].out, n, MPI_DOUBLE, MPI_SUM, comm, &open[0]);
        MPI_Wait(&open[0], MPI_STATUS_IGNORE);
      }
      double const took = (MPI_Wtime() - began) / calls_of_loop;
      if (took < best) best = took;
    }
    if (rank == 0) printf("Iallreduce and Wait of %d B: %.0f ns\n", 8 * n, 1e9 * best);
  }
}

int main(int argc, char** argv) {
  find_own_mpi();
  int provided;
  char const* const what = argc > 1 ? argv[1] : "";
  MPI_Init_thread(&argc, &argv, strcmp(what, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  comm = MPI_COMM_WORLD;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &p);
  if (strcmp(what, "time") == 0) return print_times(), MPI_Finalize();
  start_all(1, 0, 0);   /* before any blocking call: passed on */
  finish(1);
  MPI_Comm other;
  MPI_Comm_dup(comm, &other);
  MPI_Barrier(comm);
  MPI_Barrier(other);
  for (int way = 0; way < ways; ++way) {
    start_all(way % 3 == 0 ? 1 : way % 3 == 1 ? 7 : 900, way % 2, way % p);
    finish(way);
  }
  for (int n = 1; n < room; n *= 170) {
    barrier_waits();
    blocked_elsewhere(n, other);
    on_two_communicators(n, other);
  }
  start_all(0, 0, 0);
  finish(1);
  if (provided == MPI_THREAD_MULTIPLE) two_threads(other);
  child_ends();
  freed_before(1);
  freed_before(1000);
  wrong_call();
  int all = 0;
  own_Allreduce(&failed, &all, 1, MPI_INT, MPI_SUM, comm);
  if (rank == 0) fprintf(stderr, "%d comparisons on each of %d ranks, %d wrong\n", checked, p, all);
  MPI_Comm_free(&other);
  MPI_Finalize();
  return all != 0;
}
