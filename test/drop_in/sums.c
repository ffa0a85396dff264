/* SPDX-License-Identifier: BSL-1.0
 * The sums of sums.f90, in C: prints the same hash. A program that knows nothing of the library. */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { n = 500 };

int main(int argc, char** argv) {
  double const powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
  double x[n], s[n];
  uint64_t hash = 0, bits;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 1; i <= n; ++i) x[i - 1] = sin(1.7 * rank + i) * powers[(rank * 5 + i) % 7];
  MPI_Allreduce(x, s, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) {
    memcpy(&bits, &s[i], sizeof bits);
    hash = hash * 31 ^ bits;
  }
  if (rank == 0) printf("bits %llX\n", (unsigned long long)hash);
  return MPI_Finalize();
}
