// SPDX-License-Identifier: BSL-1.0
// Ranks as threads: arguments, errors, state, and what happens when ranks disagree.
#include <catch2/catch.hpp>

#include <colligo/bytes.hpp>
#include <colligo/engine/communicator_state.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <thread>

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
  }, Contains("input and output overlap") && !Contains("in_place"));
  check([](auto& c, vec&, vec& out) { colligo::all_reduce(c, out, out, std::plus<>{}); },
        Contains("input and output overlap; for one range that is both write in_place(range)"));
  constexpr double* nowhere = nullptr;
  check([](auto& c, vec& in, vec&) { colligo::all_reduce(c, in.data(), 3, nowhere, std::plus<>{}); },
        Contains("the output is a null pointer, expected 3 elements"));
  check([](auto& c, vec&, vec&) {
    colligo::scan(c, std::span<double const>(nowhere, 2), std::span(nowhere, 2), maximum{});
  }, Contains("the input is a null pointer, expected 2 elements"));
  check([](auto& c, vec&, vec&) { colligo::broadcast(c, nowhere, 1, 0, binary_tree{}); }, Contains("null pointer"));
  check([](auto& c, vec& in, vec&) {
    byte_calls(c).all_gather(in.data(), nullptr, 1, registered_element::of<double>());
  }, Contains("all_gather") && Contains("the output is a null pointer, expected 3 elements"));
  check([](auto& c, vec& in, vec& out) { colligo::reduce(c, in, out, std::plus<>{}, 3); }, Contains("root 3"));
  check([](auto& c, vec&, vec& out) { colligo::all_gather(c, in_place(out)); },
        Contains("4 elements, expected a multiple of 3, the number of ranks"));
  check([](auto& c, vec& in, vec& out) { colligo::all_to_all(c, in, out); },
        Contains("the input has 4 elements, expected a multiple of 3"));
  check([](auto& c, vec& in, vec& out) {
    colligo::reduce_scatter_block(c, in, std::span(out).first(1), std::plus<>{});
  }, Contains("the input has 4 elements, expected 3, 1 for each of 3 ranks"));
  check([](auto& c, vec& in, vec& out) { colligo::all_gatherv(c, in, out, std::vector{2, 2, 2}); },
        Contains("the input has 4 elements, expected 2, which is counts["));
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

namespace {
// As if this communicator had made so many calls: what it forgets meanwhile it forgets where numbers are multiples.
void go_on(thread_communicator& comm, std::uint32_t calls) {
  auto& made = detail::state_at(state_of<thread_communicator>::open(comm)).calls;
  constexpr std::uint32_t period = detail::abandoned_calls::remembered;
  for (std::uint32_t k = 1; k <= 4; ++k) {
    std::uint32_t const next = (made / period + 1) * period;
    if (calls - made < next - made) break;
    made = next - 5;
    for (int i = 0; i < 10; ++i) colligo::barrier(comm);   // of the latest 8 there are reports
  }
  made = calls - 10;
  for (int i = 0; i < 10; ++i) colligo::barrier(comm);
}
}  // namespace

TEST_CASE("a call is not taken for the one of its number that was refused 2^32 calls ago") {
  CHECK_NOTHROW(run_threads(2, [](thread_communicator& comm) {
    std::vector<int> in(3, 1), out(3);
    for (int i = 0; i < 20; ++i) colligo::barrier(comm);
    try {
      colligo::all_reduce(comm, in, std::span(out).first(comm.rank() == 1 ? 2 : 3), std::plus<>{});
    } catch (error const&) {
    }
    auto& state = state_of<thread_communicator>::open(comm);
    std::uint32_t const refused = detail::calls_of({state, collective::barrier, false});
    for (int i = 0; i < 5; ++i) colligo::barrier(comm);
    go_on(comm, refused - 2);
    for (int i = 0; i < 4; ++i) {
      if (comm.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));   // the others look for it
      colligo::all_reduce(comm, in, out, std::plus<>{}, over_shared_memory{recursive_doubling{}});
    }
  }));
}

TEST_CASE("ranks that make different calls are told after 2^31 calls too") {
  CHECK_THAT(message_of(2, [](thread_communicator& comm) {
               go_on(comm, (1u << 31) + 5);
               int mine = comm.rank();
               colligo::broadcast(comm, mine, comm.rank(), over_shared_memory{binary_tree{}});   // roots alone
               for (int i = 0; i < 3; ++i) colligo::all_reduce(comm, 1.0, std::plus<>{}, recursive_doubling{});
             }), Contains("ranks make different calls"));
}

namespace {
// Of which -1 is one that can not be read.
struct counts_that_throw {
  struct iterator {
    using value_type = int;
    using difference_type = std::ptrdiff_t;
    int const* at = nullptr;
    int operator*() const { return *at < 0 ? throw std::out_of_range("a count") : *at; }
    iterator& operator++() { return ++at, *this; }
    iterator operator++(int) { return {at++}; }
    friend bool operator==(iterator const&, iterator const&) = default;
  };
  std::array<int, 2> all;
  iterator begin() const { return {all.data()}; }
  iterator end() const { return {all.data() + all.size()}; }
  std::size_t size() const { return all.size(); }
};
}  // namespace

TEST_CASE("counts that throw when they are read: the other ranks are told, and the next call is right") {
  auto const run = [](auto const& comm) {
    std::vector<int> const in(2, comm.rank()), counts{2, 2};
    std::vector<int> out(4);
    colligo::all_gatherv(comm, in, out, counts);
    bool threw = false;
    try {
      colligo::all_gatherv(comm, std::span(in).first(1), std::span(out).first(2),
                           counts_that_throw{{1, comm.rank() == 1 ? -1 : 1}});
    } catch (std::out_of_range const&) {
      threw = comm.rank() == 1;
    } catch (failed_elsewhere const&) {
      threw = comm.rank() == 0;
    } catch (mismatch_error const&) {   // in checked mode
      threw = comm.rank() == 0;
    }
    colligo::all_gatherv(comm, in, out, counts);
    if (!threw || out != std::vector{0, 0, 1, 1}) throw std::runtime_error("out of step");
  };
  run_threads(2, [&](thread_communicator& comm) { run(comm), run(checked(comm)); });
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
