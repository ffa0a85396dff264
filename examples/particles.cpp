// SPDX-License-Identifier: BSL-1.0
// Particles in a box that is cut into slabs, one for each rank. After every step those that have left their slab
// migrate to the rank that owns their place, by one all_to_all_v; the fastest one is found with its rank and index.
//
//   mpirun -n 4 particles 1000 60
#include "uniform.hpp"

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/all_to_all.hpp>

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

struct particle {
  std::int64_t id;
  double x, y, vx, vy;   // the box is [0, 1) x [0, 1)
};

// Where a particle is. Of equally fast ones the first place wins, whoever compares them.
struct place {
  int rank;
  std::int64_t index, id;
  friend auto operator<=>(place const&, place const&) = default;
};

int owner(particle const& p, int ranks) { return std::clamp(static_cast<int>(std::floor(p.x * ranks)), 0, ranks - 1); }

// Springs pull every particle to the middle of the box (kick, drift, kick).
void move(particle& p, double dt) {
  auto const kick = [&] { p.vx -= 0.5 * dt * (p.x - 0.5), p.vy -= 0.5 * dt * (p.y - 0.5); };
  kick();
  p.x += dt * p.vx, p.y += dt * p.vy;
  kick();
}

// Every particle to its owner, and there in the order of their ids. Returns how many came from other ranks.
std::int64_t migrate(boost::mpi::communicator const& world, std::vector<particle>& mine) {
  int const p = world.size(), me = world.rank();
  std::ranges::stable_sort(mine, {}, [&](particle const& one) { return owner(one, p); });
  std::vector<int> to_each(static_cast<std::size_t>(p));
  for (particle const& one : mine) ++to_each[static_cast<std::size_t>(owner(one, p))];

  auto [arrived, from_each] = colligo::all_to_all_v(world, mine, to_each);   // the ranks tell each other how many

  mine = std::move(arrived);
  std::ranges::sort(mine, {}, &particle::id);
  return static_cast<std::int64_t>(mine.size() - from_each[static_cast<std::size_t>(me)]);
}

int main(int argc, char** argv) {
  boost::mpi::environment const mpi(argc, argv);
  boost::mpi::communicator const world;
  std::size_t const n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
  int const steps = argc > 2 ? std::atoi(argv[2]) : 60;

  // Each rank makes its share of the particles, wherever they are: the first migration brings them home.
  std::vector<particle> mine;
  colligo::range const share = colligo::blocks{{0, n}, world.size()}[world.rank()];
  for (std::size_t i = share.first; i < share.last; ++i)
    mine.push_back({static_cast<std::int64_t>(i), uniform(4 * i), uniform(4 * i + 1), uniform(4 * i + 2) - 0.5,
                    uniform(4 * i + 3) - 0.5});
  migrate(world, mine);

  std::int64_t migrated = 0;
  for (int step = 0; step <= steps; ++step) {
    if (step % 20 == 0) {
      double energy = 0;
      colligo::located<double, place> fastest{-1, {}};   // slower than any particle: what a rank without one has
      for (std::size_t i = 0; i < mine.size(); ++i) {
        particle const& p = mine[i];
        double const square = p.vx * p.vx + p.vy * p.vy;
        energy += 0.5 * (square + (p.x - 0.5) * (p.x - 0.5) + (p.y - 0.5) * (p.y - 0.5));
        fastest = colligo::maxloc{}(fastest, {square, {world.rank(), static_cast<std::int64_t>(i), p.id}});
      }

      energy = colligo::all_reduce(world, energy, std::plus<>{});
      fastest = colligo::all_reduce(world, fastest, colligo::maxloc{});
      std::int64_t const moves = colligo::all_reduce(world, migrated, std::plus<>{});

      if (world.rank() == 0)
        std::printf("step %3d: energy %.10f, %lld migrations, fastest with %.10f is particle %lld, rank %d's [%lld]\n",
                    step, energy, static_cast<long long>(moves), std::sqrt(std::max(fastest.value, 0.0)),
                    static_cast<long long>(fastest.index.id), fastest.index.rank,
                    static_cast<long long>(fastest.index.index));
    }
    for (particle& p : mine) move(p, 0.05);
    migrated += migrate(world, mine);
  }
}
