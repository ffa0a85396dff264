// SPDX-License-Identifier: BSL-1.0
// Calls that are put off and made as one, against the same calls made one by one.
#include <catch2/catch.hpp>

#include <cstdint>
#include <set>

#include <colligo/batch.hpp>
#include <colligo/exact_sum.hpp>
#include <colligo/trace.hpp>

#include <array>
#include <numeric>

#include "../laws.hpp"
#include "../most_ranks.hpp"

using namespace colligo;

namespace {

/// Characters one after the other, as many as there is room for: bytes that show the order.
struct text {
  std::array<char, 47> letters{};
  std::uint8_t size = 0;
  friend bool operator==(text const&, text const&) = default;
};
text operator+(text a, text const& b) {
  for (int i = 0; i < b.size; ++i) a.letters[a.size++] = b.letters[static_cast<std::size_t>(i)];
  return a;
}
text letter(int rank) { return {{static_cast<char>('!' + rank)}, 1}; }

auto const sums_and_maxima = [](std::size_t i, int a, int b) { return i % 2 == 0 ? a + b : std::max(a, b); };

/// Vectors of that many elements beside values: as one batch and one by one they give the same.
template <class Algorithm>
void expect_batch(thread_communicator& comm, std::size_t n, Algorithm const& algorithm) {
  int const p = comm.size(), me = comm.rank();
  std::vector<int> numbers(n), many(n);
  std::iota(numbers.begin(), numbers.end(), me * 7);
  std::vector<text> words(n / 50 + 1, letter(me)), all_words(words.size()), both = words;
  text everybody;
  for (int r = 0; r < p; ++r) everybody = everybody + letter(r);
  std::vector<int> expected_many(n);
  colligo::all_reduce(comm, numbers, expected_many, sums_and_maxima);
  auto const right = [&](auto const& sum, auto const& largest, auto const& word) {
    if (double(*sum) != 0.1 * p && p <= 2) throw std::runtime_error("the exact sum");
    if (*sum != colligo::all_reduce(comm, exact_sum<double>(0.1), std::plus<>{})) throw std::runtime_error("the sum");
    if (int const most = largest; most != p - 1) throw std::runtime_error("the maximum");
    if (*word != everybody || all_words != std::vector(words.size(), everybody) || both != all_words)
      throw std::runtime_error("words");
    if (many != expected_many) throw std::runtime_error("the vector");
    std::ranges::fill(many, -1), std::ranges::copy(words, both.begin());
  };
  auto const with = [&](auto const& run) {
    batch calls(comm);
    auto const sum = calls.all_reduce(exact_sum<double>(0.1), std::plus<>{});
    calls.all_reduce(numbers, many, sums_and_maxima);
    auto const word = calls.all_reduce(letter(me), std::plus<>{});
    calls.all_reduce(words, all_words, std::plus<>{});
    auto const largest = calls.all_reduce(me, maximum{});
    calls.all_reduce(in_place(both), std::plus<>{});
    run(calls, [&] { right(sum, largest, word); });
  };
  with([&](auto& calls, auto const& check) { calls.run(algorithm), check(); });
  with([&](auto& calls, auto const& check) { calls.irun(algorithm).wait(), check(); });
  with([&](auto& calls, auto const& check) {
    auto again = calls.run_init(algorithm);
    for (int i = 0; i < 3; ++i) again.start(), again.wait(), check();
  });
}

template <class Error = error, class F>
void expect_error(F f, std::string const& words) {
  try {
    f();
  } catch (Error const& e) {
    if (std::string(e.what()).find(words) != std::string::npos) return;
    throw;
  }
  throw std::runtime_error("nothing was thrown: " + words);
}

}  // namespace

TEST_CASE("a batch gives what its calls would, in the order of ranks, by every algorithm that keeps it") {
  for (int const p : {1, 2, 3, 4, 7, 8, 17})
    if (p <= COLLIGO_TEST_MOST_RANKS)
      REQUIRE_NOTHROW(run_threads(p, [](thread_communicator& comm) {
        for (std::size_t const n : {0u, 3u, 5000u}) {
          expect_batch(comm, n, automatic{});
          for (char const* const name : {"recursive_doubling", "chained_halving", "binary_tree", "shared_memory"})
            expect_batch(comm, n, named(name));
          expect_batch(comm, n, grouped_doubling{});
        }
      }));
}

TEST_CASE("a batch keeps a communicator that is a temporary") {
  run_threads(2, [](thread_communicator& comm) {
    batch calls(checked(comm));
    auto const count = calls.all_reduce(1, std::plus<>{});
    calls.run();
    if (*count != 2) throw std::runtime_error("the sum");
  });
}

