// SPDX-License-Identifier: BSL-1.0
// Words over threads: T = string, Op = concatenation, every algorithm, every root. Sanitizers run it with fewer ranks.
#include <catch2/catch.hpp>

#include "laws.hpp"

#ifndef COLLIGO_TEST_MOST_RANKS
#define COLLIGO_TEST_MOST_RANKS 33
#endif

TEST_CASE("every algorithm combines each rank's word exactly once, in order where it keeps order") {
  for (int p = 1; p <= COLLIGO_TEST_MOST_RANKS; ++p)
    REQUIRE_NOTHROW(colligo::run_threads(p, [](colligo::thread_communicator& comm) {
      for (std::size_t const n : {0u, 1u, 2u, 7u, 64u})
        colligo::for_each_algorithm([&]<class Tag>(Tag tag) {
          if constexpr (laws::has_text<Tag>) laws::words(comm, tag, n, COLLIGO_TEST_MOST_RANKS);
        });
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
