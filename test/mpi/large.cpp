// SPDX-License-Identifier: BSL-1.0
// Messages of more bytes than an int can count, between two ranks. Needs 16 GB of memory.
#define BOOST_TEST_NO_MAIN
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "over_mpi.hpp"

namespace {

constexpr std::size_t n = (std::size_t{1} << 31) + 1000;

using bytes = std::span<std::uint8_t>;

// Two vectors for all tests, as the library's scratch stays with the communicator: fresh memory
// is what takes the time here.
bytes input() {
  static auto const memory = std::make_unique_for_overwrite<std::uint8_t[]>(n);
  return {memory.get(), n};
}
bytes output() {
  static auto const memory = std::make_unique_for_overwrite<std::uint8_t[]>(n);
  return {memory.get(), n};
}

// Values repeat after a prime number of them, so that what stands a power of two elsewhere differs. Sums of two fit:
// MPI may combine bytes with saturation.
constexpr std::size_t period = 1000003;
std::uint8_t value(int rank, std::size_t i) {
  std::size_t const mixed = (i ^ i >> 7 ^ i >> 15) * 5 + 3;
  return static_cast<std::uint8_t>(mixed * (static_cast<std::size_t>(rank) + 1)) & 0x7f;
}
template <class Value>
std::vector<std::uint8_t> one_period(Value value_at) {
  std::vector<std::uint8_t> all(period);
  for (std::size_t i = 0; i < period; ++i) all[i] = value_at(i);
  return all;
}
// f(stretch, values that it has): in stretches of one period.
template <class F>
void for_each_period(bytes elements, std::vector<std::uint8_t> const& all, F f) {
  for (std::size_t at = 0; at < elements.size(); at += period) {
    bytes const part = elements.subspan(at, std::min(period, elements.size() - at));
    f(part, std::span(all).first(part.size()));
  }
}

bytes filled(bytes elements) {
  int const rank = boost::mpi::communicator().rank();
  for_each_period(elements, one_period([rank](std::size_t i) { return value(rank, i); }),
                  [](bytes part, auto values) { std::ranges::copy(values, part.begin()); });
  return elements;
}

/// The position of the first wrong sum, or the size.
std::size_t first_wrong(bytes sums) {
  std::size_t right = 0;
  bool wrong = false;
  auto const sum = [](std::size_t i) { return static_cast<std::uint8_t>(value(0, i) + value(1, i)); };
  for_each_period(sums, one_period(sum), [&](bytes part, auto values) {
    if (!wrong) right += static_cast<std::size_t>(std::ranges::mismatch(part, values).in1 - part.begin());
    wrong = wrong || !std::ranges::equal(part, values);
  });
  return right;
}

template <class Algorithm>
void all_reduces(Algorithm const& algorithm) {
  boost::mpi::communicator const world;
  BOOST_REQUIRE_EQUAL(world.size(), 2);
  bytes const values = filled(input());
  colligo::all_reduce(world, colligo::in_place(values), std::plus<std::uint8_t>{}, algorithm);
  BOOST_CHECK_EQUAL(first_wrong(values), n);
}

template <class Algorithm>
void reduces(Algorithm const& algorithm) {
  boost::mpi::communicator const world;
  BOOST_REQUIRE_EQUAL(world.size(), 2);
  int const root = 1;
  bytes const in = filled(input()), out = world.rank() == root ? output() : bytes();
  std::ranges::fill(out, std::uint8_t{0xff});
  colligo::reduce(world, in, out, std::plus<std::uint8_t>{}, root, algorithm);
  BOOST_CHECK_EQUAL(first_wrong(out), out.size());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(large)

BOOST_AUTO_TEST_CASE(all_reduce_exchanges_messages_of_more_than_2_31_bytes) {
  all_reduces(colligo::over_messages{colligo::recursive_doubling{}});
}

// The next two on request, by --run_test: a third of a minute each.
BOOST_AUTO_TEST_CASE(vendor_takes_more_than_2_31_elements, *boost::unit_test::disabled()) {
  all_reduces(colligo::vendor{});
}

BOOST_AUTO_TEST_CASE(reduce_sends_a_message_of_more_than_2_31_bytes, *boost::unit_test::disabled()) {
  reduces(colligo::over_messages{colligo::binary_tree{}});
}

// The ring's blocks are halves of the vector: more than the 2^30 bytes that go in one message.
BOOST_AUTO_TEST_CASE(reduce_receives_in_pieces_where_a_step_has_a_list_of_operands) {
  reduces(colligo::over_messages{colligo::ring{}});
}

BOOST_AUTO_TEST_SUITE_END()
