// SPDX-License-Identifier: BSL-1.0
// What ranks get from the MPI library alone if one makes a mistake: the columns of Open MPI and MPICH in README.md.
//
//   mpicc test/faults/by_mpi.c -o by_mpi && for fault in 0 1 2 3 4 5 6 7 8 9 10; do mpirun -n 3 by_mpi $fault; done
//
// A rank that still waits after four seconds says so and ends the job. No test runs this, because of these seconds.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most = 60000 };
static int rank, call = 1;
static double in[most], out[most];

static void waits(int signal) {
  (void)signal;
  printf("rank %d waits in call %d\n", rank, call);
  fflush(stdout);
  sleep(1);   // so that the others say theirs
  _exit(1);
}

// Of sums of ones and of blocks: the first and the last value say whether they are right.
static void got(int error, double first, double last) {
  char text[MPI_MAX_ERROR_STRING] = "no error";
  int class = 0, length = 0;
  MPI_Error_class(error, &class);
  if (error != MPI_SUCCESS) MPI_Error_string(class, text, &length);
  printf("rank %d, call %d: %s; %g .. %g\n", rank, call++, text, first, last);
  fflush(stdout);
}
static void all_reduce(int n, MPI_Datatype type) {
  int const error = MPI_Allreduce(in, out, n, type, MPI_SUM, MPI_COMM_WORLD);
  got(error, type == MPI_FLOAT ? ((float*)out)[0] : out[0], type == MPI_FLOAT ? ((float*)out)[n - 1] : out[n - 1]);
}
static void broadcast(int root) {
  int const error = MPI_Bcast(in, 1, MPI_DOUBLE, root, MPI_COMM_WORLD);
  got(error, in[0], in[0]);
}
static void reduce(int n) {
  int const error = MPI_Reduce(in, out, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  got(error, out[0], out[n - 1]);
}
static void gather(int n) {
  int const error = MPI_Gather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  got(error, out[0], out[3 * n - 1]);
}
// Rank 1 sends so many to rank 2, which expects 2; all others exchange one.
static void all_to_all(int sent) {
  int to[3] = {1, 1, 1}, from[3] = {1, 1, 1}, at[3] = {0, 10, 20};
  if (rank == 1) to[2] = sent;
  if (rank == 2) from[1] = 2;
  int const error = MPI_Alltoallv(in, to, at, MPI_DOUBLE, out, from, at, MPI_DOUBLE, MPI_COMM_WORLD);
  got(error, out[10], out[11]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int const fault = argc > 1 ? atoi(argv[1]) : 0, first = rank == 0;
  static char const* const names[] = {
      "rank 0 does not come", "two roots", "rank 0 passes 1, the others 2", "rank 0 passes 2, the others 1",
      "60000 against 30000", "gather: 20 at the root, 40 elsewhere", "all_to_all_v: 3 for 2", "all_to_all_v: 1 for 2",
      "double against float", "all_reduce on rank 0, reduce on the others", "rank 0 makes one more call"};
  if (fault < 0 || fault > 10) return 2;
  if (first) printf("== %s\n", names[fault]);
  for (int i = 0; i < most; ++i) in[i] = 1 + (fault == 1 ? rank : 0), out[i] = -1;
  if (fault == 8 && !first)
    for (int i = 0; i < most; ++i) ((float*)in)[i] = 1;
  signal(SIGALRM, waits);
  alarm(4);
  switch (fault) {
    case 0: if (first) pause(); else all_reduce(2, MPI_DOUBLE); break;
    case 1: broadcast(first ? 0 : 1); break;
    case 2: all_reduce(first ? 1 : 2, MPI_DOUBLE); break;
    case 3: all_reduce(first ? 2 : 1, MPI_DOUBLE); break;
    case 4: all_reduce(first ? most : most / 2, MPI_DOUBLE); break;
    case 5: gather(first ? 20 : 40); break;
    case 6: all_to_all(3); break;
    case 7: all_to_all(1); break;
    case 8: all_reduce(2, first ? MPI_DOUBLE : MPI_FLOAT); break;
    case 9:
      if (first) all_reduce(2, MPI_DOUBLE);
      else reduce(2);
      break;
    case 10: if (first) all_reduce(2, MPI_DOUBLE); break;
  }
  for (int i = 0; i < most; ++i) in[i] = 1;
  all_reduce(2, MPI_DOUBLE);   // the next call
  MPI_Finalize();
  return 0;
}
