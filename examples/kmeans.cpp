// SPDX-License-Identifier: BSL-1.0
// k-means clustering: the ranks share out the points, and one all_reduce of an array of structs gives every rank the
// sums from which the new centres are computed. The sums are exact, so centres, and the number of rounds, have the same
// bits on any number of ranks.
//
//   mpirun -n 4 kmeans 20000
#include "uniform.hpp"

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/exact_sum.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

struct point {
  double x, y;
  friend bool operator==(point const&, point const&) = default;
};

// What is known of the points that are nearest to one centre. It has no pointers, so it travels as bytes.
struct cluster {
  colligo::exact_sum<double> x, y, squares;   // squares: of the distances from the centre
  std::int64_t points = 0;

  void add(point const& p, double square) { x += p.x, y += p.y, squares += square, ++points; }
  friend cluster operator+(cluster const& a, cluster const& b) {
    return {a.x + b.x, a.y + b.y, a.squares + b.squares, a.points + b.points};
  }
};

// std::plus on clusters: a + b is b + a, so that the library may choose among all algorithms.
template <>
inline constexpr bool colligo::commutative<std::plus<>, cluster> = true;

constexpr int k = 5;
using centres = std::array<point, k>;

double square_of_distance(point const& a, point const& b) {
  return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
}

// Points around five places on a circle, near enough for the clusters to overlap.
point random_point(std::uint64_t i) {
  double const angle = 2 * M_PI * static_cast<double>(i % k) / k, radius = 2 * std::sqrt(uniform(2 * i)),
               turn = 2 * M_PI * uniform(2 * i + 1);
  return {2 * std::cos(angle) + radius * std::cos(turn), 2 * std::sin(angle) + radius * std::sin(turn)};
}

int main(int argc, char** argv) {
  boost::mpi::environment const mpi(argc, argv);
  boost::mpi::communicator const world;
  std::size_t const n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20000;
  if (n < k) {
    if (world.rank() == 0) std::fprintf(stderr, "kmeans: %d clusters need %d points or more\n", k, k);
    return 1;
  }

  std::vector<point> mine;
  colligo::range const share = colligo::blocks{{0, n}, world.size()}[world.rank()];
  for (std::size_t i = share.first; i < share.last; ++i) mine.push_back(random_point(i));

  centres at;   // the first points, which every rank can compute; they could come by a broadcast
  for (std::size_t c = 0; c < k; ++c) at[c] = random_point(c);

  std::array<cluster, k> clusters;
  int rounds = 0;
  for (bool moved = true; moved; ++rounds) {
    clusters = {};
    for (point const& p : mine) {
      std::size_t nearest = 0;
      for (std::size_t c = 1; c < k; ++c)
        if (square_of_distance(p, at[c]) < square_of_distance(p, at[nearest])) nearest = c;
      clusters[nearest].add(p, square_of_distance(p, at[nearest]));
    }

    colligo::all_reduce(world, colligo::in_place(clusters), std::plus<>{});

    // All ranks have the same clusters, hence the same centres, and leave the loop together.
    centres next = at;
    for (std::size_t c = 0; c < k; ++c) {
      auto const points = static_cast<double>(clusters[c].points);
      if (points > 0) next[c] = {double(clusters[c].x) / points, double(clusters[c].y) / points};
    }
    moved = next != at;
    at = next;
  }

  if (world.rank() != 0) return 0;
  std::printf("# ranks: %d\n%zu points, %d clusters after %d rounds\n", world.size(), n, k, rounds);
  for (std::size_t c = 0; c < k; ++c)
    std::printf("centre %17.14f %17.14f of %lld points, %.14g from it in the mean of squares\n", at[c].x, at[c].y,
                static_cast<long long>(clusters[c].points),
                double(clusters[c].squares) / static_cast<double>(std::max<std::int64_t>(clusters[c].points, 1)));
}
