// SPDX-License-Identifier: BSL-1.0
// Small programs as people write them, each beside the same one over Boost.MPI's collectives. Numbers are integers, or
// combined by comparing, so that results are equal to the bit whatever the order.
#define BOOST_TEST_NO_MAIN
#include <boost/test/unit_test.hpp>

#include <boost/mpi.hpp>
#include <boost/mpi/collectives/all_gatherv.hpp>
#include <boost/serialization/string.hpp>
#include <colligo/all_gatherv.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/broadcast.hpp>
#include <colligo/gather.hpp>
#include <colligo/reduce.hpp>
#include <colligo/scan.hpp>
#include <colligo/scatter.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace mpi = boost::mpi;

struct particle {
  std::int64_t x, v, charge;
  friend bool operator==(particle const&, particle const&) = default;
  template <class Archive>
  void serialize(Archive& archive, unsigned) { archive & x & v & charge; }
};

/// What a cluster has of one rank's points, or of all.
struct moments {
  std::int64_t x = 0, y = 0, points = 0;
  friend bool operator==(moments const&, moments const&) = default;
  friend moments operator+(moments const& a, moments const& b) {
    return {a.x + b.x, a.y + b.y, a.points + b.points};
  }
  template <class Archive>
  void serialize(Archive& archive, unsigned) { archive & x & y & points; }
};

}  // namespace

template <> struct boost::mpi::is_mpi_datatype<particle> : boost::mpl::true_ {};
template <> struct boost::mpi::is_mpi_datatype<moments> : boost::mpl::true_ {};

namespace {

/// The centres to which k means converge, and in how many rounds; combine(sums of this rank, of all).
template <class Combine>
std::pair<std::vector<moments>, int> k_means(mpi::communicator const& world, Combine combine) {
  struct point { std::int64_t x, y; };
  std::vector<point> points;
  for (std::int64_t i = 0; i < 200; ++i) {
    std::int64_t const seed = i + 200 * world.rank(), cluster = seed % 4;
    points.push_back({10000 * (cluster % 2) + (seed * 7919) % 4001, 10000 * (cluster / 2) + (seed * 104729) % 4003});
  }
  std::vector<moments> centres(4);
  for (std::size_t k = 0; k < 4; ++k) centres[k] = {static_cast<std::int64_t>(4000 * k), 5000, 1};
  for (int round = 1;; ++round) {
    std::vector<moments> mine(4), all(4);
    for (point const& at : points) {
      auto const distance = [&](moments const& c) {
        std::int64_t const dx = at.x - c.x / c.points, dy = at.y - c.y / c.points;
        return dx * dx + dy * dy;
      };
      auto const nearest = std::ranges::min_element(centres, {}, distance) - centres.begin();
      mine[static_cast<std::size_t>(nearest)] = mine[static_cast<std::size_t>(nearest)] + moments{at.x, at.y, 1};
    }
    combine(mine, all);
    for (std::size_t k = 0; k < 4; ++k)
      if (all[k].points == 0) all[k] = centres[k];
    if (std::exchange(centres, all) == all || round == 100) return {centres, round};
  }
}

/// A rank's particles after ten steps among all others', which gather(mine) gives; some ranks have none at first.
template <class Gather>
std::vector<particle> moved_particles(mpi::communicator const& world, Gather gather) {
  std::vector<particle> mine;
  for (std::int64_t i = 0; i < world.rank() * 3 % 5; ++i)
    mine.push_back({1000 * i + 17 * world.rank(), i - 2, 1 + i % 2});
  for (int step = 0; step < 10; ++step) {
    std::vector<particle> const all = gather(mine);
    for (particle& one : mine) {
      for (particle const& other : all)
        if (other.x != one.x) one.v += (one.x < other.x ? -1 : 1) * other.charge;
      one.x += one.v;
    }
    // Every third step the last particle of a rank decays: how many there are changes all the time.
    if (step % 3 == world.rank() % 3 && !mine.empty()) {
      particle& last = mine.back();
      mine.push_back({last.x + 1, -last.v, last.charge});
    }
  }
  return mine;
}

/// Gauss' elimination of a matrix whose row r lies on rank r % p: the rows that were the pivots, and the logarithm of
/// the determinant. best(candidate) is the largest of the ranks', the lowest row among equals; share(row, owner) copies
/// it.
template <class Best, class Share>
std::pair<std::vector<int>, double> eliminated(mpi::communicator const& world, Best best, Share share) {
  constexpr int n = 24;
  using row = std::array<double, n>;
  auto const at = [](row& r, int column) -> double& { return r[static_cast<std::size_t>(column)]; };
  std::vector<std::pair<int, row>> rows;
  for (int r = world.rank(); r < n; r += world.size()) {
    rows.push_back({r, {}});
    for (int c = 0; c < n; ++c) at(rows.back().second, c) = ((r * 7919 + c * c * 31) % 97) - 48 + (r == c ? 0.5 : 0);
  }
  std::vector<int> pivots;
  double determinant = 0;
  for (int column = 0; column < n; ++column) {
    std::pair<double, int> candidate(-1, n);
    for (auto& [r, values] : rows) {
      double const size = std::abs(at(values, column));
      if (std::ranges::count(pivots, r) == 0 && size > candidate.first) candidate = {size, r};
    }
    auto const [size, pivot] = best(candidate);
    row taken{};
    for (auto& [r, values] : rows)
      if (r == pivot) taken = values;
    share(taken, pivot % world.size());
    pivots.push_back(pivot);
    determinant += std::log(size);
    for (auto& [r, values] : rows) {
      if (std::ranges::count(pivots, r) != 0) continue;
      double const factor = at(values, column) / at(taken, column);
      for (int c = column; c < n; ++c) at(values, c) -= factor * at(taken, c);
    }
  }
  return {pivots, determinant};
}

// Only the namespace differs.
namespace boosts {
namespace collectives = boost::mpi;
#include "programs.inc"
}  // namespace boosts
namespace ours {
namespace collectives = colligo;
#include "programs.inc"
}  // namespace ours

}  // namespace

