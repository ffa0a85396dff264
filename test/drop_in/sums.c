/* SPDX-License-Identifier: BSL-1.0
 * The sums of sums.f90, in C: prints the same hash. Then a total that depends on the number of ranks if a sum is not
 * rounded once. A program that knows nothing of the library. */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { n = 500, numbers = 840 };   /* divisible by 2 to 8 */

/* Of differences of whole numbers below 2^53: the sum of neighbours is such a difference, and so a double. Each entry gets
 * p neighbours, one from each rank, in another order: those at even places first. */
static double total(int rank) {
  double x[numbers + 1], s[numbers], sum = 0;
  uint64_t bits = 1;
  int p;
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  int const even = (p + 1) / 2, place = rank < even ? 2 * rank : 2 * (rank - even) + 1;
  for (int i = 0; i <= numbers; ++i) {
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    x[i] = (double)(bits >> 11);
  }
  for (int i = 0; i < numbers / p; ++i) x[i] = x[i * p + place + 1] - x[i * p + place];
  MPI_Allreduce(x, s, numbers / p, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < numbers / p; ++i) sum += s[i];
  return sum;
}

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
  double const all = total(rank);
  if (rank == 0) printf("bits %llX\ntotal %.0f\n", (unsigned long long)hash, all);
  return MPI_Finalize();
}
