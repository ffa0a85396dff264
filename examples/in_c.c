/* SPDX-License-Identifier: BSL-1.0
 * The bounding box of all ranks' points, in C: an element and a functor that C++ never sees.
 *
 *   mpirun -n 4 in_c [algorithm] */
#include <colligo/colligo.h>

#include <mpi.h>
#include <stdio.h>

struct box { double low[2], high[2]; };

static void join(void* context, void const* left, void const* right, void* into, size_t n) {
  struct box const *a = left, *b = right;
  struct box* c = into;   /* may be a or b */
  (void)context;
  for (size_t i = 0; i < n; ++i)
    for (int k = 0; k < 2; ++k) {
      c[i].low[k] = a[i].low[k] < b[i].low[k] ? a[i].low[k] : b[i].low[k];
      c[i].high[k] = a[i].high[k] > b[i].high[k] ? a[i].high[k] : b[i].high[k];
    }
}

int main(int argc, char** argv) {
  struct colligo_description const description = {
      .size = sizeof(struct box), .alignment = 8, .combine = &join, .commutative = 1, .name = "box", .functor = "join"};
  char const* const algorithm = argc > 1 ? argv[1] : NULL;
  colligo_element boxes;
  int rank, code;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  struct box const mine = {{-1.0 * rank, 2}, {1, 3.0 * rank}};
  struct box all;
  code = colligo_describe(&description, &boxes);
  if (code == COLLIGO_SUCCESS) code = colligo_all_reduce(MPI_COMM_WORLD, &mine, &all, 1, boxes, algorithm);
  if (code != COLLIGO_SUCCESS) fprintf(stderr, "%s\n", colligo_error_text());
  else if (rank == 0) printf("(%g, %g) to (%g, %g)\n", all.low[0], all.low[1], all.high[0], all.high[1]);
  MPI_Finalize();
  return code != COLLIGO_SUCCESS;
}
