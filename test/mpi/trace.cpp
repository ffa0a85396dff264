// SPDX-License-Identifier: BSL-1.0
// COLLIGO_TRACE over MPI: rank 0 of each communicator alone sets it, MPI_Finalize writes the
// file, and rank 0 reads it back.
//   trace <file>           what has to be in a trace of the calls below; exit code 1 if it is not
//   trace <file> nothing   the file can not be written: the calls have to work all the same
//   trace <file> reversed  the first communicator has all ranks, in another order: its rank 0 writes the same file
#include <mpi.h>

#include <colligo/algorithm/catalogue.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/broadcast.hpp>
#include <colligo/record.hpp>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include "../trace_check.hpp"
#include "../well_formed.hpp"

namespace {

constexpr std::size_t n = 100;

void require(bool good, std::string const& what) {
  if (!good) throw std::runtime_error(what);
}

// On the whole world, on a duplicate that is freed, on halves.
void run_all(int p) {
  auto const sum = [](MPI_Comm comm, auto const& algorithm, int expected) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::vector<double> v(n, rank);
    colligo::all_reduce(colligo::mpi_communicator(comm), colligo::in_place(v), std::plus<>{}, algorithm);
    require(v == std::vector<double>(n, expected), "a traced sum is wrong");
  };
  int rank = 0, ranks_below = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half, copy;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);   // ranks in reverse: a rank is not its row
  for (int r = rank % 2; r < p; r += 2) ranks_below += r;
  sum(half, colligo::ring{}, ranks_below);
  sum(MPI_COMM_WORLD, colligo::halving_doubling{}, p * (p - 1) / 2);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  sum(copy, colligo::named("recursive_doubling"), p * (p - 1) / 2);
  MPI_Comm_free(&copy);
  sum(half, colligo::recursive_doubling{}, ranks_below);
  sum(MPI_COMM_WORLD, colligo::vendor{}, p * (p - 1) / 2);
  // Two requests at a time, and a blocking call beside them.
  colligo::mpi_communicator const world(MPI_COMM_WORLD);
  std::vector<double> const in(n, rank);
  std::vector<double> one(n), other(n);
  auto first = colligo::iall_reduce(world, in, one, std::plus<>{}, colligo::ring{});
  auto second = colligo::iall_reduce(world, in, other, std::plus<>{}, colligo::recursive_doubling{});
  sum(MPI_COMM_WORLD, colligo::halving_doubling{}, p * (p - 1) / 2);
  second.wait(), first.wait();
  require(one == other && one == std::vector<double>(n, p * (p - 1) / 2), "the sum of a traced request is wrong");
}

void run_reversed() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm reversed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  colligo::all_reduce(colligo::mpi_communicator(reversed), 1.0, std::plus<>{});
}

std::size_t messages_expected(int p) {
  auto const count = [](auto const& algorithm, int ranks) {
    return colligo::record<double>(algorithm, colligo::collective::all_reduce, ranks, n).total_messages();
  };
  std::size_t all = 2 * count(colligo::halving_doubling{}, p) + 2 * count(colligo::recursive_doubling{}, p) +
                    count(colligo::ring{}, p);
  for (int const half : {(p + 1) / 2, p / 2})
    if (half > 0) all += count(colligo::ring{}, half) + count(colligo::recursive_doubling{}, half);
  return all;
}

void check_chrome_trace(std::istream& file, int p) {
  checked_trace const trace(file);
  auto const ranks = static_cast<std::size_t>(p);
  require(trace.rows.size() >= ranks && trace.rows.at(p - 1) == "rank " + std::to_string(p - 1), "rows");
  require(trace.calls.size() == 8 * ranks, "there are " + std::to_string(trace.calls.size()) + " calls");
  require(trace.dropped == 0, "events are dropped");
  for (std::size_t const seen : {trace.sends, trace.receives, trace.arrows})
    require(seen == messages_expected(p),
            std::to_string(seen) + " messages instead of " + std::to_string(messages_expected(p)));
}

void check_timeline(std::istream& file, int p) {
  std::string const picture(std::istreambuf_iterator<char>(file), {});
  require(fault_in_xml(picture).empty(), fault_in_xml(picture));
  require(occurrences(picture, "<title>all_reduce vendor") == static_cast<std::size_t>(p), "calls");
  require(occurrences(picture, "<title>rank ") == messages_expected(p), "arrows");
}

}  // namespace

int main(int argc, char** argv) {
  int rank = 0, p = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  std::string const path = argc > 1 ? argv[1] : "trace.json";
  ::unsetenv("COLLIGO_TRACE");
  if (rank == 0 || rank >= p - 2) ::setenv("COLLIGO_TRACE", path.c_str(), 1);   // rank 0 of the world and of each half
  std::string const kind = argc > 2 ? argv[2] : "";
  try {
    kind == "reversed" ? run_reversed() : run_all(p);
    MPI_Finalize();
    if (rank != (kind == "reversed" ? p - 1 : 0)) return 0;
    std::ifstream file(path);
    if (kind == "nothing") require(!file, path + " can be opened");
    else if (kind == "reversed") require(file.good(), path + " is not there");
    else path.ends_with(".svg") ? check_timeline(file, p) : check_chrome_trace(file, p);
    std::cout << path << " is as expected" << std::endl;
  } catch (std::exception const& e) {
    std::cerr << "rank " << rank << ": " << e.what() << std::endl;
    std::_Exit(1);
  }
}
