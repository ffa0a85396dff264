// SPDX-License-Identifier: BSL-1.0
// Numbers, against MPI's own operations.
#include <boost/mpi/operations.hpp>

#include <complex>
#include <cstdint>
#include <functional>

#include "conformance.hpp"

namespace {

using boost::mpi::communicator;

int small(int rank, std::size_t i) { return (rank * 7919 + static_cast<int>(i) * 104729 + 13) % 101 - 50; }

struct sum_of_int {
  using element = int;
  using functor = std::plus<>;
  static int value(int rank, std::size_t i) { return small(rank, i); }
  static auto expected(communicator const& comm, std::vector<int> const& in) {
    return over_mpi::by_mpi(comm, in, MPI_INT, MPI_SUM);
  }
};

struct minimum_of_int {
  using element = int;
  using functor = boost::mpi::minimum<int>;
  static int value(int rank, std::size_t i) { return small(rank, i); }
  static auto expected(communicator const& comm, std::vector<int> const& in) {
    return over_mpi::by_mpi(comm, in, MPI_INT, MPI_MIN);
  }
};

// Modulo 256, as the functor says; there are MPI libraries whose MPI_SUM of bytes saturates.
struct sum_of_bytes {
  using element = std::uint8_t;
  using functor = std::plus<element>;
  static element value(int rank, std::size_t i) { return static_cast<element>(small(rank, i) * 5); }
  static auto expected(communicator const& comm, std::vector<element> const& in) {
    return over_mpi::in_rank_order(comm, in, functor{});
  }
};

// Whole numbers: their sums are exact in every order.
struct sum_of_double {
  using element = double;
  using functor = std::plus<double>;
  static double value(int rank, std::size_t i) { return small(rank, i); }
  static auto expected(communicator const& comm, std::vector<double> const& in) {
    return over_mpi::by_mpi(comm, in, MPI_DOUBLE, MPI_SUM);
  }
};

struct maximum_of_double {
  using element = double;
  using functor = colligo::maximum;
  static double value(int rank, std::size_t i) { return small(rank, i) / 8.0; }
  static auto expected(communicator const& comm, std::vector<double> const& in) {
    return over_mpi::by_mpi(comm, in, MPI_DOUBLE, MPI_MAX);
  }
};

// Gaussian integers of small norm: exact too.
struct product_of_complex {
  using element = std::complex<double>;
  using functor = std::multiplies<>;
  static element value(int rank, std::size_t i) { return element(small(rank, i) % 3, small(rank, i + 1) % 2); }
  static auto expected(communicator const& comm, std::vector<element> const& in) {
    return over_mpi::by_mpi(comm, in, MPI_C_DOUBLE_COMPLEX, MPI_PROD);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(numbers)

BOOST_AUTO_TEST_CASE(sums_of_int_are_those_of_mpi) { conformance::conforms<sum_of_int>(); }
BOOST_AUTO_TEST_CASE(sums_of_bytes_wrap_around_as_the_functor_does) { conformance::conforms<sum_of_bytes>(); }
BOOST_AUTO_TEST_CASE(minima_of_int_by_the_functor_of_boost_are_those_of_mpi) {
  conformance::conforms<minimum_of_int>();
}
BOOST_AUTO_TEST_CASE(sums_of_double_are_those_of_mpi) { conformance::conforms<sum_of_double>(); }
BOOST_AUTO_TEST_CASE(maxima_of_double_are_those_of_mpi) { conformance::conforms<maximum_of_double>(); }
BOOST_AUTO_TEST_CASE(products_of_complex_numbers_are_those_of_mpi) { conformance::conforms<product_of_complex>(); }

BOOST_AUTO_TEST_SUITE_END()
