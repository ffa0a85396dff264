// SPDX-License-Identifier: BSL-1.0
// The sum of 1/i, i = 1 to 1000, dealt out to the ranks: exact, and along a tree. The README says what it prints.
//
//   mpirun -n 4 harmonic
#include <boost/mpi/environment.hpp>
#include <colligo/colligo.hpp>
#include <cstdio>
#include <functional>
#include <vector>

int main(int argc, char** argv) {
  boost::mpi::environment const environment(argc, argv);
  boost::mpi::communicator const world;
  std::vector<double> share;
  double part = 0;
  for (int i = world.rank(); i < 1000; i += world.size()) part += share.emplace_back(1.0 / (i + 1));
  double const exact = colligo::sum(world, share);   // rounded once
  double const plain = colligo::all_reduce(world, part, std::plus<>{}, colligo::binary_tree{});
  if (world.rank() == 0) std::printf("%.17g %.17g\n", exact, plain);
  return 0;
}
