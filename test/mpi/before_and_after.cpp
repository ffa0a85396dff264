// SPDX-License-Identifier: BSL-1.0
// Calls before MPI_Init and after MPI_Finalize throw, whatever stands for the communicator; MPI would end the program.
// Requests may outlive it.
#include <mpi.h>

#include <boost/mpi/communicator.hpp>
#include <colligo/all_reduce.hpp>

#include <cstring>
#include <functional>
#include <iostream>

#include "../faults/on_stderr.hpp"

namespace {

int wrong = 0;

template <class Call>
void throws(char const* what, char const* words, Call call) {
  try {
    call();
  } catch (colligo::error const& e) {
    if (std::strstr(e.what(), words)) return;
    std::cerr << e.what() << '\n';
  }
  std::cerr << what << " should have thrown: " << words << '\n';
  ++wrong;
}

constexpr char const* words_of_requests = "MPI has been finalised";

template <class Comm>
int ranks_of(Comm const& comm) { return colligo::all_reduce(comm, 1, std::plus<>{}); }

}  // namespace

int main(int argc, char** argv) {
  boost::mpi::communicator const world;   // makes no call of MPI
  auto const each_throws = [&](char const* words) {
    throws("boost::mpi::communicator", words, [&] { ranks_of(world); });
    throws("checked", words, [&] { ranks_of(colligo::checked(world)); });
    throws("mpi_communicator", words, [] { ranks_of(colligo::mpi_communicator(MPI_COMM_WORLD)); });
    throws("iall_reduce", words, [&] {
      int const in = 1;
      int out = 0;
      colligo::iall_reduce(world, std::span(&in, 1), std::span(&out, 1), std::plus<>{}).wait();
    });
  };
  each_throws("MPI is not initialised");
  MPI_Init(&argc, &argv);
  colligo::mpi_communicator const raw(MPI_COMM_WORLD);
  wrong += ranks_of(raw) != raw.size() || ranks_of(world) != raw.size();
  int const in = 1;
  int out = 0, never = 0;
  colligo::persistent again = colligo::all_reduce_init(world, std::span(&in, 1), std::span(&out, 1), std::plus<>{});
  again.start(), again.wait();
  // The others do not make these calls.
  colligo::request late, dropped;
  if (raw.rank() == 0) {
    late = colligo::iall_reduce(raw, std::span(&in, 1), std::span(&never, 1), std::plus<>{});
    dropped = colligo::iall_reduce(raw, std::span(&in, 1), std::span(&never, 1), std::plus<>{}, colligo::ring{});
  }
  {
    captured_stderr const said;
    MPI_Finalize();
    wrong += said.count("colligo: all_reduce on rank 0 of 2: MPI has been finalised; a request has to be complete") !=
             (raw.rank() == 0 ? 2 : 0);
  }
  throws("a persistent one", words_of_requests, [&] { again.start(); });
  if (raw.rank() == 0) throws("a request that is late", words_of_requests, [&] { late.wait(); });
  each_throws("MPI has been finalised");
  throws("mpi_communicator from before", "MPI has been finalised", [&] { ranks_of(raw); });
  return wrong;
}
