// SPDX-License-Identifier: BSL-1.0
// A matrix whose rows are dealt out in blocks becomes its transpose, by one all_to_all: each rank sends to every other
// the columns that this one will have as rows. Any number of rows and ranks.
//
//   mpirun -n 3 transpose 8
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/all_to_all.hpp>

#include <cstdlib>
#include <functional>
#include <iostream>
#include <vector>

// Row r of n is on rank r p / n, rounded down, as is column r of the transpose.
struct dealt_out {
  int n, p;
  int first(int rank) const { return (rank * n + p - 1) / p; }
  int count(int rank) const { return first(rank + 1) - first(rank); }
};

double entry(int row, int column) { return 1000.0 * row + column; }

int main(int argc, char** argv) {
  boost::mpi::environment const mpi(argc, argv);
  boost::mpi::communicator const world;
  int const n = argc > 1 ? std::atoi(argv[1]) : 6, p = world.size(), me = world.rank();
  if (n < 1) {
    if (me == 0) std::cerr << "the number of rows has to be 1 or more\n";
    return 1;
  }
  dealt_out const rows{n, p};

  // What goes to a rank lies together: its columns one after the other, of my rows.
  std::vector<double> blocks;
  std::vector<int> counts;
  for (int rank = 0; rank < p; ++rank) {
    counts.push_back(rows.count(rank) * rows.count(me));
    for (int column = rows.first(rank); column < rows.first(rank + 1); ++column)
      for (int row = rows.first(me); row < rows.first(me + 1); ++row) blocks.push_back(entry(row, column));
  }
  // As many entries come from each rank as go to it.
  colligo::all_to_all_v(world, colligo::in_place(blocks), counts);

  // Each block has the part of my new rows that was on its rank.
  std::vector<double> transposed(blocks.size());
  auto next = blocks.begin();
  for (int rank = 0; rank < p; ++rank)
    for (int row = 0; row < rows.count(me); ++row)
      for (int column = rows.first(rank); column < rows.first(rank + 1); ++column)
        transposed[static_cast<std::size_t>(row * n + column)] = *next++;

  int wrong = 0;
  for (int row = 0; row < rows.count(me); ++row)
    for (int column = 0; column < n; ++column)
      wrong += transposed[static_cast<std::size_t>(row * n + column)] != entry(column, rows.first(me) + row);
  int const all_wrong = colligo::all_reduce(world, wrong, std::plus<>{});
  if (me == 0)
    std::cout << n << " x " << n << " on " << p << " ranks: " << all_wrong << " entries of the transpose are wrong\n";
  return all_wrong == 0 ? 0 : 1;
}
