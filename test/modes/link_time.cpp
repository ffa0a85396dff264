// SPDX-License-Identifier: BSL-1.0
// Header-only, without Boost, compiled without run-time type information as one unit of several sources, and optimised
// when it is linked: a program that is right in all these ways has to be right here.
#include <colligo/all_reduce.hpp>
#include <colligo/scan.hpp>

#include <functional>
#include <iostream>
#include <vector>

std::vector<int> from_the_last(colligo::mpi_communicator const& world);

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool right = true;
  {
    colligo::mpi_communicator const world(MPI_COMM_WORLD);
    int rank = 0, p = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    std::vector<double> const in(1000, rank + 1.0);
    std::vector<double> out(in.size());
    auto request = colligo::iall_reduce(world, in, out, std::plus<>{});
    right &= colligo::scan(world, rank + 1, std::plus<>{}) == (rank + 1) * (rank + 2) / 2;
    right &= colligo::all_reduce(world, rank, [](auto const& a, auto const& b) { return a < b ? b : a; }) == p - 1;
    request.wait();
    right &= out == std::vector<double>(in.size(), p * (p + 1) / 2.0);
    right &= from_the_last(world) == std::vector<int>{p - 1, p};
  }
  MPI_Finalize();
  if (!right) std::cerr << "a result is wrong\n";
  return right ? 0 : 1;
}
