// SPDX-License-Identifier: BSL-1.0
#include <catch2/catch.hpp>

#include <colligo/core/functor.hpp>

#include <cmath>
#include <limits>
#include <string>

using namespace colligo;

namespace {
struct vec { double x, y; };
struct add { vec operator()(vec const& a, vec const& b) const { return {a.x + b.x, a.y + b.y}; } };
struct specialised : add {};
}  // namespace
template <>
inline constexpr bool colligo::commutative<specialised, vec> = true;

TEST_CASE("which functors are known to commute") {
  static_assert(commutative<std::plus<>, double> && commutative<std::plus<int>, int> &&
                commutative<std::multiplies<>, float>);
  static_assert(commutative<std::bit_xor<>, unsigned> && commutative<std::logical_and<>, bool>);
  static_assert(commutative<boost::mpi::maximum<int>, int> && commutative<boost::mpi::bitwise_or<long>, long>);
  static_assert(commutative<maximum, double> && commutative<minimum, int>);
  static_assert(commutative<std::plus<>, std::complex<double>>);
  static_assert(commutative<maxloc, located<double>> && commutative<minloc, located<int, short>>);
  static_assert(!commutative<std::plus<>, std::string> && !commutative<std::minus<>, int> && !commutative<add, vec>);
  static_assert(!commutative<boost::mpi::maximum<int>, std::string>);
  auto const lambda = [](int a, int b) { return a + b; };
  static_assert(!commutative<decltype(lambda), int>);
  static_assert(commutative<decltype(as_commutative(lambda)), int> &&
                commutative<decltype(as_commutative(add{})), vec>);
  static_assert(commutative<specialised, vec>);
  CHECK(as_commutative(lambda)(3, 4) == 7);
}

TEST_CASE("largest values need operator< alone") {
  struct version {
    int number;
    bool operator<(version const& other) const { return number < other.number; }
  };
  CHECK(maximum{}(version{1}, version{2}).number == 2);
  CHECK(maximum_or_nan{}(version{2}, version{1}).number == 2);
  CHECK(maxloc{}(located<version>{{1}, 0}, located<version>{{2}, 1}).index == 1);
}

TEST_CASE("maxloc and minloc: ties go to the lowest index, whatever the order") {
  located<double, int> const a{2, 7}, b{2, 3}, c{1, 0};
  CHECK(maxloc{}(a, b) == b);
  CHECK(maxloc{}(b, a) == b);
  CHECK(maxloc{}(a, c) == a);
  CHECK(minloc{}(a, b) == b);
  CHECK(minloc{}(a, c) == c);
  located<std::string> const x{"x", 1}, y{"y", 2};
  CHECK(maxloc{}(x, y) == y);
}

TEST_CASE("a NaN is taken only if there is nothing else") {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  located<double> const bad{nan, 0}, worse{nan, 5}, good{-1, 9};
  for (auto const& [l, r] : {std::pair{bad, good}, std::pair{good, bad}}) {
    CHECK(maxloc{}(l, r).index == 9);
    CHECK(minloc{}(l, r).index == 9);
  }
  CHECK(maxloc{}(worse, bad).index == 0);
  CHECK(minloc{}(bad, worse).index == 0);
  CHECK(maximum{}(nan, 1.0) == 1.0);
  CHECK(maximum{}(1.0, nan) == 1.0);
  CHECK(std::isnan(maximum_or_nan{}(nan, 1.0)));
  CHECK(std::isnan(maximum_or_nan{}(1.0, nan)));
  CHECK(std::isnan(minimum_or_nan{}(nan, -1.0)));
  CHECK(std::isnan(minimum_or_nan{}(-1.0, nan)));
  CHECK(maximum_or_nan{}(2.0, 1.0) == 2.0);
  CHECK(minimum_or_nan{}(2.0, 1.0) == 1.0);
  CHECK(maximum_or_nan{}(std::string("a"), std::string("b")) == "b");
  CHECK(minimum{}(nan, 1.0) == 1.0);
  CHECK(minimum{}(1.0, nan) == 1.0);
  CHECK(maximum{}(3, 4) == 4);
  CHECK(minimum{}(std::string("a"), std::string("b")) == "a");
}
