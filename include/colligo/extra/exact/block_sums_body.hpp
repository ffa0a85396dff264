// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of block_sums.hpp.
#pragma once

#include <bit>
#include <cfenv>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "block_sums.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

COLLIGO_BODY bool arithmetic_is_plain() {
#if defined(__FAST_MATH__) || !defined(FLT_EVAL_METHOD) || FLT_EVAL_METHOD != 0
  return false;
#elif defined(__SSE2__)
  constexpr unsigned daz = 0x40, rounding = 0x6000, ftz = 0x8000;
  return (__builtin_ia32_stmxcsr() & (daz | rounding | ftz)) == 0;
#else
  double volatile const least = std::numeric_limits<double>::denorm_min(), normal = std::numeric_limits<double>::min();
  return std::fegetround() == FE_TONEAREST && least != 0 && normal / 2 != 0;
#endif
}

/// Two numbers that are worked on at once, on every processor that has 128 bits for them.
using two_doubles = double __attribute__((vector_size(16)));
using two_words = std::int64_t __attribute__((vector_size(16)));
inline constexpr std::size_t lanes = 4;   // of two: additions one behind the other do not wait for each other

template <class T>
[[gnu::always_inline]] inline two_doubles two_at(T const* x) {
  if constexpr (sizeof(T) == sizeof(double)) {
    two_doubles both;
    std::memcpy(&both, x, sizeof both);
    return both;
  } else {
    return two_doubles{static_cast<double>(x[0]), static_cast<double>(x[1])};
  }
}

/// f(0), f(1) ... in a row: loops that are as short compilers leave as they are at -O2.
template <std::size_t N, class F>
[[gnu::always_inline]] inline void unrolled(F f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) { (f(I), ...); }(std::make_index_sequence<N>{});
}
/// f(pair of numbers, lane) for all of them; numbers that are missing in the end are zeros.
template <class T, class F>
[[gnu::always_inline]] inline void for_each_pair(T const* x, std::size_t n, F f) {
  auto const eight = [&](T const* from) {
    unrolled<lanes>([&](std::size_t lane) { f(two_at(from + 2 * lane), lane); });
  };
  std::size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) eight(x + i);
  if (i == n) return;
  std::array<T, 2 * lanes> rest{};
  std::copy(x + i, x + n, rest.begin());
  eight(rest.data());
}

template <class T>
double largest_of_block(T const* x, std::size_t n) {
  two_words const magnitude = two_words{} + std::numeric_limits<std::int64_t>::max();
  std::array<two_doubles, lanes> most{};
  for_each_pair(x, n, [&](two_doubles v, std::size_t lane) {
    auto const size = std::bit_cast<two_doubles>(std::bit_cast<two_words>(v) & magnitude);
    most[lane] = size > most[lane] ? size : most[lane];   // of a NaN, nothing: sums show it
  });
  double all = 0;
  for (two_doubles const& two : most) all = std::max({all, two[0], two[1]});
  return all;
}

/// In so many levels. What is left of a number has to be nothing.
template <int Levels, class T>
block_sum sum_in_levels(T const* x, std::size_t n, int exponent) {
  // |x| < 2^exponent, and a lane sums up fewer than 2^9 of them: with two bits to spare a level's sums stay in one
  // binade, so that its numbers are multiples of 2^-52 of that.
  constexpr int room = 10;
  static_assert(block_length <= (std::size_t{2} * lanes) << (room - 2));
  block_sum its;
  std::array<double, Levels> start{};
  for (int level = 0, of_level = exponent; level < Levels; ++level) {
    auto const at = static_cast<std::size_t>(level);
    start[at] = std::ldexp(1.5, of_level + room);
    its.exponents[at] = of_level + room - 52;
    of_level = its.exponents[at] - 1;   // what is left is at most half of that
  }
  std::array<std::array<two_doubles, lanes>, Levels> sums;
  for (std::size_t level = 0; level < Levels; ++level) sums[level].fill(two_doubles{} + start[level]);
  std::array<two_words, lanes> left{};
  for_each_pair(x, n, [&](two_doubles v, std::size_t lane) {
    unrolled<Levels>([&](std::size_t level) {
      two_doubles const sum = sums[level][lane] + v;
      v -= sum - sums[level][lane];
      sums[level][lane] = sum;
    });
    left[lane] |= std::bit_cast<two_words>(v);
  });
  std::int64_t any = 0;
  for (two_words const& two : left) any |= two[0] | two[1];
  if (static_cast<std::uint64_t>(any) << 1 != 0) return its;   // as there is of a NaN
  for (std::size_t level = 0; level < Levels; ++level) {
    auto const from = std::bit_cast<std::int64_t>(start[level]);
    its.multiples[level] = 0;
    for (two_doubles const& two : sums[level])
      its.multiples[level] += std::bit_cast<std::int64_t>(static_cast<double>(two[0])) - from +
                              std::bit_cast<std::int64_t>(static_cast<double>(two[1])) - from;
  }
  its.count = Levels;
  return its;
}

