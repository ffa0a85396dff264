// SPDX-License-Identifier: BSL-1.0
// Where an algorithm says "same bits on all ranks", sums that are not associative show it.
#define BOOST_TEST_NO_MAIN
#include <boost/test/unit_test.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>

#include "over_mpi.hpp"

namespace {

// Magnitudes from 2^-40 to 2^40 and both signs: hardly any two orders of summation agree.
double awkward(int rank, std::size_t i) {
  auto const mixed = (static_cast<std::uint64_t>(rank + 1) * 0x9e3779b97f4a7c15u) ^ ((i + 1) * 0xbf58476d1ce4e5b9u);
  auto const hash = (mixed ^ mixed >> 31) * 0x94d049bb133111ebu;
  double const fraction = 1 + static_cast<double>(hash >> 12) * 0x1p-52;
  return (hash & 1 ? -1 : 1) * std::ldexp(fraction, static_cast<int>(hash % 81) - 40);
}

template <class Tag>
bool same_bits_on_all_ranks(Tag tag, std::size_t n, bool in_place) {
  boost::mpi::communicator const world;
  std::vector<double> in(n), out(n);
  for (std::size_t i = 0; i < n; ++i) in[i] = awkward(world.rank(), i);
  if (in_place) colligo::all_reduce(world, colligo::in_place(out = in), std::plus<>{}, tag);
  else colligo::all_reduce(world, in, out, std::plus<>{}, tag);
  std::vector<std::uint64_t> bits(n);
  for (std::size_t i = 0; i < n; ++i) bits[i] = std::bit_cast<std::uint64_t>(out[i]);
  auto const all = over_mpi::gathered(world, bits);
  for (auto const& rank : all)
    if (rank != all[0]) return false;
  return true;
}

}  // namespace

BOOST_AUTO_TEST_CASE(algorithms_that_promise_the_same_bits_on_all_ranks_give_them) {
  over_mpi::for_each_that_takes<colligo::collective::all_reduce, double, std::plus<>>([]<class Tag>(Tag tag) {
    using policy = colligo::policy_t<colligo::collective::all_reduce, Tag, double, std::plus<>>;
    if constexpr (colligo::gives_same_bits<policy>())
      for (std::size_t const n : {1u, 2u, 7u, 64u, 1000u})
        for (bool const in_place : {false, true})
          BOOST_CHECK_MESSAGE(same_bits_on_all_ranks(tag, n, in_place),
                              Tag::name << ", n = " << n << (in_place ? ", in place" : ""));
  });
}

BOOST_AUTO_TEST_CASE(these_sums_tell_orders_apart_the_rotating_ring_which_promises_nothing_gives_different_bits) {
  if (boost::mpi::communicator().size() >= 3)
    BOOST_CHECK(!same_bits_on_all_ranks(colligo::rotating_ring{}, 1000, false));
  else BOOST_CHECK(same_bits_on_all_ranks(colligo::rotating_ring{}, 1000, false));   // a sum of two commutes
}
