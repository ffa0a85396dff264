/* SPDX-License-Identifier: BSL-1.0
 * A program with a mistake, which hangs after five right calls; it knows nothing of the library.
 *   left_out   rank 1 leaves out a reduce and goes on
 *   receive    the last rank waits for a message that nobody sends
 *   root       rank 2 has another root */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  int rank, p, got = 0;
  double x = 1, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  for (int i = 0; i < 5; ++i) MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) fprintf(stderr, "now\n");
  if (strcmp(argv[1], "left_out") == 0 && rank != 1)
    MPI_Reduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD);
  if (strcmp(argv[1], "receive") == 0 && rank == p - 1)
    MPI_Recv(&got, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (strcmp(argv[1], "root") == 0) MPI_Bcast(&x, 1, MPI_DOUBLE, rank == 2 ? 2 : 0, MPI_COMM_WORLD);
  MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) printf("it did not hang\n");
  return 0;
}