BOOST_AUTO_TEST_CASE(k_means_by_all_reduce_of_structs) {
  mpi::communicator const world;
  auto const expected = k_means(world, [&](auto const& mine, auto& all) {
    mpi::all_reduce(world, mine.data(), static_cast<int>(mine.size()), all.data(), std::plus<moments>());
  });
  BOOST_TEST(expected.second > 2);
  BOOST_TEST(expected.second < 100);
  bool const same = expected == k_means(world, [&](auto const& mine, auto& all) {
                      colligo::all_reduce(world, mine, all, std::plus<>{});
                    });
  BOOST_TEST(same);
}

BOOST_AUTO_TEST_CASE(particles_that_ranks_have_different_numbers_of) {
  mpi::communicator const world;
  auto const expected = moved_particles(world, [&](std::vector<particle> const& mine) {
    std::vector<int> sizes;
    mpi::all_gather(world, static_cast<int>(mine.size()), sizes);
    std::vector<particle> all(static_cast<std::size_t>(std::accumulate(sizes.begin(), sizes.end(), 0)));
    mpi::all_gatherv(world, mine.data(), all.data(), sizes);
    return all;
  });
  bool const same = expected == moved_particles(world, [&](std::vector<particle> const& mine) {
                      return colligo::all_gatherv(world, mine).data;
                    });
  BOOST_TEST(same);
}

BOOST_AUTO_TEST_CASE(pivots_searched_with_a_pinned_algorithm) {
  mpi::communicator const world;
  using candidate = std::pair<double, int>;
  auto const larger = [](candidate const& a, candidate const& b) {
    return a.first > b.first || (a.first == b.first && a.second < b.second) ? a : b;
  };
  auto const expected = eliminated(
      world, [&](candidate const& mine) { return mpi::all_reduce(world, mine, larger); },
      [&](auto& row, int owner) { mpi::broadcast(world, row.data(), static_cast<int>(row.size()), owner); });
  BOOST_TEST(expected.first.size() == 24u);
  BOOST_TEST(std::isfinite(expected.second));
  auto const share = [&](auto& row, int owner) { colligo::broadcast(world, row, owner, colligo::binary_tree{}); };
  bool const same = expected == eliminated(world, [&](candidate const& mine) {
    return colligo::all_reduce(world, mine, larger, colligo::recursive_doubling{});
  }, share);
  BOOST_TEST(same);
  bool const same_by_maxloc = expected == eliminated(world, [&](candidate const& mine) {
    auto const best = colligo::all_reduce(world, colligo::located<double, int>{mine.first, mine.second},
                                          colligo::maxloc{}, colligo::halving_doubling{});
    return candidate(best.value, best.index);
  }, share);
  BOOST_TEST(same_by_maxloc);
}

