// SPDX-License-Identifier: BSL-1.0
// Elements and functors of your own: a struct with the functor that merges two of it, a lambda with a captured value
// that works in place, and the largest value together with the place where it was found.
//
//   mpirun -n 4 own_struct
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <colligo/all_reduce.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <vector>

// Trivially copyable, so it travels as bytes.
struct summary {
  std::int64_t count;
  double mean;
  double lowest, highest;
};

struct merge {
  summary operator()(summary const& a, summary const& b) const {
    std::int64_t const count = a.count + b.count;
    double const share = static_cast<double>(b.count) / static_cast<double>(count);
    return {count, a.mean + share * (b.mean - a.mean), std::min(a.lowest, b.lowest), std::max(a.highest, b.highest)};
  }
};

// Without this the library would use only algorithms that keep the operands in rank order.
template <>
inline constexpr bool colligo::commutative<merge, summary> = true;

// What a sensor shows; sensor s belongs to rank s / sensors_per_rank.
double temperature(std::int64_t sensor) { return 15 + 10 * std::sin(static_cast<double>(sensor)); }
constexpr std::int64_t sensors_per_rank = 5;

int main() {
  boost::mpi::environment const mpi;
  boost::mpi::communicator const world;
  int const me = world.rank();
  std::int64_t const first = me * sensors_per_rank, last = first + sensors_per_rank;

  summary mine{1, temperature(first), temperature(first), temperature(first)};
  for (std::int64_t s = first + 1; s < last; ++s)
    mine = merge{}(mine, {1, temperature(s), temperature(s), temperature(s)});
  summary const all = colligo::all_reduce(world, mine, merge{});

  // Counters that stop at a limit known at run time only. The vector is input and output at once.
  int const limit = 2 * world.size();
  std::vector<int> counters{1, 2, 3, me};
  auto const add_up_to_limit = [limit](int a, int b) { return std::min(a + b, limit); };
  colligo::all_reduce(world, colligo::in_place(counters), add_up_to_limit);

  // The warmest sensor of all; of several equally warm ones the one with the lowest number,
  // whatever the number of ranks.
  colligo::located<double> warmest{temperature(first), first};
  for (std::int64_t s = first + 1; s < last; ++s)
    warmest = colligo::maxloc{}(warmest, colligo::located<double>{temperature(s), s});
  warmest = colligo::all_reduce(world, warmest, colligo::maxloc{});

  if (me != 0) return 0;
  std::cout << all.count << " sensors, mean " << all.mean << ", from " << all.lowest << " to " << all.highest << '\n'
            << "warmest is sensor " << warmest.index << " with " << warmest.value << '\n'
            << "counters up to " << limit << ':';
  for (int const c : counters) std::cout << ' ' << c;
  std::cout << '\n';
}
