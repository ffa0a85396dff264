// SPDX-License-Identifier: BSL-1.0
// Every algorithm over threads. Words: T = string, Op = concatenation, every root of few ranks, some of more. Sums that
// are not associative, where a card says "same bits on all ranks".
#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <cstdint>

#include "../laws.hpp"
#include "../most_ranks.hpp"
#include "../thorough.hpp"
#include "../whole_family.hpp"

namespace {

// Magnitudes from 2^-40 to 2^40 and both signs: hardly any two orders of summation agree.
double awkward(int rank, std::size_t i) {
  auto const x = static_cast<double>((static_cast<std::size_t>(rank) * 7919 + i * 104729) % 1009) / 1009 + 1e-3;
  return (rank % 2 ? -1 : 1) * std::ldexp(x, (rank * 37 + static_cast<int>(i) * 11) % 81 - 40);
}

template <class Tag>
bool same_bits_on_all_ranks(int p, std::size_t n, Tag tag) {
  std::vector<std::vector<double>> results(static_cast<std::size_t>(p), std::vector<double>(n));
  colligo::run_threads(p, [&](colligo::thread_communicator& comm) {
    std::vector<double> in(n);
    for (std::size_t i = 0; i < n; ++i) in[i] = awkward(comm.rank(), i);
    colligo::all_reduce(comm, in, results[static_cast<std::size_t>(comm.rank())], std::plus<>{}, tag);
  });
  auto const bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  return std::ranges::all_of(results, [&](auto const& r) { return std::ranges::equal(r, results[0], {}, bits, bits); });
}

}  // namespace

TEST_CASE("every algorithm combines each rank's word exactly once, in order where it keeps order") {
  for (int const p : {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 17, 12, 16, 32, 33}) {
    if (p > COLLIGO_TEST_MOST_RANKS || (p == 12 && !tested::is_thorough())) break;
    REQUIRE_NOTHROW(colligo::run_threads(p, [](colligo::thread_communicator& comm) {
      for (std::size_t const n : {0u, 1u, 2u, 7u, 64u})
        tested::for_each_algorithm([&]<class Tag>(Tag tag) {
          if constexpr (laws::takes_words<Tag>) laws::words(comm, tag, n, 13);
        });
    }));
  }
}

TEST_CASE("every algorithm combines each rank's word exactly once, whatever the value of a knob") {
  for (int const p : {1, 2, 3, 5, 8, 13, 31}) {
    if (p > std::min(COLLIGO_TEST_MOST_RANKS, tested::at_most(8, 31))) break;
    REQUIRE_NOTHROW(colligo::run_threads(p, [](colligo::thread_communicator& comm) {
      tested::for_each_algorithm([&]<class Tag>(Tag tag) {
        constexpr bool any_order = std::is_same_v<Tag, colligo::along_trees>;   // one value gives the order up
        if constexpr (laws::takes_words<Tag> && !any_order && requires { Tag::knobs; })
          for (auto const& knob : Tag::knobs)
            for (std::size_t const value : {0u, 1u, 2u, 3u, 7u, 100u})
              for (std::size_t const n : {1u, 40u}) {
                Tag other = tag;
                other.*knob.member = value;
                laws::words(comm, other, n, 3);
              }
      });
    }));
  }
}

// Where arithmetic on a knob could overflow: the others are as they are, or as small as they can be.
TEST_CASE("every algorithm is right on bytes, however large a knob is") {
  std::vector<std::string> names;
  tested::for_each_algorithm([&]<class Tag>(Tag) {
    if constexpr (requires { Tag::knobs; })
      for (auto const& knob : Tag::knobs)
        for (char const* const value : {"0", "2147483648", "4294967297", "9223372036854775808", "18446744073709551615"})
          for (bool const small : {false, true}) {
            std::string name = std::string(Tag::name) + ":" + std::string(knob.name) + "=" + value;
            for (auto const& other : Tag::knobs)
              if (small && other.name != knob.name) name += "," + std::string(other.name) + "=1";
            if (!small || Tag::knobs.size() > 1) names.push_back(name);
          }
  });
  for (int const p : {3, 5, 1, 2}) {
    if (p == 1 && !tested::is_thorough()) break;
    if (p > COLLIGO_TEST_MOST_RANKS) continue;
    REQUIRE_NOTHROW(colligo::run_threads(p, [&](colligo::thread_communicator& comm) {
      for (std::string const& name : names)
        for (std::size_t const n : {1u, 6u, 40u})
          for (char const* const over : {"", "@shared_memory"})
            whole_family(comm, colligo::named(name + over), name + over, n);
    }));
  }
}

TEST_CASE("algorithms that promise the same bits on all ranks give them") {
  tested::for_each_text<colligo::collective::all_reduce>([]<class Tag>(Tag tag) {
    using policy = colligo::policy_t<colligo::collective::all_reduce, Tag, double, std::plus<>>;
    if constexpr (colligo::gives_same_bits<policy>())
      for (int p = 1; p <= std::min(17, COLLIGO_TEST_MOST_RANKS); p += p < 9 ? 1 : tested::at_most(8, 1))
        for (std::size_t const n : {1u, 5u, 64u}) {
          INFO(Tag::name << ", p = " << p << ", n = " << n);
          CHECK(same_bits_on_all_ranks(p, n, tag));
        }
  });
}

TEST_CASE("these sums tell orders apart: the rotating ring, which promises nothing, gives different bits") {
  CHECK_FALSE(same_bits_on_all_ranks(5, 64, colligo::rotating_ring{}));
}
