// SPDX-License-Identifier: BSL-1.0
// Exchanges over graphs and halos over MPI: over shared memory and over messages, beside MPI's neighbour collectives;
// no allocation by a repeated call, 10 000 graphs, graphs that outlive their communicator.
#define BOOST_TEST_NO_MAIN
#include <malloc.h>

#include <boost/test/unit_test.hpp>

#include <boost/mpi.hpp>
#include <boost/serialization/string.hpp>
#include <colligo/exchange.hpp>
#include <colligo/request.hpp>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace {

thread_local int allocations = 0;
thread_local std::int64_t kept = 0;   // bytes

void* taken(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  ++allocations, kept += static_cast<std::int64_t>(malloc_usable_size(memory));
  return memory;
}
void freed(void* memory) {
  kept -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}
template <class Call>
int allocations_of(Call call) {
  int const before = allocations;
  call();
  return allocations - before;
}

template <class T>
T carried(std::size_t edge, std::size_t i) {
  if constexpr (std::is_same_v<T, std::string>) return std::to_string(edge) + "/" + std::to_string(i);
  else return static_cast<T>(edge * 100'000 + i);
}
template <class T>
void exchange_over(boost::mpi::communicator const& world, std::vector<colligo::graph_edge> const& all) {
  int const me = world.rank();
  std::vector<int> sources, targets;
  std::vector<std::size_t> counts, in_counts;
  std::vector<T> sent, wanted;
  for (std::size_t e = 0; e < all.size(); ++e)
    for (bool const out : {true, false}) {
      if ((out ? all[e].from : all[e].to) != me) continue;
      (out ? targets : sources).push_back(out ? all[e].to : all[e].from);
      (out ? counts : in_counts).push_back(all[e].elements);
      for (std::size_t i = 0; i < all[e].elements; ++i) (out ? sent : wanted).push_back(carried<T>(e, i));
    }
  colligo::neighbours const graph(world, sources, targets);
  std::vector<T> got(wanted.size());
  auto const check = [&](auto by) {
    std::fill(got.begin(), got.end(), T{});
    by();
    BOOST_TEST((got == wanted));
  };
  colligo::along_edges const by{.window = 3};
  auto persistent = colligo::all_to_all_v_init(graph, sent, counts, got, in_counts);
  for (int times = 0; times < 3; ++times) {
    check([&] { colligo::all_to_all_v(graph, sent, counts, got, in_counts); });
    check([&] { colligo::all_to_all_v(graph, sent, counts, got, in_counts, colligo::over_messages{by}); });
    check([&] { colligo::iall_to_all_v(graph, sent, counts, got, in_counts, by).wait(); });
    check([&] { persistent.start(), persistent.wait(); });
  }
}

struct cartesian {
  MPI_Comm comm = MPI_COMM_NULL;
  cartesian(int p, int first, bool periodic) {
    int const sides[]{first, p / first}, circles[]{periodic, 0};
    MPI_Cart_create(MPI_COMM_WORLD, 2, sides, circles, 0, &comm);
  }
  ~cartesian() { MPI_Comm_free(&comm); }
};

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) { return taken(std::malloc(bytes ? bytes : 1)); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t boundary) {
  auto const to = static_cast<std::size_t>(boundary);
  return taken(std::aligned_alloc(to, (bytes + to - 1) / to * to + (bytes ? 0 : to)));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { freed(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { freed(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { freed(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { freed(memory); }

BOOST_AUTO_TEST_CASE(random_graphs) {
  boost::mpi::communicator const world;
  std::mt19937 any(51);
  auto const p = static_cast<unsigned>(world.size());
  for (int times = 0; times < 12; ++times) {
    std::vector<colligo::graph_edge> all;
    for (auto i = any() % (4 * p + 1); i != 0; --i) {
      int const from = static_cast<int>(any() % p), to = static_cast<int>(any() % p);
      all.push_back({from, to, any() % 3 == 0 ? 0 : any() % 6 == 0 ? 20'000 : any() % 30});
    }
    exchange_over<int>(world, all);
    if (times % 4 == 0) exchange_over<std::string>(world, all);
  }
}

// As MPI's, on grids where all neighbours exist along a periodic axis, and on distributed graphs.
BOOST_AUTO_TEST_CASE(graphs_of_mpi) {
  boost::mpi::communicator const world;
  int const p = world.size(), me = world.rank();
  for (int first = 1; first <= p; ++first)
    for (bool const periodic : {false, true}) {
      if (p % first != 0) continue;
      cartesian const grid(p, first, periodic);
      colligo::mpi_communicator const comm(grid.comm);
      auto const graph = colligo::neighbours_of(comm);
      // An element for each neighbour says who sends it, and to which side.
      std::vector<int> sides, in, out, wanted;
      int ends[4];
      for (int axis : {0, 1}) MPI_Cart_shift(grid.comm, axis, 1, &ends[2 * axis], &ends[2 * axis + 1]);
      for (int side = 0; side < 4; ++side) {
        if (ends[side] == MPI_PROC_NULL) continue;
        sides.push_back(ends[side]);
        in.push_back(comm.rank() * 4 + side);
        wanted.push_back(ends[side] * 4 + (side ^ 1));   // it comes from that rank's other side
      }
      BOOST_TEST(graph.sources() == sides, boost::test_tools::per_element());
      BOOST_TEST(graph.targets() == sides, boost::test_tools::per_element());
      colligo::all_to_all(graph, in, out);
      BOOST_TEST(out == wanted, boost::test_tools::per_element());
      auto const sides_of = colligo::grid_of<2>(comm);
      BOOST_TEST((sides_of.ranks() == std::array{first, p / first}));
      BOOST_TEST((sides_of.periodic() == std::array{periodic, false}));
      BOOST_TEST(sides_of.neighbour({0, 1}) == (ends[3] == MPI_PROC_NULL ? colligo::nobody : ends[3]));
      BOOST_CHECK_THROW(colligo::grid_of<3>(comm), colligo::argument_error);
    }
  BOOST_CHECK_THROW(colligo::grid_of<2>(world), colligo::argument_error);
  BOOST_CHECK_THROW(colligo::neighbours_of(boost::mpi::communicator(MPI_COMM_NULL, boost::mpi::comm_attach)),
                    colligo::argument_error);

  std::vector<int> const sources{(me + p - 1) % p, (me + p - 2 + p) % p}, targets{(me + 1) % p, (me + 2) % p};
  MPI_Comm graph_comm;
  MPI_Dist_graph_create_adjacent(world, 2, sources.data(), MPI_UNWEIGHTED, 2, targets.data(), MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &graph_comm);
  {
    auto const graph = colligo::neighbours_of(colligo::mpi_communicator(graph_comm));
    std::vector<double> in{me + 0.25, me + 0.5, me + 0.75}, ours(6), theirs(6);
    int const counts[]{1, 2}, places[]{0, 1};
    MPI_Neighbor_alltoallv(in.data(), counts, places, MPI_DOUBLE, theirs.data(), counts, places, MPI_DOUBLE,
                           graph_comm);
    colligo::all_to_all_v(graph, in, counts, std::span(ours).first(3), counts);
    BOOST_TEST(ours == theirs, boost::test_tools::per_element());
    MPI_Neighbor_allgather(in.data(), 3, MPI_DOUBLE, theirs.data(), 3, MPI_DOUBLE, graph_comm);
    colligo::all_gather(graph, in, ours);
    BOOST_TEST(ours == theirs, boost::test_tools::per_element());

    std::vector<double> sum(3), wanted(3);
    for (std::size_t i = 0; i < 3; ++i) wanted[i] = ours[i] + ours[3 + i];
    colligo::reduce(graph, in, sum, std::plus<>{});
    BOOST_TEST(sum == wanted, boost::test_tools::per_element());
    std::vector<std::string> const word{std::to_string(me)};
    std::vector<std::string> joined(1);
    auto const low = std::min(sources[0], sources[1]), high = std::max(sources[0], sources[1]);
    colligo::ireduce(graph, word, joined, std::plus<>{}).wait();
    BOOST_TEST(joined[0] == std::to_string(low) + std::to_string(high));   // in the order of ranks
    std::vector<std::string> const words{word[0] + "a", word[0] + "b"};
    colligo::reduce_v(graph, words, std::vector{1, 1}, joined, std::plus<>{});
    bool const in_turn = sources[0] <= sources[1];
    BOOST_TEST(joined[0] == std::to_string(low) + (in_turn ? "a" : "b") + std::to_string(high) + (in_turn ? "b" : "a"));
  }
  MPI_Comm_free(&graph_comm);
  BOOST_CHECK_THROW(colligo::neighbours_of(world), colligo::argument_error);
}

BOOST_AUTO_TEST_CASE(halos) {
  boost::mpi::communicator const world;
  colligo::grid const on(world, {0, 0}, {true, false});
  std::size_t const rows = on.part(30, 0).size() + 4, columns = on.part(40, 1).size() + 4;
  std::vector<int> u(rows * columns);
  auto const h = colligo::halo(on, colligo::row_major(u.data(), {rows, columns}), 2, colligo::corners::with);
  auto kept_halo = colligo::exchange_init(h);
  auto const check = [&](auto by) {
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        bool const own = i >= 2 && i < rows - 2 && j >= 2 && j < columns - 2;
        u[i * columns + j] =
            own ? static_cast<int>((on.part(30, 0).first + i - 2) * 100 + on.part(40, 1).first + j - 2) : -1;
      }
    by();
    int wrong = 0;
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        std::size_t const row = (on.part(30, 0).first + i + 28) % 30, column = on.part(40, 1).first + j;
        bool const is_there = column >= 2 && column < 42;
        wrong += u[i * columns + j] != (is_there ? static_cast<int>(row * 100 + column - 2) : -1);
      }
    BOOST_TEST(wrong == 0);
  };
  for (int times = 0; times < 3; ++times) {
    check([&] { colligo::exchange(h); });
    check([&] { colligo::exchange(h, colligo::over_messages{colligo::along_edges{.window = 1}}); });
    check([&] { colligo::iexchange(h).wait(); });
    check([&] { kept_halo.start(), kept_halo.wait(); });
  }
}

BOOST_AUTO_TEST_CASE(no_allocation) {
  boost::mpi::communicator const world;
  int const p = world.size(), me = world.rank();
  std::vector<int> const next{(me + 1) % p}, before{(me + p - 1) % p};
  colligo::neighbours const ring(world, before, next);
  colligo::grid const on(world, {0, 0}, true);
  std::vector<double> u(20 * 20);
  auto const h = colligo::halo(on, colligo::row_major(u.data(), {20, 20}), 1);   // columns are packed
  for (std::size_t const n : {1u, 100u, 10'000u}) {
    std::vector<double> const in(n, me);
    std::vector<double> out(n);
    std::vector<std::size_t> const counts{n};
    auto persistent = colligo::all_to_all_v_init(ring, in, counts, out, counts);
    auto kept_halo = colligo::exchange_init(h);
    auto const calls = [&] {
      colligo::all_to_all_v(ring, in, counts, out, counts);
      colligo::all_gather(ring, in, out);
      colligo::exchange(h);
      persistent.start(), persistent.wait();
      kept_halo.start(), kept_halo.wait();
    };
    for (int times = 0; times < 4; ++times) calls();
    BOOST_TEST(allocations_of(calls) == 0);
  }
}

BOOST_AUTO_TEST_CASE(many_graphs_and_freed_communicators) {
  boost::mpi::communicator const world;
  int const p = world.size(), me = world.rank();
  std::vector<int> const next{(me + 1) % p, me}, before{(me + p - 1) % p, me};
  std::vector<colligo::neighbours<boost::mpi::communicator>> all;
  all.reserve(10'000);
  colligo::discover(world, next);
  std::int64_t const at_first = kept;
  for (int k = 0; k < 10'000; ++k) all.emplace_back(world, before, next);
  BOOST_TEST(kept - at_first <= 10'000 * (1024 + 16 * 4));
  std::vector<int> const in{me, -me}, wanted{before[0], -me};
  std::vector<int> out(2);
  for (std::size_t const k : {0u, 5000u, 9999u}) {
    colligo::all_to_all(all[k], in, out);
    BOOST_TEST(out == wanted, boost::test_tools::per_element());
  }

  std::optional<colligo::neighbours<boost::mpi::communicator>> left;
  {
    boost::mpi::communicator const copy(world, boost::mpi::comm_duplicate);
    left = colligo::discover(copy, next);
    colligo::all_to_all(*left, in, out);
  }
  auto const is_refused = [&] {
    BOOST_CHECK_EXCEPTION(colligo::all_to_all(*left, in, out), colligo::error, [](colligo::error const& e) {
      return std::string(e.what()) == "colligo: these neighbours are of a communicator that has been freed";
    });
  };
  is_refused();
  std::optional<colligo::persistent> keeps_its_state;
  {
    boost::mpi::communicator const copy(world, boost::mpi::comm_duplicate);
    left = colligo::discover(copy, next);
    keeps_its_state = colligo::all_to_all_init(*left, in, out);
    if (me != 0) keeps_its_state.reset();
  }
  is_refused();
}
