// SPDX-License-Identifier: BSL-1.0
// Structs that travel as bytes: with padding, with an index, and a product that does not commute.
#include <cstdint>

#include <colligo/binned_sum.hpp>
#include <colligo/exact_sum.hpp>

#include "conformance.hpp"

namespace {

using boost::mpi::communicator;

std::size_t mixed(int rank, std::size_t i) { return static_cast<std::size_t>(rank) * 7919 + i * 104729 + 13; }

struct padded {
  char letter;
  double weight;
  short count;
  friend bool operator==(padded const&, padded const&) = default;
};

struct merge {
  padded operator()(padded const& a, padded const& b) const {
    return {std::max(a.letter, b.letter), a.weight + b.weight, static_cast<short>(a.count + b.count)};
  }
};

}  // namespace

template <>
inline constexpr bool colligo::commutative<merge, padded> = true;

namespace {

struct merge_of_padded {
  using element = padded;
  using functor = merge;
  static padded value(int rank, std::size_t i) {
    auto const x = mixed(rank, i);
    return {static_cast<char>('a' + x % 26), static_cast<double>(x % 1000), static_cast<short>(x % 100)};
  }
  static auto expected(communicator const& comm, std::vector<padded> const& in) {
    return over_mpi::in_rank_order(comm, in, merge{});
  }
};

// Few values, so that there are ties; indices that do not grow with the rank.
struct maxloc_of_double {
  using element = colligo::located<double, int>;
  using functor = colligo::maxloc;
  static element value(int rank, std::size_t i) {
    return {static_cast<double>(mixed(rank, i) % 5), static_cast<int>(mixed(rank, i + 3) % 1009)};
  }
  static auto expected(communicator const& comm, std::vector<element> const& in) {
    return over_mpi::by_mpi(comm, in, MPI_DOUBLE_INT, MPI_MAXLOC);
  }
};

// MPI has no pair with an index of 64 bits.
struct minloc_of_float {
  using element = colligo::located<float>;
  using functor = colligo::minloc;
  static element value(int rank, std::size_t i) {
    return {static_cast<float>(mixed(rank, i) % 5),
            std::int64_t{1} << 40 | static_cast<std::int64_t>(mixed(rank, i + 3) % 1009)};
  }
  static auto expected(communicator const& comm, std::vector<element> const& in) {
    return over_mpi::in_rank_order(comm, in, functor{});
  }
};

struct matrix {
  std::uint32_t a, b, c, d;
  friend bool operator==(matrix const&, matrix const&) = default;
};

struct product {
  static constexpr std::uint32_t prime = 65521;
  static std::uint32_t dot(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) {
    return static_cast<std::uint32_t>((a * b + c * d) % prime);
  }
  matrix operator()(matrix const& x, matrix const& y) const {
    return {dot(x.a, y.a, x.b, y.c), dot(x.a, y.b, x.b, y.d), dot(x.c, y.a, x.d, y.c), dot(x.c, y.b, x.d, y.d)};
  }
};

struct product_of_matrices {
  using element = matrix;
  using functor = product;
  static matrix value(int rank, std::size_t i) {
    auto const entry = [&](std::size_t j) {
      return static_cast<std::uint32_t>(mixed(rank, 4 * i + j) % product::prime);
    };
    return {entry(0), entry(1), entry(2), entry(3)};
  }
  static auto expected(communicator const& comm, std::vector<matrix> const& in) {
    return over_mpi::in_rank_order(comm, in, product{});
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(structs)

BOOST_AUTO_TEST_CASE(structs_with_padding_merge_as_they_do_one_by_one) { conformance::conforms<merge_of_padded>(); }
BOOST_AUTO_TEST_CASE(maxloc_of_double_and_int_is_that_of_mpi) { conformance::conforms<maxloc_of_double>(); }
BOOST_AUTO_TEST_CASE(minloc_with_a_long_index_is_that_of_one_by_one) { conformance::conforms<minloc_of_float>(); }

BOOST_AUTO_TEST_CASE(these_matrices_do_not_commute) {
  auto const a = product_of_matrices::value(0, 0), b = product_of_matrices::value(1, 0);
  BOOST_CHECK(!(product{}(a, b) == product{}(b, a)));
}
BOOST_AUTO_TEST_CASE(products_of_matrices_keep_their_order_or_are_refused) {
  conformance::conforms<product_of_matrices>();
}

BOOST_AUTO_TEST_CASE(exact_and_binned_sums_are_those_of_one_rank_by_any_algorithm_over_any_transport) {
  communicator const world;
  auto const number = [](int rank, std::size_t i) {
    return (i % 2 == 0 ? 1.1 : -1.3) * std::ldexp(static_cast<double>(mixed(rank, i)), static_cast<int>(i) - 25);
  };
  colligo::exact_sum<double> exact, all_exact;
  colligo::binned_sum<double, 2> binned, all_binned;
  for (int rank = 0; rank < world.size(); ++rank)
    for (std::size_t i = 0; i < 50; ++i) {
      all_exact += number(rank, i), all_binned += number(rank, i);
      if (rank == world.rank()) exact += number(rank, i), binned += number(rank, i);
    }
  int made = 0;
  tested::for_each_algorithm([&]<class Tag>(Tag) {
    if constexpr (over_mpi::takes<colligo::collective::all_reduce, Tag, double, std::plus<>>())
      for (char const* const over : {"@messages", "@shared_memory"}) {
        if (!tested::is_made_of_steps<Tag>) continue;
        ++tested::count, ++made;
        colligo::named const by(std::string(Tag::name) + over);
        conformance::check(colligo::all_reduce(world, exact, std::plus<>{}, by) == all_exact &&
                               colligo::all_reduce(world, binned, std::plus<>{}, by) == all_binned,
                           std::string(by.text()));
      }
  });
  BOOST_CHECK(made >= 2 || tested::the_only_one());
}

BOOST_AUTO_TEST_SUITE_END()