BOOST_AUTO_TEST_CASE(lines_numbered_by_offsets_and_gathered) {
  mpi::communicator const world;
  int const root = world.size() / 2;
  auto const numbered = [&](int offset) {
    std::vector<std::string> lines;
    for (int i = 0; i < 2 * world.rank() % 5; ++i)
      lines.push_back(std::to_string(offset++) + ' ' + std::string(static_cast<std::size_t>(i), 'x'));
    return lines;
  };
  int const count = 2 * world.rank() % 5;

  auto const lines = numbered(mpi::scan(world, count, std::plus<int>()) - count);
  std::vector<int> sizes;
  mpi::all_gather(world, count, sizes);
  std::vector<std::string> expected(
      world.rank() == root ? static_cast<std::size_t>(std::accumulate(sizes.begin(), sizes.end(), 0)) : 0);
  if (world.rank() == root) mpi::gatherv(world, lines, expected.data(), sizes, root);
  else mpi::gatherv(world, lines, root);

  auto const ours = numbered(colligo::exclusive_scan(world, count, std::plus<>{}));
  auto const all = colligo::gatherv(world, ours, root);
  BOOST_TEST(ours == lines, boost::test_tools::per_element());
  BOOST_TEST(all.data == expected, boost::test_tools::per_element());
  BOOST_TEST(all.counts == sizes, boost::test_tools::per_element());
  for (std::size_t i = 0; i < all.data.size(); ++i) BOOST_TEST(all.data[i].starts_with(std::to_string(i) + ' '));
}

BOOST_AUTO_TEST_CASE(a_program_of_which_the_namespace_alone_was_changed) {
  mpi::communicator const world;
  auto const expected = boosts::walk(world);
  BOOST_TEST(expected.steps == 50);
  auto const got = ours::walk(world);
  BOOST_TEST(got.weights == expected.weights, boost::test_tools::per_element());
  BOOST_TEST((got.total == expected.total && got.heaviest == expected.heaviest && got.before == expected.before));
  BOOST_TEST((got.steps == expected.steps && got.title == expected.title));
}

// Boost.MPI has a form for (T const&, T&, Op) that would be taken, and fail in some hundred lines.
BOOST_AUTO_TEST_CASE(vectors_beside_two_open_namespaces) {
  using namespace boost::mpi;
  using namespace colligo;
  mpi::communicator const world;
  std::vector<double> const in{1.0 + world.rank(), 1};
  std::vector<double> sums(2), up_to_here(2);
  all_reduce(world, in, sums, std::plus<>{});
  scan(world, in, up_to_here, std::plus<>{});
  int const p = world.size(), rank = world.rank();
  BOOST_TEST(sums == (std::vector<double>{p * (p + 1) / 2.0, 1.0 * p}), boost::test_tools::per_element());
  BOOST_TEST(up_to_here == (std::vector<double>{(rank + 1) * (rank + 2) / 2.0, rank + 1.0}),
             boost::test_tools::per_element());
  iall_reduce(world, in, up_to_here, std::plus<>{}).wait();   // Boost.MPI has no such name
  BOOST_TEST(up_to_here == sums, boost::test_tools::per_element());

  // The root and the others use different forms, all of which Boost.MPI has too: they have to be of the same library.
  std::vector<int> const mine(static_cast<std::size_t>(rank + 1), rank);
  std::vector<int> sizes, all(static_cast<std::size_t>(p * (p + 1) / 2));
  int sum = 0;
  if (rank == 0) gather(world, rank + 1, sizes, 0), gatherv(world, mine, all.data(), sizes, 0);
  else gather(world, rank + 1, 0), gatherv(world, mine, 0);
  if (rank == 0) reduce(world, rank + 1, sum, std::plus<>{}, 0);
  else reduce(world, rank + 1, std::plus<>{}, 0);
  BOOST_TEST((rank != 0 || (all.back() == p - 1 && sum == p * (p + 1) / 2)));
}
