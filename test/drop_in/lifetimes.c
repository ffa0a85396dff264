/* SPDX-License-Identifier: BSL-1.0
 * Communicators as programs make and free them, by the first argument:
 *   callback   delete callbacks of attributes make collectives while communicators are freed; then handles come again
 *   NUMBER     so many communicators of rank 0 at once, with one other rank in turn; then one
 *   spawn      merged with processes that were spawned, which have no library before MPI */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong, reused;

/* The ranks' sum, and who is the first rank: wrong if the ranks are those of an earlier communicator. */
static void check(MPI_Comm comm) {
  int rank, p, sum = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &p);
  MPI_Scan(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  wrong += sum != rank * (rank + 1) / 2;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  wrong += sum != p * (p - 1) / 2;
}

/* The value is another communicator, which the callback frees. */
static int collective_in_callback(MPI_Comm comm, int key, void* value, void* extra) {
  (void)key, (void)extra;
  MPI_Comm* const other = value;
  check(comm);
  if (other) {
    MPI_Comm_free(other);
    check(comm);
  }
  return MPI_SUCCESS;
}
static void in_callbacks(int rank) {
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &collective_in_callback, &key, NULL);
  for (int i = 0; i < 24; ++i) {
    MPI_Comm first, other, again;
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &first);
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &other);
    MPI_Comm_set_attr(other, key, NULL);
    MPI_Comm_set_attr(first, key, i % 4 < 2 ? &other : NULL);
    if (i % 3) check(first), check(other);
    MPI_Comm const before = first;
    if (i % 2) MPI_Comm_free(&first);
    else MPI_Comm_disconnect(&first);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &again);
    reused += again == before;
    for (int j = 0; j < 3; ++j) check(again);
    MPI_Comm_free(&again);
    if (i % 4 >= 2) MPI_Comm_free(&other);
  }
  MPI_Comm_free_keyval(&key);
}

static void many(int n, int rank, int p) {
  MPI_Comm* const all = malloc((size_t)n * sizeof *all);
  for (int i = 0; i < n; ++i) {
    int const is_in = rank == 0 || rank == 1 + i % (p - 1);
    MPI_Comm_split(MPI_COMM_WORLD, is_in ? 0 : MPI_UNDEFINED, rank, &all[i]);
    if (is_in) check(all[i]);
  }
  for (int i = 0; i < n; ++i)
    if (all[i] != MPI_COMM_NULL) MPI_Comm_free(&all[i]);
  free(all);
}

static void with_spawned(char* program, MPI_Comm parent) {
  MPI_Comm between = parent, all, of_parents;
  char* arguments[] = {"spawn", NULL};
  if (parent == MPI_COMM_NULL)
    MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
  MPI_Intercomm_merge(between, parent != MPI_COMM_NULL, &all);
  for (int i = 0; i < 3; ++i) check(all);
  MPI_Comm_split(all, parent != MPI_COMM_NULL, 0, &of_parents);
  check(of_parents);
  MPI_Comm_free(&of_parents);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&between);
}

int main(int argc, char** argv) {
  int rank, p, all = 0;
  MPI_Comm parent;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  MPI_Comm_get_parent(&parent);
  char const* const what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "callback") == 0) in_callbacks(rank);
  else if (strcmp(what, "spawn") == 0) with_spawned(argv[0], parent);
  else many(atoi(what), rank, p), many(1, rank, p);
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) fprintf(stderr, "%d wrong%s%s\n", all, reused ? "; handles came again" : "",
                         parent != MPI_COMM_NULL ? ", spawned" : "");
  MPI_Finalize();
  return all != 0;
}
