// SPDX-License-Identifier: BSL-1.0
// Elements that Boost.Serialization writes: through the same algorithms, in order or, by a functor that commutes, not.
#include <boost/serialization/map.hpp>
#include <boost/serialization/string.hpp>

#include <map>

#include "conformance.hpp"

namespace {

using boost::mpi::communicator;

struct concatenation {
  std::string operator()(std::string const& a, std::string const& b) const { return a + b; }
};

struct concatenation_of_strings {
  using element = std::string;
  using functor = concatenation;
  static std::string value(int rank, std::size_t i) { return std::string(1 + i % 3, static_cast<char>('a' + rank)); }
  static auto expected(communicator const& comm, std::vector<element> const& in) {
    return over_mpi::in_rank_order(comm, in, functor{});
  }
};

// The first comes first, so this commutes as little as concatenation does.
struct first_wins {
  std::map<int, int> operator()(std::map<int, int> const& a, std::map<int, int> const& b) const {
    auto both = a;
    both.insert(b.begin(), b.end());
    return both;
  }
};

struct merge_of_maps {
  using element = std::map<int, int>;
  using functor = first_wins;
  static element value(int rank, std::size_t i) {
    int const key = static_cast<int>(i % 5);
    return {{key, rank}, {key + rank % 3 + 1, rank}};
  }
  static auto expected(communicator const& comm, std::vector<element> const& in) {
    return over_mpi::in_rank_order(comm, in, functor{});
  }
};

struct longer_sum {
  std::vector<double> operator()(std::vector<double> const& a, std::vector<double> const& b) const {
    auto sum = a.size() < b.size() ? b : a;
    auto const& shorter = a.size() < b.size() ? a : b;
    for (std::size_t i = 0; i < shorter.size(); ++i) sum[i] += shorter[i];
    return sum;
  }
};

// Vectors of different lengths, some of none.
struct sum_of_vectors {
  using element = std::vector<double>;
  using functor = colligo::commutative_functor<longer_sum>;
  static element value(int rank, std::size_t i) {
    return element((static_cast<std::size_t>(rank) + i) % 4, rank + 1.0);
  }
  static auto expected(communicator const& comm, std::vector<element> const& in) {
    return over_mpi::in_rank_order(comm, in, functor{});
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(objects)

BOOST_AUTO_TEST_CASE(strings_concatenate_in_order_or_are_refused) { conformance::conforms<concatenation_of_strings>(); }
BOOST_AUTO_TEST_CASE(maps_merge_in_order_or_are_refused) { conformance::conforms<merge_of_maps>(); }
BOOST_AUTO_TEST_CASE(vectors_of_different_lengths_add_up) { conformance::conforms<sum_of_vectors>(); }

BOOST_AUTO_TEST_SUITE_END()