template <class T>
block_sum sum_of_any_block(T const* x, std::size_t n, int levels) {
  double const largest = largest_of_block(x, n);
  if (largest == 0) return sum_in_levels<2>(x, n, 0);
  int const exponent = static_cast<int>(std::bit_cast<std::uint64_t>(largest) >> 52) - 1022;
  if (exponent < -900 || exponent > 1000) return {};   // a level would be below all numbers, or above
  return levels == 2 ? sum_in_levels<2>(x, n, exponent) : sum_in_levels<3>(x, n, exponent);
}
COLLIGO_BODY block_sum sum_of_block(double const* x, std::size_t n, int levels) {
  return sum_of_any_block(x, n, levels);
}
COLLIGO_BODY block_sum sum_of_block(float const* x, std::size_t n, int levels) {
  return sum_of_any_block(x, n, levels);
}

// By fused multiplications where the processor has them, or else in halves (T. J. Dekker, A floating-point technique
// for extending the available precision, Numer. Math. 18, 1971).
COLLIGO_BODY bool products_of_block(double const* a, double const* b, std::size_t n, double* products, double* errors) {
  constexpr double most = 0x1p990, least = 0x1p-960;   // halves do not overflow, nor errors underflow
  two_words const magnitude = two_words{} + std::numeric_limits<std::int64_t>::max();
  two_words fits = two_words{} - 1;
  auto const multiply = [&](double const* left, double const* right, std::size_t i) {
    two_doubles const x = two_at(left), y = two_at(right), product = x * y;
#if defined(__FMA__)
    two_doubles const error{__builtin_fma(x[0], y[0], -product[0]), __builtin_fma(x[1], y[1], -product[1])};
#else
    constexpr double half = 0x1.0000002p27;
    two_doubles const turn_x = x * half, turn_y = y * half, high_x = turn_x - (turn_x - x), low_x = x - high_x,
                      high_y = turn_y - (turn_y - y), low_y = y - high_y;
    two_doubles const error = low_x * low_y - (((product - high_x * high_y) - low_x * high_y) - high_x * low_y);
#endif
    auto const size = [&](two_doubles v) {
      return std::bit_cast<two_doubles>(std::bit_cast<two_words>(v) & magnitude);
    };
    // Of a NaN nothing holds.
    fits &= ((size(product) >= least) | (x == 0) | (y == 0)) & (size(product) <= most) & (size(x) <= most) &
            (size(y) <= most);
    std::memcpy(products + i, &product, sizeof product);
    std::memcpy(errors + i, &error, sizeof error);
  };
  std::size_t i = 0;
  for (; i + 2 <= n; i += 2) multiply(a + i, b + i, i);
  if (i < n) {
    std::array<double, 2> const x{a[i], 0}, y{b[i], 0};
    multiply(x.data(), y.data(), i);
  }
  return fits[0] != 0 && fits[1] != 0;
}

template <class T>
void add_by_exponent(sums_by_exponent& sums, T const* x, std::size_t n) {
  // A float is a double, whose mantissa ends in zeros.
  for (std::size_t i = 0; i < n; ++i) {
    integer_form its;
    if constexpr (sizeof(T) == sizeof(double)) {
      its = integer_form_of(x[i]);
    } else {
      its = integer_form_of(x[i]);
      its.shift += format_of<float>.least() - format_of<double>.least();
    }
    auto& sum = sums.of[static_cast<std::size_t>(its.shift)];
    sum.low += its.mantissa & ((std::int64_t{1} << sums_by_exponent::low_bits) - 1);
    sum.high += its.mantissa >> sums_by_exponent::low_bits;
    sums.special |= its.special;
  }
}
COLLIGO_BODY void sums_by_exponent::add(double const* x, std::size_t n) { add_by_exponent(*this, x, n); }
COLLIGO_BODY void sums_by_exponent::add(float const* x, std::size_t n) { add_by_exponent(*this, x, n); }

}  // namespace colligo
