// SPDX-License-Identifier: BSL-1.0
// A histogram of numbers that are shared out over the ranks, and a file to which all ranks write: an exclusive_scan of
// the lengths tells each rank at which byte its lines begin.
//
//   mpirun -n 4 histogram 100000 outliers.txt
#include "uniform.hpp"

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/barrier.hpp>
#include <colligo/reduce.hpp>
#include <colligo/scan.hpp>
#include <colligo/sequence.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

constexpr std::size_t bins = 16;

// Twelve uniform numbers less six are nearly normal.
double measurement(std::uint64_t i) {
  double sum = -6;
  for (std::uint64_t j = 0; j < 12; ++j) sum += uniform(12 * i + j);
  return sum;
}

int main(int argc, char** argv) {
  boost::mpi::environment const mpi(argc, argv);
  boost::mpi::communicator const world;
  bool const speaks = world.rank() == 0;
  std::size_t const n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100000;
  std::string const path = argc > 2 ? argv[2] : "outliers.txt";
  if (n == 0) {
    if (speaks) std::fprintf(stderr, "histogram: there is nothing to count\n");
    return 1;
  }

  std::vector<double> mine;
  colligo::range const share = colligo::blocks{{0, n}, world.size()}[world.rank()];
  for (std::size_t i = share.first; i < share.last; ++i) mine.push_back(measurement(i));

  // The ranks' vectors as one sequence: the smallest and the largest number, then mean and variance.
  auto const [least, most] = colligo::extremes(world, mine);
  colligo::moments const m = colligo::mean_and_variance(world, mine);

  double const width = std::max(most.value - least.value, 1e-300) / bins;
  std::vector<std::int64_t> counts(bins);
  for (double const value : mine) {
    auto const bin = static_cast<std::size_t>((value - least.value) / width);
    ++counts[std::min(bin, bins - 1)];
  }
  std::vector<std::int64_t> all(bins);
  colligo::reduce(world, counts, all, std::plus<>{}, 0);

  // This rank's part of the file: a line for each number that is far from the mean.
  std::string lines;
  double const deviation = std::sqrt(m.variance);
  for (std::size_t i = 0; i < mine.size(); ++i)
    if (std::abs(mine[i] - m.mean) > 3 * deviation) {
      char line[64];
      std::snprintf(line, sizeof line, "%zu %.6f\n", share.first + i, mine[i]);
      lines += line;
    }

  auto const length = static_cast<std::int64_t>(lines.size());
  std::int64_t const offset = colligo::exclusive_scan(world, length, std::plus<>{});   // 0 on rank 0
  std::int64_t const whole = colligo::all_reduce(world, length, std::plus<>{});

  if (speaks) std::ofstream{path};   // makes the file, or makes it empty, before anybody writes to it
  colligo::barrier(world);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(offset);
  file << lines << std::flush;

  // If one rank could not write, all of them know.
  bool const written = colligo::all_reduce(world, file.good(), std::logical_and<>{});
  if (!written) {
    if (speaks) std::fprintf(stderr, "histogram: %s can not be written\n", path.c_str());
    return 1;
  }

  if (!speaks) return 0;
  std::printf("# ranks: %d\n%zu numbers from %.6f to %.6f, mean %.10f, deviation %.10f\n", world.size(), n, least.value,
              most.value, m.mean, deviation);
  std::int64_t const highest = std::ranges::max(all);
  for (std::size_t i = 0; i < bins; ++i) {
    std::string const bar(static_cast<std::size_t>(60 * all[i] / highest), '*');
    std::printf("%9.4f %7lld %s\n", least.value + width * static_cast<double>(i), static_cast<long long>(all[i]),
                bar.c_str());
  }
  std::printf("%lld bytes of outliers in %s\n", static_cast<long long>(whole), path.c_str());
}
