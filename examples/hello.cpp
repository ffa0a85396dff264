// SPDX-License-Identifier: BSL-1.0
// The sum over all ranks: of one number, and of vectors element by element. Over a plain MPI_Comm; to compile without
// Boost: -DCOLLIGO_WITHOUT_BOOST_MPI.
//
//   mpirun -n 4 hello
#include <colligo/all_reduce.hpp>

#include <functional>
#include <iostream>
#include <mpi.h>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  colligo::mpi_communicator const world(MPI_COMM_WORLD);   // does not own it
  int const me = world.rank();

  // Qualified, as every call of this library should be: with a boost::mpi::communicator the compiler would find
  // Boost.MPI's all_reduce too.
  int const sum = colligo::all_reduce(world, me, std::plus<>{});

  std::vector<double> const mine{1.0, 0.5 * me, 1.0 * me * me};
  std::vector<double> sums(mine.size());
  colligo::all_reduce(world, mine, sums, std::plus<>{});

  if (me == 0)
    std::cout << world.size() << " ranks: their sum " << sum << ", the vectors' " << sums[0] << ' ' << sums[1] << ' '
              << sums[2] << '\n';
  MPI_Finalize();
  return 0;
}
