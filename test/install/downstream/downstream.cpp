// SPDX-License-Identifier: BSL-1.0
#include <boost/mpi/environment.hpp>
#include <colligo/colligo.hpp>

#include <iostream>

int main(int argc, char** argv) {
  boost::mpi::environment const environment(argc, argv);
  boost::mpi::communicator const world;
  int const ranks = colligo::all_reduce(world, 1, std::plus<>{});
  if (world.rank() == 0) std::cout << "sum over " << ranks << " ranks\n";
  return ranks == world.size() ? 0 : 1;
}
