/* SPDX-License-Identifier: BSL-1.0
 * What the library before MPI keeps of a communicator: its handle may come again for other ranks, communicators
 * alternate, and threads have their own. */
#include "own_mpi.h"

#include <pthread.h>

enum { rounds = 12, calls = 300, communicators = 6 };
static int failed, reused;

/* The ranks of world in the order of `comm`, at its first rank: wrong if its rank is that of an earlier communicator. */
static void check_order(MPI_Comm comm) {
  int mine, rank, p, by_ours[64] = {0}, by_mpi[64] = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &mine);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &p);
  MPI_Gather(&mine, 1, MPI_INT, by_ours, 1, MPI_INT, 0, comm);
  own_Gather(&mine, 1, MPI_INT, by_mpi, 1, MPI_INT, 0, comm);
  for (int i = 0; i < p; ++i)
    if (by_ours[i] != by_mpi[i]) ++failed;
}
static void check_reuse(int rank) {
  MPI_Comm before = MPI_COMM_NULL, comm;
  for (int i = 0; i < rounds; ++i) {
    MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? rank : -rank, &comm);
    reused += comm == before;
    before = comm;
    for (int j = 0; j < 3; ++j) check_order(comm);
    MPI_Comm_free(&comm);
  }
}

/* More communicators in turn than a thread keeps. */
struct of_thread { MPI_Comm all[communicators]; int wrong; };
static void* alternate(void* argument) {
  struct of_thread* const mine = argument;
  for (int i = 0; i < calls; ++i) {
    MPI_Comm const comm = mine->all[i % communicators];
    int rank, p, sum = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    int const value = rank + i;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
    mine->wrong += sum != p * (p - 1) / 2 + p * i;
  }
  return NULL;
}

int main(int argc, char** argv) {
  int threads, rank, all = 0;
  find_own_mpi();
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &threads);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  check_reuse(rank);
  struct of_thread both[2] = {{{0}, 0}, {{0}, 0}};
  for (int t = 0; t < 2; ++t)
    for (int i = 0; i < communicators; ++i) MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? rank : -rank, &both[t].all[i]);
  alternate(&both[0]);
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (threads == MPI_THREAD_MULTIPLE) {
    pthread_t other;
    pthread_create(&other, NULL, &alternate, &both[1]);
    alternate(&both[0]);
    pthread_join(other, NULL);
  }
  for (int t = 0; t < 2; ++t) {
    failed += both[t].wrong;
    for (int i = 0; i < communicators; ++i) MPI_Comm_free(&both[t].all[i]);
  }
  own_Allreduce(&failed, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    fprintf(stderr, "%d wrong; %s, %s\n", all, reused ? "handles came again" : "no handle came again",
            threads == MPI_THREAD_MULTIPLE ? "two threads" : "one thread");
  MPI_Finalize();
  return all != 0;
}
