// SPDX-License-Identifier: BSL-1.0
// Ranks as threads: arguments, errors, state, and what happens when ranks disagree.
#include <catch2/catch.hpp>

#include <atomic>
#include <cstdlib>
#include <numeric>

#include "../laws.hpp"

using namespace colligo;
using Catch::Matchers::Contains;

TEST_CASE("one value, a vector, in place") {
  run_threads(5, [](thread_communicator& comm) {
    int const me = comm.rank();
    std::vector<int> const in{me, 2 * me, 1};
    std::vector<int> out(3), both = in;
    std::array<int, 3> at_root{};
    colligo::all_reduce(comm, in, out, std::plus<>{});
    colligo::all_reduce(comm, in_place(both), std::plus<>{});
    colligo::reduce(comm, in, at_root, std::plus<>{}, 2);
    bool const right = out == std::vector{10, 20, 5} && both == out && colligo::all_reduce(comm, me, maximum{}) == 4 &&
                       (me != 2 || at_root == std::array{10, 20, 5}) &&
                       (me != 3 || colligo::reduce(comm, 1, std::plus<>{}, 3) == 5);
    if (me != 3) colligo::reduce(comm, 1, std::plus<>{}, 3);
    if (!right) throw std::runtime_error("rank " + std::to_string(me) + " is wrong");
  });
}

TEST_CASE("what all ranks of a stage read, not all ranks of the communicator do") {
  run_threads(6, [](thread_communicator& comm) {
    std::vector<int> const hosts{0, 0, 7, 1, 1, 7};
    std::vector<int> in(17, comm.rank()), out(17);
    auto const sums = [&](auto const& tag) {
      for (int k = 0; k < 20; ++k) {
        colligo::all_reduce(comm, in, out, std::plus<>{}, tag);
        if (out != std::vector<int>(17, 15)) throw std::runtime_error("a sum is wrong");
      }
    };
    sums(over_shared_memory{hierarchical<binary_tree, direct>{.hosts = hosts}});
    sums(over_shared_memory{multi_leader<direct, direct>{.hosts = hosts}});
  });
}

TEST_CASE("functors keep their state, call by call and rank by rank") {
  std::atomic<int> calls = 0;
  run_threads(4, [&](thread_communicator& comm) {
    for (int const offset : {1, 100}) {
      auto const op = [&calls, offset](int a, int b) { ++calls; return a + b + offset; };
      if (colligo::all_reduce(comm, 0, op, binary_tree{}) != 3 * offset) throw std::runtime_error("state is lost");
    }
  });
  CHECK(calls == 6);
}

namespace {
// Runs f as p ranks and returns what the first failing rank said.
template <class F>
std::string message_of(int p, F f) {
  try {
    run_threads(p, f);
  } catch (error const& e) {
    return e.what();
  }
  return "nothing was thrown";
}
}  // namespace

TEST_CASE("bad input: an exception that says what, on every rank, and nothing is written") {
  std::atomic<int> thrown = 0, written = 0;
  auto const expect = [&](auto f) {
    return [&, f](thread_communicator& comm) {
      std::vector<double> in(4, 1), out(4, -7);
      try {
        f(comm, in, out);
      } catch (error const&) {
        ++thrown;
        written += std::ranges::count(out, -7) != 4;
        throw;
      }
    };
  };
  auto const check = [&](auto f, auto matcher) {
    thrown = 0;
    CHECK_THAT(message_of(3, expect(f)), Contains("on rank ") && matcher);
    CHECK(thrown == 3);
  };
  using vec = std::vector<double>;
  check([](auto& c, vec& in, vec& out) { colligo::all_reduce(c, in, std::span(out).first(3), std::plus<>{}); },
        Contains("all_reduce") && Contains("3 elements, expected 4"));
  check([](auto& c, vec&, vec& out) {
    colligo::all_reduce(c, std::span(out).first(3), std::span(out).last(3), std::plus<>{});
  }, Contains("overlap") && Contains("in_place"));
  check([](auto& c, vec& in, vec& out) { colligo::reduce(c, in, out, std::plus<>{}, 3); }, Contains("root 3"));
  check([](auto& c, vec& in, vec& out) { colligo::reduce(c, in, out, std::plus<>{}, -1); }, Contains("root -1"));
  check([](auto& c, vec& in, vec& out) { colligo::all_reduce(c, in, out, std::plus<>{}, named("rings")); },
        Contains("\"rings\"") && Contains("binary_tree, ") && Contains(", ring,"));
  check([](auto& c, vec& in, vec& out) { colligo::reduce(c, in, out, std::plus<>{}, 0, named("recursive_doubling")); },
        Contains("known are binary_tree, halving"));
  check([](auto& c, vec& in, vec& out) { colligo::all_reduce(c, in, out, std::plus<>{}, named("ring:block=3")); },
        Contains("ring has no knob \"block\""));
  check([](auto& c, vec& in, vec& out) {
    colligo::all_reduce(c, in, out, [](double a, double b) { return a + b; }, named("ring"));
  }, Contains("reorders operands") && Contains("as_commutative"));
  check([](auto& c, vec& in, vec& out) { colligo::all_reduce(c, in, out, std::plus<>{}, named("vendor")); },
        Contains("vendor"));
  CHECK(written == 0);
  CHECK_THROWS_AS(run_threads(0, [](thread_communicator&) {}), argument_error);
  CHECK_THROWS_AS(named(std::string(121, 'x')), algorithm_error);
}

