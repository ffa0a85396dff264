// SPDX-License-Identifier: BSL-1.0
// The sum over all ranks: of one number, and of vectors element by element.
//
//   mpirun -n 4 hello
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <colligo/all_reduce.hpp>

#include <functional>
#include <iostream>
#include <vector>

int main() {
  boost::mpi::environment const mpi;
  boost::mpi::communicator const world;
  int const me = world.rank();

  // Qualified, as every call of this library should be: Boost.MPI has an all_reduce of its own, which the compiler
  // would consider too.
  int const sum = colligo::all_reduce(world, me, std::plus<>{});

  std::vector<double> const mine{1.0, 0.5 * me, 1.0 * me * me};
  std::vector<double> sums(mine.size());
  colligo::all_reduce(world, mine, sums, std::plus<>{});

  if (me == 0)
    std::cout << world.size() << " ranks: their sum " << sum << ", the vectors' " << sums[0] << ' ' << sums[1] << ' '
              << sums[2] << '\n';
}
