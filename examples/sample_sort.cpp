// SPDX-License-Identifier: BSL-1.0
// Sorts numbers that are shared out over the ranks, by sampling: the ranks agree on p - 1 splitters, send each number
// to the rank whose range it is in, and merge what they get. Afterwards rank 0 has the smallest ones, and so on.
// (H. Shi, J. Schaeffer: Parallel sorting by regular sampling, Journal of Parallel and Distributed Computing 14, 1992.)
//
//   mpirun -n 4 sample_sort 100000
#include "uniform.hpp"

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <colligo/all_gather.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/all_to_all.hpp>
#include <colligo/scan.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <vector>

constexpr double infinity = std::numeric_limits<double>::infinity();

// Every rank gets its part of the whole sequence in order: less than twice n / p of n different numbers, for n >= p^3.
std::vector<double> sample_sort(boost::mpi::communicator const& world, std::vector<double> mine) {
  auto const p = static_cast<std::size_t>(world.size());
  std::ranges::sort(mine);

  // p samples of each rank, evenly spaced; a rank that has no numbers gives samples that are larger than all.
  std::vector<double> samples(p, infinity), all_samples(p * p);
  for (std::size_t i = 0; i < p && !mine.empty(); ++i) samples[i] = mine[i * mine.size() / p];
  colligo::all_gather(world, samples, all_samples);
  std::ranges::sort(all_samples);

  // The numbers up to splitter i, and above the one before it, go to rank i.
  std::vector<std::size_t> to_each;
  auto from = mine.begin();
  for (std::size_t i = 1; i <= p; ++i) {
    auto const to = i == p ? mine.end() : std::upper_bound(from, mine.end(), all_samples[i * p + p / 2 - 1]);
    to_each.push_back(static_cast<std::size_t>(to - from));
    from = to;
  }
  auto [sorted, from_each] = colligo::all_to_all_v(world, mine, to_each);

  // One sorted run came from each rank.
  auto middle = sorted.begin();
  for (std::size_t const length : from_each) {
    auto const end = middle + static_cast<std::ptrdiff_t>(length);
    std::inplace_merge(sorted.begin(), middle, end);
    middle = end;
  }
  return sorted;
}

int main(int argc, char** argv) {
  boost::mpi::environment const mpi(argc, argv);
  boost::mpi::communicator const world;
  std::size_t const n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100000;
  if (n == 0) {
    if (world.rank() == 0) std::fprintf(stderr, "sample_sort: there is nothing to sort\n");
    return 1;
  }

  std::vector<double> mine;
  colligo::range const share = colligo::blocks{{0, n}, world.size()}[world.rank()];
  for (std::size_t i = share.first; i < share.last; ++i) mine.push_back(uniform(i) * uniform(i));   // not evenly spread
  mine = sample_sort(world, mine);

  // Is it sorted? The largest number of all ranks before me is not above my smallest one.
  double const before =
      colligo::exclusive_scan(world, mine.empty() ? -infinity : mine.back(), -infinity, colligo::maximum{});
  bool const fits = std::ranges::is_sorted(mine) && (mine.empty() || before <= mine.front());
  bool const sorted = colligo::all_reduce(world, fits, std::logical_and<>{});

  // Percentiles: the rank that has the k-th number of the whole sequence contributes it.
  std::size_t const first = colligo::exclusive_scan(world, mine.size(), std::plus<>{});
  std::array<double, 5> percentiles;
  percentiles.fill(-infinity);
  for (std::size_t i = 0; i < percentiles.size(); ++i) {
    std::size_t const k = i * (n - 1) / (percentiles.size() - 1);
    if (first <= k && k < first + mine.size()) percentiles[i] = mine[k - first];
  }
  colligo::all_reduce(world, colligo::in_place(percentiles), colligo::maximum{});
  std::size_t const most = colligo::all_reduce(world, mine.size(), colligo::maximum{});

  if (world.rank() != 0) return sorted ? 0 : 1;
  std::printf("# ranks: %d, the longest part: %zu\n", world.size(), most);
  std::printf("%zu numbers, %s\n", n, sorted ? "sorted" : "NOT sorted");
  for (double const value : percentiles) std::printf("%.15f\n", value);
  return sorted ? 0 : 1;
}