TEST_CASE("ranks that make different calls are told, not left waiting") {
  CHECK_THAT(message_of(2, [](thread_communicator& comm) {
               if (comm.rank() == 0) colligo::all_reduce(comm, 1, std::plus<>{});
             }), Contains("has left"));
  CHECK_THAT(message_of(2, [](thread_communicator& comm) {
               std::vector<int> v(comm.rank() == 0 ? 2u : 3u);
               colligo::all_reduce(comm, in_place(v), std::plus<>{}, recursive_doubling{});
             }), Contains("ranks make different calls"));
}

TEST_CASE("the first exception of a rank ends the others where they wait") {
  CHECK_THROWS_AS(run_threads(4, [](thread_communicator& comm) {
                    if (comm.rank() == 2) throw std::out_of_range("rank 2 gives up");
                    colligo::all_reduce(comm, 1, std::plus<>{}, binary_tree{});
                  }), std::out_of_range);
}

TEST_CASE("the environment overrides automatic, and nothing else") {
  ::setenv("COLLIGO_ALL_REDUCE", "rings", 1);
  ::setenv("COLLIGO_STRICT", "yes", 1);
  CHECK_THAT(message_of(2, [](thread_communicator& comm) { colligo::all_reduce(comm, 1, std::plus<>{}); }),
             Contains("COLLIGO_ALL_REDUCE=rings can not be used"));
  CHECK_NOTHROW(run_threads(2, [](thread_communicator& comm) { colligo::all_reduce(comm, 1, std::plus<>{}, ring{}); }));
  CHECK_NOTHROW(
      run_threads(2, [](thread_communicator& comm) { colligo::all_reduce(comm, 1, std::plus<>{}, named("ring")); }));
  CHECK_NOTHROW(run_threads(2, [](thread_communicator& comm) { colligo::reduce(comm, 1, std::plus<>{}, 0); }));
  ::setenv("COLLIGO_ALL_REDUCE", "rotating_ring", 1);
  // Rank 1 meets 0 and 2 before itself: only the rotating ring gives "acb" there.
  run_threads(3, [](thread_communicator& comm) {
    auto const op = as_commutative([](std::string const& a, std::string const& b) { return a + b; });
    auto const got = colligo::all_reduce(comm, std::string(1, static_cast<char>('a' + comm.rank())), op);
    std::string const pinned =
        colligo::all_reduce(comm, std::string(1, static_cast<char>('a' + comm.rank())), op, rotating_ring{});
    if (got != pinned || (comm.rank() == 1 && got != "acb"))
      throw std::runtime_error("rotating_ring did not run: " + got);
  });
  ::unsetenv("COLLIGO_ALL_REDUCE");
  ::unsetenv("COLLIGO_STRICT");
}

TEST_CASE("in and out may be empty, p may be 1") {
  run_threads(1, [](thread_communicator& comm) {
    std::vector<int> const in{1, 2};
    std::vector<int> out(2), none;
    colligo::all_reduce(comm, in, out, std::plus<>{}, rotating_ring{});
    if (out != in) throw std::runtime_error("p = 1");
    colligo::reduce(comm, none, none, std::plus<>{}, 0, ring{});
  });
}