TEST_CASE("a batch of functors that commute may be reordered, one with another functor not") {
  run_threads(3, [](thread_communicator& comm) {
    std::vector<double> x(1000, comm.rank()), y(x.size());
    {
      batch calls(comm);
      calls.all_reduce(x, y, std::plus<>{});
      auto const count = calls.all_reduce(1L, std::plus<>{});
      calls.run(named("ring"));
      if (*count != 3 || y != std::vector(1000, 3.0)) throw std::runtime_error("sums");
    }
    batch calls(comm);
    calls.all_reduce(x, y, std::plus<>{});
    calls.all_reduce(1.0, [](double a, double) { return a; });
    expect_error<algorithm_error>([&] { calls.run(named("ring")); }, "reorders operands");
  });
}

TEST_CASE("a batch is one call, of as many bytes; long ones are cut") {
  for (std::size_t const n : {3u, 30000u}) {
    std::vector<trace_log> logs;
    logs.reserve(4);
    for (int r = 0; r < 4; ++r) logs.emplace_back(r, 1000);
    run_threads(4, [&](thread_communicator& comm) {
      std::vector<float> x(n, 1.0f), y(n);
      std::vector<int> i(n, 1), j(n);
      {
        tracing const here(comm, logs[static_cast<std::size_t>(comm.rank())]);
        batch calls(comm);
        calls.all_reduce(x, y, std::plus<>{});
        calls.all_reduce(i, j, maximum{});
        calls.all_reduce(1, std::plus<>{});
        calls.run(named("halving_doubling"));
      }
      colligo::barrier(comm);
    });
    std::size_t calls = 0, bytes = 0;
    for (trace_event const& e : logs[0].events())
      if (e.what == trace_event::kind::call) ++calls;
      else if (e.what == trace_event::kind::send) bytes += e.bytes;
    CHECK(calls == 1);
    std::size_t const all = 8 * n + 4;
    if (n > 100) CHECK((bytes >= all / 2 * 3 - 16 && bytes <= all / 2 * 3 + 16));
    CHECK(bytes <= 2 * all);
  }
}

TEST_CASE("checked mode sees what is in a batch") {
  run_threads(3, [](thread_communicator& comm) {
    auto const differs = [&](auto add, std::string_view one, std::string_view other) {
      auto const calls_of_all = checked(comm);
      batch calls(calls_of_all);
      add(calls, comm.rank() == 1);
      try {
        calls.run();
      } catch (mismatch_error const& e) {
        std::string_view const said = e.what();
        if (said.find(one) == said.npos || said.find(other) == said.npos) throw std::runtime_error(e.what());
        return;
      }
      throw std::runtime_error("no mismatch");
    };
    differs([](auto& calls, bool odd) {
      if (odd) static_cast<void>(calls.all_reduce(1.0f, std::plus<>{}));
      else static_cast<void>(calls.all_reduce(1, std::plus<>{}));
    }, "1 int std::plus<", "1 float std::plus<");
    differs([](auto& calls, bool odd) {
      if (odd) static_cast<void>(calls.all_reduce(1.0, std::plus<>{}));
      else static_cast<void>(calls.all_reduce(1.0, std::multiplies<>{}));
    }, "std::plus<", "std::multiplies<");
  });
}

TEST_CASE("batches of many lengths make few elements, and short ones are as long as they are") {
  std::set<std::size_t> long_ones;
  for (std::size_t n = 0; n < 100'000; ++n) {
    std::size_t const size = detail::rounded_size(n);
    if (n <= 1024 ? size != n : size < n || size > n + n / 8) FAIL(n << ": " << size);
    if (n > 1024) long_ones.insert(size);
  }
  CHECK(long_ones.size() < 60);
  CHECK(detail::rounded_size(SIZE_MAX) == SIZE_MAX);
}

TEST_CASE("a batch that is used wrongly says so") {
  run_threads(2, [](thread_communicator& comm) {
    batch calls(comm);
    auto const sum = calls.all_reduce(1, std::plus<>{});
    expect_error([&] { static_cast<void>(*sum); }, "before the batch has been run");
    calls.run();
    if (*sum != 2) throw std::runtime_error("sum");
    expect_error([&] { calls.run(); }, "run twice");
    expect_error([&] { calls.irun().wait(); }, "run twice");
    expect_error([&] { calls.all_reduce(2, std::plus<>{}); }, "make another batch");
    std::vector<int> const three(3);
    std::vector<int> two(2);
    batch others(comm);
    if (comm.rank() == 0)   // no call of the other rank's
      expect_error<argument_error>([&] { others.all_reduce(three, two, std::plus<>{}); }, "the output");
    for (int i = 0; i < 3; ++i)
      if (all_reduce(comm, i, std::plus<>{}) != 2 * i) throw std::runtime_error("a call after one that was not added");
  });
}
