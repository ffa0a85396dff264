// SPDX-License-Identifier: BSL-1.0
// Three ways to choose the algorithm: the library, the program (at compile time), or the user (at run time).
//
//   mpirun -n 4 pin_algorithm halving_doubling
//   COLLIGO_ALL_REDUCE=ring mpirun -n 4 pin_algorithm
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <colligo/all_reduce.hpp>

#include <functional>
#include <iostream>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  boost::mpi::environment const mpi(argc, argv);
  boost::mpi::communicator const world;
  std::string const name = argc > 1 ? argv[1] : "binary_tree";

  std::vector<double> const in(1000, world.rank() + 1.0);
  std::vector<double> out(in.size());
  auto const report = [&](std::string const& who) {
    if (world.rank() == 0) std::cout << who << ": " << out.front() << '\n';
  };

  try {
    // The library chooses by the number of ranks and bytes. Only in this case the environment variable
    // COLLIGO_ALL_REDUCE counts.
    colligo::all_reduce(world, in, out, std::plus<>{});
    report("automatic");

    // Fixed at compile time. A tag that does not suit the functor would not compile.
    colligo::all_reduce(world, in, out, std::plus<>{}, colligo::ring{});
    report("the tag " + std::string(colligo::ring::name));

    // By name; every algorithm of the catalogue has one.
    colligo::all_reduce(world, in, out, std::plus<>{}, colligo::named(name));
    report("named " + name);
  } catch (colligo::algorithm_error const& e) {
    // All ranks have the same name, so all of them come here and one prints for all.
    if (world.rank() == 0) std::cerr << e.what() << '\n';
    return 1;
  }
}
