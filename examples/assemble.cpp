// SPDX-License-Identifier: BSL-1.0
// Assembles the sparse matrix of a power network from its parts. The parts are shared out over the ranks as they come,
// the rows in blocks: so a part's entries belong to ranks that do not know of it. sparse_all_to_all brings them there.
//
//   mpirun -n 4 assemble examples/data/1138_bus.mtx
//
// The parts are made from an assembled matrix: a power line between buses i and j adds its admittance to (i, i) and
// (j, j), and subtracts it from (i, j) and (j, i); a bus has what it takes from the ground besides.
#include "data_folder.hpp"

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/exchange.hpp>
#include <colligo/sequence.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

using row_and_column = std::pair<std::size_t, std::size_t>;   // from 0

struct entry {
  std::size_t row, column;
  double value;
};

// The lower triangle of a symmetric matrix in Matrix Market form; its size, 0 if there is no such file.
std::size_t read(std::string const& path, std::vector<entry>& lower) {
  std::ifstream file(path);
  while (file.peek() == '%') file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  std::size_t rows = 0, columns = 0, entries = 0;
  if (!(file >> rows >> columns >> entries) || rows != columns) return 0;
  for (std::size_t i = 0, j = 0; entries > 0; --entries) {
    double value = 0;
    if (!(file >> i >> j >> value) || j < 1 || i < j || i > rows) return 0;
    lower.push_back({i - 1, j - 1, value});
  }
  return rows;
}

int main(int argc, char** argv) {
  boost::mpi::environment const mpi(argc, argv);
  boost::mpi::communicator const world;
  std::string const path = argc > 1 ? argv[1] : COLLIGO_EXAMPLE_DATA "/1138_bus.mtx";
  std::vector<entry> lower;
  std::size_t const n = read(path, lower);
  if (n == 0) {
    if (world.rank() == 0)
      std::fprintf(stderr, "assemble: %s is no symmetric matrix in Matrix Market form\n", path.c_str());
    return 1;
  }

  // The parts: an entry below the diagonal is a line, one on it becomes what the bus takes from the ground.
  std::vector<double> ground(n);
  for (auto const& [i, j, value] : lower) ground[i] += value, ground[j] += i != j ? value : 0;
  std::size_t const p = static_cast<std::size_t>(world.size()), rows = (n + p - 1) / p;   // of each rank
  colligo::range const parts = colligo::blocks{{0, lower.size()}, world.size()}[world.rank()];

  // What this rank's parts add, by the rank that has the row.
  std::map<int, std::vector<entry>> out;
  auto const add = [&](std::size_t i, std::size_t j, double value) {
    out[static_cast<int>(i / rows)].push_back({i, j, value});
  };
  for (std::size_t k = parts.first; k < parts.last; ++k) {
    auto const& [i, j, value] = lower[k];
    if (i == j) {
      add(i, i, ground[i]);
    } else {
      add(i, i, -value), add(j, j, -value);
      add(i, j, value), add(j, i, value);
    }
  }
  auto const in = colligo::sparse_all_to_all(world, out);

  // They come in the order of ranks, so of parts: each sum is the same on any number of ranks.
  std::map<row_and_column, double> mine;
  for (auto const& [from, entries] : in)
    for (auto const& [i, j, value] : entries) mine[{i, j}] += value;

  // Is it the matrix of the file?
  std::size_t wrong = 0;
  auto const compare = [&](std::size_t i, std::size_t j, double value) {
    if (i / rows != static_cast<std::size_t>(world.rank())) return;
    auto const found = mine.find({i, j});
    if (found == mine.end() || !(std::abs(found->second - value) <= 1e-12 * std::abs(value))) ++wrong;
  };
  for (auto const& [i, j, value] : lower) {
    compare(i, j, value);
    if (i != j) compare(j, i, value);
  }
  std::vector<double> values;
  for (auto const& [at, value] : mine) values.push_back(value);
  double const norm = colligo::norm2(world, values);
  struct counts {
    std::size_t wrong, entries, messages;
  };
  auto const all = colligo::all_reduce(world, counts{wrong, mine.size(), out.size()}, [](counts a, counts b) {
    return counts{a.wrong + b.wrong, a.entries + b.entries, a.messages + b.messages};
  });
  if (world.rank() != 0) return all.wrong == 0 ? 0 : 1;
  std::printf("# ranks: %d, messages: %zu\n", world.size(), all.messages);
  std::printf("%zu rows, %zu entries from %zu parts, %zu of them wrong\n", n, all.entries, lower.size(), all.wrong);
  std::printf("norm %.10f\n", norm);
  return all.wrong == 0 ? 0 : 1;
}
