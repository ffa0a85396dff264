// SPDX-License-Identifier: BSL-1.0
/// @file
/// The elements and functors that are measured: numbers, MPI's value and index, a user's own struct of 40 bytes, and
/// matrices, whose product does not commute.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <colligo/core/functor.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace bench {

#ifdef COLLIGO_BENCH_SIMULATED
using sum = simulated::sum;
#else
using sum = std::plus<>;
#endif
using place = colligo::located<double, int>;

/// What is kept of observations: how many, their mean, the sum of squared distances from it, the extremes.
struct summary {
  std::int64_t count;
  double mean, squares, least, greatest;
};
static_assert(sizeof(summary) == 40);

/// The summary of two sets of observations (Chan, Golub and LeVeque). Written symmetrically, so
/// that it commutes bit for bit.
struct merge {
  summary operator()(summary const& a, summary const& b) const {
    auto const n_a = static_cast<double>(a.count), n_b = static_cast<double>(b.count);
    double const n = n_a + n_b, apart = a.mean - b.mean;
    return {a.count + b.count, (n_a * a.mean + n_b * b.mean) / n,
            a.squares + b.squares + apart * apart * (n_a * n_b / n), std::min(a.least, b.least),
            std::max(a.greatest, b.greatest)};
  }
};

/// 2 x 2, modulo 2^32: products are exact in any grouping.
struct matrix {
  std::uint32_t a, b, c, d;
  bool operator==(matrix const&) const = default;
};
struct product {
  matrix operator()(matrix const& x, matrix const& y) const {
    return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
  }
};

}  // namespace bench

template <>
inline constexpr bool colligo::commutative<bench::merge, bench::summary> = true;

namespace bench {

/// Element i of a rank's input in a round: numbers without pattern, so that branches are not learnt and every rounding
/// error occurs.
template <class T>
T input(std::uint64_t round, int rank, std::size_t i) {
  std::uint64_t bits = ((round << 16) + static_cast<std::uint64_t>(rank)) * 0xD1B54A32D192ED03 + i * 0x9E3779B97F4A7C15;
  bits ^= bits >> 32;
  bits *= 0xE9846AF9B1A615D;
  auto const unit = static_cast<double>(bits >> 11) * 0x1p-53;   // [0, 1)
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(0.5 + unit);
  else if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<int>(bits >> 48) - 32768);
  // Few values: ties occur.
  else if constexpr (std::is_same_v<T, place>) return {static_cast<double>(bits >> 60), rank};
  else if constexpr (std::is_same_v<T, matrix>)
    return {static_cast<std::uint32_t>(bits >> 32), static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(bits),
            1};
  else return {1 + static_cast<std::int64_t>(bits >> 60), unit, 16 + unit, unit - 1, unit + 1};
}

/// Whether two ways of combining the inputs of p ranks agree. Exact for whole numbers, extremes and places.
template <class Op, class T>
bool agree(T const& a, T const& b, int p) {
  auto const near = [p](auto x, auto y, int roundings) {
    using real = decltype(x);
    return std::abs(x - y) <=
           static_cast<real>(roundings) * static_cast<real>(p) * std::numeric_limits<real>::epsilon() * std::abs(x);
  };
  if constexpr (std::is_same_v<T, summary>) {
    // A merge rounds the mean four times and all terms are positive, so either order is off by 4 p epsilon/2 at most.
    // The squares are rounded as a sum is; besides, each distance of two means inherits their errors, 4 p epsilon
    // together, and as it is at most 1 the merges add at most twice that times the count, which squares are never
    // below. 24 is more than 2 (1 + 8), for two orders.
    return a.count == b.count && near(a.mean, b.mean, 8) && near(a.squares, b.squares, 24) && a.least == b.least &&
           a.greatest == b.greatest;
  } else if constexpr (std::is_floating_point_v<T> && std::is_same_v<Op, sum>) {
    // The inputs are positive: p - 1 additions in one order are off by (p - 1) epsilon/2 at most, relative to the sum,
    // and two orders by twice that from each other. One epsilon more covers the second order.
    return near(a, b, 1);
  } else {
    return a == b;
  }
}

template <class T>
std::string text_of(T const& value) {
  if constexpr (std::is_arithmetic_v<T>) return fmt::format("{}", value);
  else if constexpr (std::is_same_v<T, place>) return fmt::format("({}, {})", value.value, value.index);
  else if constexpr (std::is_same_v<T, matrix>)
    return fmt::format("({} {}, {} {})", value.a, value.b, value.c, value.d);
  else return fmt::format("({}, {}, {}, {}, {})", value.count, value.mean, value.squares, value.least, value.greatest);
}

}  // namespace bench
