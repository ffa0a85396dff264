// SPDX-License-Identifier: BSL-1.0
// Words over threads, with two knobs and by default: T = string, Op = concatenation (algorithm/combined.cpp: every
// algorithm, and every knob).
#include <catch2/catch.hpp>

#include <atomic>

#include "laws.hpp"
#include "most_ranks.hpp"

TEST_CASE("padded blocks: all in few messages, of longer ones the rest straight, each rank's words in their places") {
  for (int p = 1; p <= std::min(17, COLLIGO_TEST_MOST_RANKS); ++p)
    REQUIRE_NOTHROW(colligo::run_threads(p, [p](colligo::thread_communicator& comm) {
      for (std::size_t const radix : {2u, 3u, 32u})
        for (std::size_t const longest : {1u, 2u, 5u})
          laws::words(comm, colligo::padded_bruck{.radix = radix, .longest = longest}, 5, p);
    }));
}

TEST_CASE("automatic and named algorithms keep words in order") {
  for (int const p : {1, 2, 3, 4, 6, 7, 8, 13})
    REQUIRE_NOTHROW(colligo::run_threads(p, [p](colligo::thread_communicator& comm) {
      for (std::size_t const n : {1u, 30u, 500u, 1500u}) {
        auto const in = laws::words_of(comm.rank(), n);
        std::vector<std::string> out(n);
        colligo::all_reduce(comm, in, out, laws::concatenation{});
        laws::expect_words(out, p, true, "automatic all_reduce");
        colligo::all_reduce(comm, in, out, laws::concatenation{}, colligo::named("binary_blocks"));
        laws::expect_words(out, p, true, "all_reduce named binary_blocks");
        for (int const root : {0, p - 1}) {
          std::vector<std::string> at_root(comm.rank() == root ? n : 0);
          colligo::reduce(comm, in, at_root, laws::concatenation{}, root);
          laws::expect_words(at_root, p, true, "automatic reduce");
        }
      }
    }));
}

TEST_CASE("a checker of words that are lost, doubled, swapped or out of place sees it") {
  using laws::word;
  auto const check = [](std::string const& s, bool in_order) { laws::expect_words({s}, 3, in_order, "test"); };
  std::string const a = word(0, 0), b = word(1, 0), c = word(2, 0);
  CHECK_NOTHROW(check(a + b + c, true));
  CHECK_NOTHROW(check(c + a + b, false));
  CHECK_THROWS(check(c + a + b, true));
  CHECK_THROWS(check(a + b, false));
  CHECK_THROWS(check(a + b + b + c, false));
  CHECK_THROWS(check(a + b + word(2, 1), false));
}

TEST_CASE("nobody leaves a barrier before all have come") {
  for (int p = 1; p <= COLLIGO_TEST_MOST_RANKS; p += p < 9 ? 1 : 8) {
    std::atomic<int> come = 0;
    REQUIRE_NOTHROW(colligo::run_threads(p, [&](colligo::thread_communicator& comm) {
      int round = 0;
      auto const meet = [&](auto const&... by) {
        ++come;
        colligo::barrier(comm, by...);
        if (come < ++round * p) throw std::runtime_error("rank " + std::to_string(comm.rank()) + " left too early");
      };
      for (int i = 0; i < 3; ++i) meet(), meet(colligo::dissemination{}), meet(colligo::leaders_by_level{});
    }));
  }
}

TEST_CASE("the whole family by default, and all_gatherv that finds the counts itself") {
  for (int const p : {1, 2, 5, 8})
    REQUIRE_NOTHROW(colligo::run_threads(p, [p](colligo::thread_communicator& comm) {
      int const me = comm.rank();
      auto const n = static_cast<std::size_t>(me * me % 5);
      auto const all = colligo::all_gatherv(comm, laws::words_of(me, n));
      std::vector<std::size_t> counts;
      for (int r = 0; r < p; ++r) counts.push_back(static_cast<std::size_t>(r * r % 5));
      laws::expect(all.counts == counts && all.data == laws::words_of_all(counts), "all_gatherv that finds the counts",
                   p, n);
      laws::expect(colligo::scan(comm, std::string(1, 'x'), std::plus<>{}).size() == static_cast<std::size_t>(me + 1),
                   "scan", p, 1);
      std::vector<int> const one{me};
      std::vector<int> everything(static_cast<std::size_t>(p)), back(1), before(1);
      colligo::gather(comm, one, everything, p - 1);
      colligo::scatter(comm, everything, back, p - 1);
      laws::expect(back == one, "gather and scatter", p, 1);
      colligo::exclusive_scan(comm, one, before, 1000, std::plus<>{});
      laws::expect(before[0] == 1000 + me * (me - 1) / 2, "exclusive_scan with an init", p, 1);
    }));
}
