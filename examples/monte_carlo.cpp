// SPDX-License-Identifier: BSL-1.0
// The volume of a ball in six dimensions by random points, until its standard error is small enough. While one batch's
// mean and variance are reduced the ranks compute the next batch: iall_reduce returns at once.
//
//   mpirun -n 4 monte_carlo 0.02
#include "uniform.hpp"

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/require.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

// Mean and variance of samples that come one by one (B. P. Welford: Note on a method for calculating corrected sums of
// squares and products, Technometrics 4, 1962) ...
struct estimate {
  std::int64_t count = 0;
  double mean = 0, squares = 0;   // squares: sum of the squared distances from the mean

  void add(double sample) {
    double const distance = sample - mean;
    mean += distance / static_cast<double>(++count);
    squares += distance * (sample - mean);
  }
  double standard_error() const {
    auto const n = static_cast<double>(count);
    return count < 2 ? HUGE_VAL : std::sqrt(squares / (n - 1) / n);
  }
};

// ... and of two parts (T. F. Chan, G. H. Golub, R. J. LeVeque: Updating formulae and a pairwise algorithm for
// computing sample variances, Stanford STAN-CS-79-773, 1979).
struct merge {
  estimate operator()(estimate const& a, estimate const& b) const {
    if (a.count == 0 || b.count == 0) return a.count == 0 ? b : a;
    std::int64_t const count = a.count + b.count;
    double const distance = b.mean - a.mean, share = static_cast<double>(b.count) / static_cast<double>(count);
    return {count, a.mean + distance * share,
            a.squares + b.squares + distance * distance * static_cast<double>(a.count) * share};
  }
};

constexpr std::size_t batch_size = 20000;
constexpr int dimensions = 6, most_batches = 1000;

// This rank's part of a batch: 2^6 for a point of the cube [-1, 1)^6 that is in the ball, else 0.
estimate part_of_batch(boost::mpi::communicator const& world, int batch) {
  estimate mine;
  colligo::range const share = colligo::blocks{{0, batch_size}, world.size()}[world.rank()];
  for (std::size_t i = share.first; i < share.last; ++i) {
    std::uint64_t const sample = static_cast<std::uint64_t>(batch) * batch_size + i;
    double square = 0;
    for (std::uint64_t d = 0; d < dimensions; ++d) {
      double const x = 2 * uniform(dimensions * sample + d) - 1;
      square += x * x;
    }
    mine.add(square < 1 ? 1 << dimensions : 0);
  }
  return mine;
}

int main(int argc, char** argv) {
  boost::mpi::environment const mpi(argc, argv);
  boost::mpi::communicator const world;
  double const wanted = argc > 1 ? std::atof(argv[1]) : 0.02;
  if (!(wanted > 0)) {
    if (world.rank() == 0) std::fprintf(stderr, "monte_carlo: the standard error has to be above 0\n");
    return 1;
  }

  // Each rank decides when to stop, and all have to decide alike: the call asks for the same bits on all ranks.
  estimate all;
  estimate mine = part_of_batch(world, 0);
  for (int batch = 1; batch <= most_batches && all.standard_error() > wanted; ++batch) {
    std::array reduced{mine};   // requests take ranges
    colligo::request reduction =
        colligo::iall_reduce(world, colligo::in_place(reduced), merge{}, colligo::require{colligo::same_bits});
    mine = part_of_batch(world, batch);   // the next one, meanwhile
    reduction.wait();
    all = merge{}(all, reduced[0]);
  }

  if (world.rank() != 0) return 0;
  std::printf("# ranks: %d\n%lld samples: volume %.10f, standard error %.10f; pi^3 / 6 is %.10f\n", world.size(),
              static_cast<long long>(all.count), all.mean, all.standard_error(), M_PI * M_PI * M_PI / 6);
}
