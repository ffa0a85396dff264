// SPDX-License-Identifier: BSL-1.0
// Exchanges over graphs: the schedules of random graphs, and their calls over threads against what each edge carries.
#include <catch2/catch.hpp>

#include <colligo/neighbours.hpp>
#include <colligo/plan/price.hpp>
#include <colligo/record.hpp>
#include <colligo/request.hpp>
#include <colligo/transport/threads/threads.hpp>

#include <atomic>
#include <random>
#include <string>
#include <vector>

using namespace colligo;

namespace {

/// Edges in the order in which each rank lists its own; some from a rank to itself, some twice, some without elements,
/// some too long for a line.
std::vector<graph_edge> random_graph(std::mt19937& any, int p, int count) {
  std::vector<graph_edge> all;
  auto const rank = [&] { return static_cast<int>(any() % static_cast<unsigned>(p)); };
  for (int i = 0; i < count; ++i) {
    std::size_t const n = any() % 3 == 0 ? 0 : any() % 7 == 0 ? 20'000 : any() % 30;
    all.push_back({rank(), rank(), n});
    if (any() % 5 == 0) all.push_back(all.back());
  }
  return all;
}
std::vector<graph_edge> one_to_all(int p, bool back) {
  std::vector<graph_edge> all;
  for (int r = 0; r < p; ++r) all.push_back(back ? graph_edge{r, 0, 5} : graph_edge{0, r, 5});
  return all;
}

template <class T>
T carried(std::size_t edge, std::size_t i) {
  if constexpr (std::is_same_v<T, std::string>) return "of edge " + std::to_string(edge) + ", " + std::to_string(i);
  else return static_cast<T>(edge * 100'000 + i);
}

/// A rank's part of a graph.
template <class T>
struct edges_of_rank {
  std::vector<int> sources, targets;
  std::vector<std::size_t> counts, in_counts;
  std::vector<T> sent, wanted;

  edges_of_rank(std::vector<graph_edge> const& all, int rank) {
    for (std::size_t e = 0; e < all.size(); ++e) {
      auto const add = [&](std::vector<int>& ranks, int peer, std::vector<std::size_t>& n, std::vector<T>& to) {
        ranks.push_back(peer);
        n.push_back(all[e].elements);
        for (std::size_t i = 0; i < all[e].elements; ++i) to.push_back(carried<T>(e, i));
      };
      if (all[e].from == rank) add(targets, all[e].to, counts, sent);
      if (all[e].to == rank) add(sources, all[e].from, in_counts, wanted);
    }
  }
};

template <class T>
void exchange_over(int p, std::vector<graph_edge> const& all, std::size_t window) {
  std::atomic<int> wrong = 0;
  run_threads(p, [&](thread_communicator& comm) {
    edges_of_rank<T> const mine(all, comm.rank());
    neighbours const graph(comm, mine.sources, mine.targets);
    wrong += graph.sources() != mine.sources || graph.targets() != mine.targets;
    std::vector<T> out(mine.wanted.size());
    auto const compare = [&](std::vector<T>& got) {
      wrong += got != mine.wanted;
      std::fill(got.begin(), got.end(), T{});
    };
    auto kept = all_to_all_v_init(graph, mine.sent, mine.counts, out, mine.in_counts);
    for (int times = 0; times < 4; ++times) {
      all_to_all_v(graph, mine.sent, mine.counts, out, mine.in_counts, along_edges{.window = window});
      compare(out);
      all_to_all_v(graph, mine.sent, mine.counts, out, mine.in_counts, named("along_edges:window=3"));
      compare(out);
      auto first = iall_to_all_v(graph, mine.sent, mine.counts, out, mine.in_counts);
      std::vector<T> meanwhile;
      all_to_all_v(graph, mine.sent, mine.counts, meanwhile, mine.in_counts);   // resizes it
      first.wait();
      compare(out);
      if (!mine.wanted.empty()) compare(meanwhile);
      kept.start();
      kept.wait();
      compare(out);
    }
  });
  CHECK(wrong == 0);
}

/// Text of the exception that f() throws.
template <class Error, class F>
std::string said_by(F f) {
  try {
    f();
  } catch (Error const& e) {
    return e.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("each edge of a random graph has its message, and nothing waits for ever, whatever the window") {
  std::mt19937 any(51);
  for (int const p : {1, 2, 3, 4, 5, 8, 9, 16, 33, 64})
    for (int times = 0; times < 10; ++times) {
      auto const all = random_graph(any, p, static_cast<int>(any() % static_cast<unsigned>(5 * p)));
      std::size_t messages = 0;
      for (graph_edge const& e : all) messages += e.from != e.to && e.elements != 0;
      for (std::size_t const window : {0u, 1u, 2u, 3u, 32u}) {
        INFO(p << " ranks, " << all.size() << " edges, window " << window);
        auto const s = record(along_edges{.window = window}, p, all);
        REQUIRE_NOTHROW(s.verify());
        CHECK(s.total_messages() == messages);
      }
    }
}

TEST_CASE("the price of an exchange with equal neighbours is its card's") {
  machine m = typical;
  m.f_further = 0.25;
  for (int const p : {5, 8, 13})
    for (int const k : {1, 2, 3, 4}) {
      std::vector<graph_edge> all;
      for (int r = 0; r < p; ++r)
        for (int d = 1; d <= k; ++d) all.push_back({r, (r + d) % p, 10});
      for (std::size_t const window : {1u, 2u, 32u}) {
        along_edges const by{.window = window};
        auto const formula = along_edges::exchange<double>(by).cost(m, k, 10 * static_cast<std::size_t>(k));
        CHECK(price(record<double>(by, p, all), m, 8) == Approx(formula));
      }
    }
}

TEST_CASE("an edge of a rank that does not exist is not recorded") {
  CHECK(said_by<argument_error>([] { record(along_edges{}, 2, {{0, 2, 1}}); }) ==
        "colligo: record: an edge of rank 2 on 2 ranks");
}

TEST_CASE("all_to_all_v over neighbours brings each block to its place") {
  std::mt19937 any(4);
  for (int const p : {1, 2, 3, 4, 5, 6, 7, 8, 9, 33})
    for (int times = 0; times < (p > 9 ? 2 : 6); ++times) {
      auto const all = random_graph(any, p, static_cast<int>(any() % static_cast<unsigned>(4 * p + 1)));
      INFO(p << " ranks, " << all.size() << " edges");
      exchange_over<int>(p, all, 1 + any() % 4);
      if (times == 0) exchange_over<std::string>(p, all, 1 + any() % 4);
    }
  for (bool const back : {false, true}) exchange_over<double>(7, one_to_all(7, back), 3);
  exchange_over<char>(6, {}, 1);
}

TEST_CASE("blocks of one length, one block for all targets, and other counts on the same graph") {
  std::atomic<int> wrong = 0;
  run_threads(5, [&](thread_communicator& comm) {
    int const me = comm.rank(), p = comm.size();
    // Each rank has the two above it as targets, so the two below it as sources, in descending order.
    std::vector<int> const targets{(me + 1) % p, (me + 2) % p}, sources{(me + p - 1) % p, (me + p - 2) % p};
    neighbours const graph(comm, sources, targets);
    auto const copy = graph;
    for (int n : {1, 3, 1000, 2}) {
      std::vector<int> in, out, all;
      for (int i = 0; i < 2 * n; ++i) in.push_back(me * 10'000 + i);
      all_to_all(graph, in, out);
      for (int i = 0; i < n; ++i) {
        wrong += out[static_cast<std::size_t>(i)] != sources[0] * 10'000 + i;
        wrong += out[static_cast<std::size_t>(n + i)] != sources[1] * 10'000 + n + i;
      }
      in.resize(static_cast<std::size_t>(n));
      all_gather(copy, in, all);
      out.assign(all.size(), 0);
      auto request = iall_gather(copy, in, out);
      for (int i = 0; i < n; ++i)
        for (int const k : {0, 1})
          wrong += all[static_cast<std::size_t>(k * n + i)] != sources[static_cast<std::size_t>(k)] * 10'000 + i;
      request.wait();
      wrong += out != all;
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("discover finds the senders, in ascending order, each as often as it sends") {
  std::mt19937 any(7);
  for (int const p : {1, 2, 5, 9, 33}) {
    auto const all = random_graph(any, p, 3 * p);
    std::atomic<int> wrong = 0;
    run_threads(p, [&](thread_communicator& comm) {
      edges_of_rank<int> mine(all, comm.rank());
      auto const graph = discover(comm, mine.targets);
      std::sort(mine.sources.begin(), mine.sources.end());
      wrong += graph.sources() != mine.sources || graph.targets() != mine.targets;
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("edges that one rank knows, ranks that do not exist: an error on all ranks, and the next call is right") {
  std::atomic<int> wrong = 0;
  run_threads(4, [&](thread_communicator& comm) {
    int const me = comm.rank();
    std::vector<int> const none, from_2(me == 3 ? 1u : 0u, 2), to_4(me == 1 ? 1u : 0u, 4);
    wrong += said_by<mismatch_error>([&] { neighbours(comm, from_2, none); }) !=
             "colligo: neighbours: rank 3 expects an edge from rank 2, which has none for it";
    wrong += said_by<mismatch_error>([&] { neighbours(comm, none, from_2); }) !=
             "colligo: neighbours: rank 2 expects no edge from rank 3, which has an edge for it";
    auto const said = said_by<error>([&] { neighbours(comm, none, to_4); });
    wrong += said.find("neighbours on rank 1 of 4: among the targets is 4, ranks are 0 to 3") == std::string::npos;
    auto const of_targets = said_by<error>([&] { discover(comm, to_4); });
    wrong += !of_targets.starts_with("colligo: discover on rank ") ||
             of_targets.find("target 0 is rank 4, ranks are 0 to 3") == std::string::npos;
    std::vector<std::int64_t> const beyond_int(me == 1 ? 1u : 0u, (std::int64_t{1} << 32) + 1);
    wrong += said_by<error>([&] { discover(comm, beyond_int); }).find("4294967297") == std::string::npos;
    // Rank 0 gets from all and sends to none, so it says by the length of its output how long blocks are.
    std::vector<int> const to_0(me == 0 ? 0u : 1u, 0), from_all(me == 0 ? 3u : 0u), one(to_0.size());
    neighbours star = discover(comm, to_0);
    std::vector<int> all;
    auto const refused = said_by<error>([&] { all_to_all(star, one, all); });
    wrong += me == 0 && refused.find("a rank without targets takes the length of blocks from") == std::string::npos;
    all.resize(from_all.size());
    all_to_all(star, one, all);
    std::vector<int> const next{(me + 1) % 4}, before{(me + 3) % 4}, mine{me}, ones{1};
    neighbours const ring(comm, before, next);
    std::vector<int> out(1);
    wrong += said_by<argument_error>([&] { all_to_all_v(ring, mine, ones, out, std::vector<int>{1, 1}); })
                 .find("the list of counts of what comes has 2 elements, expected 1") == std::string::npos;
    all_to_all_v(ring, mine, ones, out, ones);
    wrong += out != before;
    auto const moved = std::move(star);   // is a copy
    all_to_all(star, one, all);
    wrong += moved.targets() != star.targets();
    wrong += said_by<argument_error>([&] { reduce(ring, out, out, std::plus<>{}); })
                 .find("input and output overlap: give it a range of its own") == std::string::npos;
    struct counting {
      int calls = 0;
      int operator()(int a, int b) { return ++calls, a + b; }
    } functor;
    reduce(discover(comm, std::vector{0, 1, 2, 3}), mine, out, functor);   // used where it is
    wrong += out[0] != 6 || functor.calls != 3;
  });
  CHECK(wrong == 0);
}

TEST_CASE("counts that differ at the ends of an edge") {
  std::atomic<int> refused = 0;
  CHECK_THROWS_AS(run_threads(2, [&](thread_communicator& comm) {
    std::vector<int> const other{1 - comm.rank()};
    neighbours const pair(comm, other, other);
    std::vector<int> const in(3);
    std::vector<int> out(comm.rank() == 1 ? 4 : 3);
    try {
      all_to_all_v(pair, in, std::vector{3}, out, std::vector{comm.rank() == 1 ? 4 : 3});
    } catch (mismatch_error const&) {
      ++refused;
      throw;
    }
  }), error);
  CHECK(refused >= 1);
}
