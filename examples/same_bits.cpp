// SPDX-License-Identifier: BSL-1.0
// The energy of all Atlantic storms, by plain sums and by exact ones: on 1 to 7 ranks plain sums have different last
// bits, exact sums have the same ones.
//
//   for p in 1 2 3 4 5 6 7; do mpirun -n $p same_bits; done
#include "data_folder.hpp"

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <colligo/sequence.hpp>

#include <cstdio>
#include <fstream>
#include <functional>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

// Accumulated cyclone energy counts the squares of winds in knots; here in (m/s)^2, which are no integers.
std::vector<double> read_energies(char const* path) {
  std::ifstream file(path);
  std::string line, field;
  std::getline(file, line);   // the header
  std::vector<double> energies;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    for (int column = 0; column <= 9; ++column) std::getline(fields, field, ',');
    if (field == "NA") continue;
    double const wind = std::stod(field) * 1852 / 3600;
    energies.push_back(wind * wind);
  }
  return energies;
}

int main(int argc, char** argv) {
  boost::mpi::environment const mpi(argc, argv);
  boost::mpi::communicator const world;

  char const* const path = argc > 1 ? argv[1] : COLLIGO_EXAMPLE_DATA "/atlantic_storms.csv";
  auto const all = read_energies(path);
  if (!colligo::all_reduce(world, !all.empty(), std::logical_and<>{})) {
    if (world.rank() == 0) std::fprintf(stderr, "same_bits: %s has no storms on every rank\n", path);
    return 1;
  }
  colligo::range const share = colligo::blocks{{0, all.size()}, world.size()}[world.rank()];
  std::vector<double> const mine(all.begin() + static_cast<std::ptrdiff_t>(share.first),
                                 all.begin() + static_cast<std::ptrdiff_t>(share.last));

  double const plain = colligo::all_reduce(world, std::accumulate(mine.begin(), mine.end(), 0.0), std::plus<>{});
  double const exact = colligo::sum(world, mine);
  colligo::moments const m = colligo::mean_and_variance(world, mine);
  if (world.rank() != 0) return 0;
  std::printf("%zu energies on %d ranks\n", all.size(), world.size());
  std::printf("plain sum  %a\n", plain);
  std::printf("exact sum  %a, mean %a, variance %a\n", exact, m.mean, m.variance);
}
