// SPDX-License-Identifier: BSL-1.0
// The rest of the family under MPI: words through every algorithm of every collective, and numbers and structs against
// MPI's own collectives on the six distributions of the irregular all_gather.
#define BOOST_TEST_NO_MAIN
#include <boost/test/unit_test.hpp>

#include <colligo/colligo.hpp>

#include <numeric>

#include "../distributions.hpp"
#include "../laws.hpp"

namespace {

using colligo::collective;

struct padded {
  char letter;
  double weight;
  short count;
  friend bool operator==(padded const&, padded const&) = default;
};

template <class T>
T value(int rank, std::size_t i) {
  auto const x = static_cast<int>((static_cast<std::size_t>(rank) * 7919 + i * 104729) % 1000);
  if constexpr (std::is_arithmetic_v<T>) return static_cast<T>(x);
  else return {static_cast<char>('a' + x % 26), x / 8.0, static_cast<short>(x)};
}

template <class T>
std::vector<T> values(int rank, std::size_t n) {
  std::vector<T> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = value<T>(rank, i);
  return all;
}

// Counts in bytes, as MPI takes them for any T.
template <class T>
struct in_bytes {
  std::vector<int> counts, first;
  explicit in_bytes(std::vector<std::size_t> const& elements) : first(elements.size()) {
    for (std::size_t const n : elements) counts.push_back(static_cast<int>(n * sizeof(T)));
    std::exclusive_scan(counts.begin(), counts.end(), first.begin(), 0);
  }
};

template <collective C, class T, class F>
void with_every_algorithm(F f) {
  f(colligo::automatic{}, std::string("automatic"));
  tested::for_each_algorithm([&]<class Tag>(Tag tag) {
    if constexpr (colligo::offers<Tag, C, T, std::plus<>>) {
      ++tested::count;
      f(colligo::over_messages{tag}, std::string(Tag::name) + "@messages");
      f(colligo::named(Tag::name), std::string(Tag::name));
    }
  });
}

void expect(bool right, std::string const& what, std::string const& by, char const* distribution) {
  BOOST_CHECK_MESSAGE(right, what << " by " << by << ", " << distribution);
}

template <class T>
void uneven_blocks_move() {
  boost::mpi::communicator const world;
  int const p = world.size(), me = world.rank();
  for (auto const& distribution : distributions::all)
    for (std::size_t const c : {0u, 1u, 60u}) {
      char const* const name = distribution.first;
      auto const counts = distribution.second(p, c);
      in_bytes<T> const bytes(counts);
      auto const mine = values<T>(me, counts[static_cast<std::size_t>(me)]);
      std::vector<T> expected(std::reduce(counts.begin(), counts.end()));
      MPI_Allgatherv(mine.data(), static_cast<int>(mine.size() * sizeof(T)), MPI_BYTE, expected.data(),
                     bytes.counts.data(), bytes.first.data(), MPI_BYTE, world);
      with_every_algorithm<collective::all_gatherv, T>([&](auto const& algorithm, std::string const& by) {
        std::vector<T> out(expected.size());
        colligo::all_gatherv(world, mine, out, counts, algorithm);
        expect(out == expected, "all_gatherv", by, name);
      });
      // Every rank sends blocks of these sizes round the ring, and gets those that end at it.
      std::vector<std::size_t> to_ranks, from_ranks;
      for (int r = 0; r < p; ++r) {
        to_ranks.push_back(counts[static_cast<std::size_t>((2 * r + me) % p)]);
        from_ranks.push_back(counts[static_cast<std::size_t>((2 * me + r) % p)]);
      }
      in_bytes<T> const sent(to_ranks), received(from_ranks);
      auto const for_ranks = values<T>(me, std::reduce(to_ranks.begin(), to_ranks.end()));
      std::vector<T> exchanged(std::reduce(from_ranks.begin(), from_ranks.end()));
      MPI_Alltoallv(for_ranks.data(), sent.counts.data(), sent.first.data(), MPI_BYTE, exchanged.data(),
                    received.counts.data(), received.first.data(), MPI_BYTE, world);
      with_every_algorithm<collective::all_to_all_v, T>([&](auto const& algorithm, std::string const& by) {
        std::vector<T> out(exchanged.size());
        colligo::all_to_all_v(world, for_ranks, to_ranks, out, from_ranks, algorithm);
        expect(out == exchanged, "all_to_all_v", by, name);
        auto const found = colligo::all_to_all_v(world, for_ranks, to_ranks, algorithm);
        expect(found.data == exchanged && found.counts == from_ranks, "all_to_all_v of unknown counts", by, name);
      });
      for (int root = 0; root < p; ++root) {
        with_every_algorithm<collective::gatherv, T>([&](auto const& algorithm, std::string const& by) {
          std::vector<T> out(me == root ? expected.size() : 0);
          colligo::gatherv(world, mine, out, counts, root, algorithm);
          expect(me != root || out == expected, "gatherv", by, name);
        });
        with_every_algorithm<collective::scatterv, T>([&](auto const& algorithm, std::string const& by) {
          std::vector<T> out(mine.size());
          colligo::scatterv(world, me == root ? expected : std::vector<T>{}, counts, out, root, algorithm);
          expect(out == mine, "scatterv", by, name);
        });
      }
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(family)

BOOST_AUTO_TEST_CASE(words_go_through_every_algorithm_of_every_collective) {
  boost::mpi::communicator world;
  for (std::size_t const n : {0u, 1u, 7u})
    tested::for_each_algorithm([&]<class Tag>(Tag tag) {
      if constexpr (laws::takes_words<Tag>) BOOST_CHECK_NO_THROW(laws::words(world, tag, n, 4));
    });
}

BOOST_AUTO_TEST_CASE(numbers_in_uneven_blocks_arrive_as_with_mpi) { uneven_blocks_move<int>(); }
BOOST_AUTO_TEST_CASE(structs_in_uneven_blocks_arrive_as_with_mpi) { uneven_blocks_move<padded>(); }

BOOST_AUTO_TEST_CASE(blocks_of_sums_are_those_of_mpi) {
  boost::mpi::communicator const world;
  int const p = world.size(), me = world.rank();
  for (auto const& distribution : distributions::all) {
    char const* const name = distribution.first;
    auto const counts = distribution.second(p, 50);
    std::vector<int> const ints(counts.begin(), counts.end());
    auto const in = values<int>(me, std::reduce(counts.begin(), counts.end()));
    std::vector<int> expected(counts[static_cast<std::size_t>(me)]);
    MPI_Reduce_scatter(in.data(), expected.data(), ints.data(), MPI_INT, MPI_SUM, world);
    with_every_algorithm<collective::reduce_scatter, int>([&](auto const& algorithm, std::string const& by) {
      std::vector<int> out(expected.size());
      colligo::reduce_scatter(world, in, out, counts, std::plus<>{}, algorithm);
      expect(out == expected, "reduce_scatter", by, name);
    });
  }
  auto const in = values<int>(me, 33 * static_cast<std::size_t>(p));
  std::vector<int> expected(33);
  MPI_Reduce_scatter_block(in.data(), expected.data(), 33, MPI_INT, MPI_SUM, world);
  with_every_algorithm<collective::reduce_scatter_block, int>([&](auto const& algorithm, std::string const& by) {
    std::vector<int> out(33);
    colligo::reduce_scatter_block(world, in, out, std::plus<>{}, algorithm);
    expect(out == expected, "reduce_scatter_block", by, "regular");
  });
}

BOOST_AUTO_TEST_CASE(scans_broadcasts_and_even_blocks_are_those_of_mpi) {
  boost::mpi::communicator const world;
  int const p = world.size(), me = world.rank();
  for (std::size_t const n : {0u, 1u, 500u, 20000u}) {
    auto const count = static_cast<int>(n);
    auto const in = values<int>(me, n);
    std::vector<int> scanned(n), before(n, 0), all(n * static_cast<std::size_t>(p));
    MPI_Scan(in.data(), scanned.data(), count, MPI_INT, MPI_SUM, world);
    MPI_Exscan(in.data(), before.data(), count, MPI_INT, MPI_SUM, world);
    if (me == 0) std::ranges::fill(before, 0);
    for (int& x : before) x += 5;
    MPI_Allgather(in.data(), count, MPI_INT, all.data(), count, MPI_INT, world);
    with_every_algorithm<collective::scan, int>([&](auto const& algorithm, std::string const& by) {
      std::vector<int> out(n);
      colligo::scan(world, in, out, std::plus<>{}, algorithm);
      expect(out == scanned, "scan", by, "regular");
    });
    with_every_algorithm<collective::exclusive_scan, int>([&](auto const& algorithm, std::string const& by) {
      std::vector<int> out(n);
      colligo::exclusive_scan(world, in, out, 5, std::plus<>{}, algorithm);
      expect(out == before, "exclusive_scan", by, "regular");
    });
    with_every_algorithm<collective::all_gather, int>([&](auto const& algorithm, std::string const& by) {
      std::vector<int> out(all.size());
      colligo::all_gather(world, in, out, algorithm);
      expect(out == all, "all_gather", by, "regular");
    });
    for (int root = 0; root < p; ++root) {
      with_every_algorithm<collective::broadcast, int>([&](auto const& algorithm, std::string const& by) {
        auto both = me == root ? in : std::vector<int>(n);
        colligo::broadcast(world, both, root, algorithm);
        expect(both == values<int>(root, n), "broadcast", by, "regular");
      });
      with_every_algorithm<collective::gather, int>([&](auto const& algorithm, std::string const& by) {
        std::vector<int> out(me == root ? all.size() : 0);
        colligo::gather(world, in, out, root, algorithm);
        expect(me != root || out == all, "gather", by, "regular");
      });
      with_every_algorithm<collective::scatter, int>([&](auto const& algorithm, std::string const& by) {
        std::vector<int> out(n);
        colligo::scatter(world, me == root ? all : std::vector<int>{}, out, root, algorithm);
        expect(out == in, "scatter", by, "regular");
      });
    }
  }
  for (std::size_t const n : {0u, 1u, 500u, 5000u}) {
    auto const in = values<int>(me, n * static_cast<std::size_t>(p));
    std::vector<int> expected(in.size());
    auto const count = static_cast<int>(n);
    MPI_Alltoall(in.data(), count, MPI_INT, expected.data(), count, MPI_INT, world);
    with_every_algorithm<collective::all_to_all, int>([&](auto const& algorithm, std::string const& by) {
      std::vector<int> out(in.size());
      auto both = in;
      colligo::all_to_all(world, in, out, algorithm);
      expect(out == expected, "all_to_all", by, "regular");
      colligo::all_to_all(world, colligo::in_place(both), algorithm);
      expect(both == expected, "all_to_all in place", by, "regular");
    });
  }
  for (int round = 0; round < 3; ++round)
    with_every_algorithm<collective::barrier, std::byte>(
        [&](auto const& algorithm, std::string const&) { colligo::barrier(world, algorithm); });
}

BOOST_AUTO_TEST_CASE(blocks_that_do_not_fit_are_refused_and_nothing_is_written) {
  boost::mpi::communicator const world;
  auto const p = static_cast<std::size_t>(world.size());
  std::vector<int> const in(3);
  std::vector<int> out(3 * p + 1, -7), counts(p, 3);
  BOOST_CHECK_THROW(colligo::all_gather(world, in, out), colligo::argument_error);
  BOOST_CHECK_THROW(colligo::all_gatherv(world, in, std::span(out).first(3 * p), std::span(counts).first(p - 1)),
                    colligo::argument_error);
  BOOST_CHECK_THROW(colligo::broadcast(world, out, world.size()), colligo::argument_error);
  BOOST_CHECK_THROW(colligo::reduce_scatter_block(world, in, out, std::plus<>{}), colligo::argument_error);
  counts[0] = -1;
  BOOST_CHECK_THROW(colligo::all_gatherv(world, in, out, counts), colligo::argument_error);
  BOOST_CHECK(std::ranges::count(out, -7) == std::ssize(out));
}

BOOST_AUTO_TEST_SUITE_END()
