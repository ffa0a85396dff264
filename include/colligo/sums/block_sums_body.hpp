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

#include "block_sums.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Two numbers that are worked on at once, on every processor that has 128 bits for them.
using two_doubles = double __attribute__((vector_size(16)));
using two_words = std::int64_t __attribute__((vector_size(16)));
/// Compilers inline a lambda that is called several times only if told to.
#define COLLIGO_INLINED __attribute__((always_inline))
inline constexpr std::size_t lanes = 4;   // of two numbers; each has its own sum: additions do not wait for others

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
[[gnu::always_inline]] inline two_doubles size_of(two_doubles x) {
  return std::bit_cast<two_doubles>(std::bit_cast<two_words>(x) &
                                    (two_words{} + std::numeric_limits<std::int64_t>::max()));
}

/// Calls f(0), f(1) ...: at -O2 compilers do not unroll such short loops.
template <std::size_t N, class F>
[[gnu::always_inline]] inline void unrolled(F f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) COLLIGO_INLINED { (f(I), ...); }(std::make_index_sequence<N>{});
}
/// Calls f(lane, two numbers of each range) for all n numbers of the ranges; zeros fill up the last lanes.
template <std::size_t Lanes, class F, class... T>
[[gnu::always_inline]] inline void for_each_pair(std::size_t n, F f, T const*... x) {
  auto const add_lanes = [&](auto const*... from) COLLIGO_INLINED {
    unrolled<Lanes>([&](std::size_t lane) COLLIGO_INLINED { f(lane, two_at(from + 2 * lane)...); });
  };
  std::size_t i = 0;
  for (; i + 2 * Lanes <= n; i += 2 * Lanes) add_lanes((x + i)...);
  if (i == n) return;
  auto const rest = [&](auto const* from) {
    std::array<std::remove_cvref_t<decltype(*from)>, 2 * Lanes> filled_up{};
    std::copy(from + i, from + n, filled_up.begin());
    return filled_up;
  };
  add_lanes(rest(x).data()...);
}

/// The exponent e such that all numbers are below 2^e.
template <class T>
int exponent_above(std::size_t n, T const* x) {
  std::array<two_doubles, lanes> most{};
  for_each_pair<lanes>(n, [&](std::size_t lane, two_doubles v) COLLIGO_INLINED {
    two_doubles const size = size_of(v);
    most[lane] = size > most[lane] ? size : most[lane];   // ignores a NaN: sums show it
  }, x);
  double all = 0;
  for (two_doubles const& two : most) all = std::max({all, two[0], two[1]});
  return all == 0 ? 0 : static_cast<int>(std::bit_cast<std::uint64_t>(all) >> 52) - 1022;
}

/// Sums of numbers below 2^exponent, each cut into a part for each level. They are exact if nothing is left of a number
/// below the last level.
template <std::size_t Levels, std::size_t Lanes>
struct sums_in_levels {
  // A lane sums up block_length / (2 Lanes) numbers: with two bits to spare a level's sums stay in one binade, so that
  // its numbers are multiples of 2^-52 of that.
  static constexpr int room = std::bit_width(block_length / (2 * Lanes) - 1) + 2;
  std::array<double, Levels> start;
  std::array<int, Levels> exponents;
  std::array<std::array<two_doubles, Lanes>, Levels> sums;

  [[gnu::always_inline]] explicit sums_in_levels(int exponent) {
    unrolled<Levels>([&](std::size_t level) COLLIGO_INLINED {
      start[level] = std::ldexp(1.5, exponent + room);
      exponents[level] = exponent + room - 52;
      exponent = exponents[level] - 1;   // what is left is at most half of this unit
      unrolled<Lanes>([&](std::size_t lane) COLLIGO_INLINED { sums[level][lane] = two_doubles{} + start[level]; });
    });
  }
  /// Adds two numbers. Returns the bits of what is left of them.
  [[gnu::always_inline]] two_words left_of(two_doubles v, std::size_t lane) {
    unrolled<Levels>([&](std::size_t level) COLLIGO_INLINED {
      two_doubles const sum = sums[level][lane] + v;
      v -= sum - sums[level][lane];
      sums[level][lane] = sum;
    });
    return std::bit_cast<two_words>(v);
  }
  [[gnu::always_inline]] void give(block_sum& sum) const {
    unrolled<Levels>([&](std::size_t level) COLLIGO_INLINED {
      auto const from = std::bit_cast<std::int64_t>(start[level]);
      auto const at = static_cast<std::size_t>(sum.count++);
      sum.exponents[at] = exponents[level];
      sum.multiples[at] = 0;
      unrolled<Lanes>([&](std::size_t lane) COLLIGO_INLINED {
        two_words const two = std::bit_cast<two_words>(sums[level][lane]) - from;
        sum.multiples[at] += two[0] + two[1];
      });
    });
  }
};
/// Only zeros, of any sign.
inline bool all_zeros(two_words any) { return static_cast<std::uint64_t>(any[0] | any[1]) << 1 == 0; }

template <std::size_t Levels, class T>
block_sum sum_in_levels(std::size_t n, T const* x) {
  int const exponent = exponent_above(n, x);
  if (exponent < -900 || exponent > 1000) return {};   // a constant would be beyond the range of double
  sums_in_levels<Levels, lanes> sums(exponent);
  std::array<two_words, lanes> left{};
  // The next block is asked for while this one is summed up: its first pass alone would wait for memory.
  T const* next = x + n;
  auto const add = [&](std::size_t lane, two_doubles v) COLLIGO_INLINED {
    if (lane == 0) __builtin_prefetch(std::exchange(next, next + 2 * lanes));
    left[lane] |= sums.left_of(v, lane);
  };
  for_each_pair<lanes>(n, add, x);
  block_sum sum;
  if (!all_zeros(left[0] | left[1] | left[2] | left[3])) return sum;   // also if there is a NaN
  sum.count = 0;
  sums.give(sum);
  return sum;
}

/// x y - product, exactly, if nothing underflows: by a fused multiplication, or else in halves.
template <bool Fused>
[[gnu::always_inline]] inline two_doubles error_of(two_doubles x, two_doubles y, two_doubles product) {
  if constexpr (Fused)
    return two_doubles{__builtin_fma(x[0], y[0], -product[0]), __builtin_fma(x[1], y[1], -product[1])};
  constexpr double half = 0x1.0000002p27;
  two_doubles const turn_x = x * half, turn_y = y * half, high_x = turn_x - (turn_x - x), low_x = x - high_x,
                    high_y = turn_y - (turn_y - y), low_y = y - high_y;
  return low_x * low_y - (((product - high_x * high_y) - low_x * high_y) - high_x * low_y);
}
/// A product is 0 although neither factor is.
template <class T>
bool any_product_underflows(std::size_t n, T const* a, T const* b) {
  for (std::size_t i = 0; i < n; ++i)
    if (static_cast<double>(a[i]) * b[i] == 0 && a[i] != 0 && b[i] != 0) return true;
  return false;
}

template <std::size_t Levels, bool Fused, class T>
[[gnu::always_inline]] inline block_sum products_in_levels(std::size_t n, T const* a, T const* b) {
  constexpr std::size_t lanes_of_products = 2;
  int const of_a = exponent_above(n, a), of_b = exponent_above(n, b), exponent = of_a + of_b;
  // Halves do not overflow, and what is left of a product does not underflow that has a bit within the levels.
  if (of_a > 990 || of_b > 990 || exponent < -600 || exponent > 990) return {};
  sums_in_levels<Levels, lanes_of_products> products(exponent), errors(exponent - 53);
  two_words left{}, zeros{};
  T const* next_a = a + n;
  T const* next_b = b + n;
  for_each_pair<lanes_of_products>(n, [&](std::size_t lane, two_doubles x, two_doubles y) COLLIGO_INLINED {
    if (lane == 0) {
      __builtin_prefetch(std::exchange(next_a, next_a + 2 * lanes_of_products));
      __builtin_prefetch(std::exchange(next_b, next_b + 2 * lanes_of_products));
    }
    two_doubles const product = x * y;
    left |= products.left_of(product, lane);
    if constexpr (sizeof(T) == sizeof(double)) {
      left |= errors.left_of(error_of<Fused>(x, y, product), lane);
      zeros |= product == 0;
    }
  }, a, b);
  block_sum sum;
  if (!all_zeros(left) || ((zeros[0] | zeros[1]) != 0 && any_product_underflows(n, a, b))) return sum;
  sum.count = 0;
  products.give(sum);
  if constexpr (sizeof(T) == sizeof(double)) errors.give(sum);
  return sum;
}

template <class T>
block_sum sum_of_block(std::size_t n, int levels, T const* x) {
  return levels == 2 ? sum_in_levels<2>(n, x) : sum_in_levels<3>(n, x);
}
#if defined(__x86_64__) && !defined(__FMA__)
// The processor may have them though the program is compiled for processors without.
inline bool has_fused_products() { return __builtin_cpu_supports("fma") != 0; }
#define COLLIGO_WITH_FUSED [[gnu::target("fma")]]
#else
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
constexpr bool has_fused_products() { return true; }
#else
constexpr bool has_fused_products() { return false; }
#endif
#define COLLIGO_WITH_FUSED
#endif
template <class T>
COLLIGO_WITH_FUSED block_sum fused_products(std::size_t n, int levels, T const* a, T const* b) {
  return levels == 2 ? products_in_levels<2, true>(n, a, b) : products_in_levels<3, true>(n, a, b);
}
template <class T>
block_sum sum_of_block(std::size_t n, int levels, T const* a, T const* b) {
  if constexpr (sizeof(T) == sizeof(double))
    if (has_fused_products()) return fused_products(n, levels, a, b);
  return levels == 2 ? products_in_levels<2, false>(n, a, b) : products_in_levels<3, false>(n, a, b);
}

template <class T>
void sums_by_exponent<T>::add(std::size_t n, T const* x) {
  constexpr number_format format = format_of<T>;
  constexpr std::uint64_t fraction = (std::uint64_t{1} << format.fraction) - 1;
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t const bits = std::bit_cast<bits_of_number<T>>(x[i]);
    auto const place = static_cast<std::size_t>(bits >> format.fraction);
    of[place].sum += bits & fraction;
    if (++added[place] == most_added) [[unlikely]] carry(place);
  }
  // NaN and infinities have the last exponent.
  for (std::size_t const place : {of.size() / 2 - 1, of.size() - 1}) {
    auto const [low, high] = std::exchange(of[place], {});
    if (std::exchange(added[place], std::uint16_t{0}) == 0 && low == 0 && high == 0) [[likely]] continue;
    for (std::size_t i = 0; i < n; ++i) special |= integer_form_of(x[i]).special;
  }
}

template <class T>
void products_by_exponent<T>::add(std::size_t n, T const* a, T const* b) {
  constexpr number_format format = format_of<T>;
  constexpr std::uint64_t first_bit = std::uint64_t{1} << format.fraction,
                          last_exponent = (std::uint64_t{1} << format.exponent) - 1;
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t const x = std::bit_cast<bits_of_number<T>>(a[i]), y = std::bit_cast<bits_of_number<T>>(b[i]),
                        of_x = (x >> format.fraction & last_exponent) - 1,
                        of_y = (y >> format.fraction & last_exponent) - 1;
    // Marked unlikely: working out for every number whether it has a first bit takes longer.
    if (of_x >= last_exponent - 1 || of_y >= last_exponent - 1) [[unlikely]] {
      add_rare(integer_form_of(a[i]), integer_form_of(b[i]));
      continue;
    }
    auto const left = static_cast<std::int64_t>((x & (first_bit - 1)) | first_bit),
               right = static_cast<std::int64_t>((y & (first_bit - 1)) | first_bit),
               minus = -static_cast<std::int64_t>(((x ^ y) & format.sign()) != 0);
    of[of_x + of_y] += static_cast<wide>((left ^ minus) - minus) * right;
  }
}
template <class T>
void products_by_exponent<T>::add_rare(integer_form const& x, integer_form const& y) {
  if ((x.special | y.special) != 0) special |= special_of_product(x, y);
  of[static_cast<std::size_t>(x.shift + y.shift)] += static_cast<wide>(x.mantissa) * y.mantissa;
}

// Whether the compiler has left (c + x) - c as it is written. g++ says so; clang++ with -fassociative-math does not.
[[gnu::noinline]] inline bool keeps_grouping() {
  static bool const keeps = [] {
    std::array<double, 64> x;
    double volatile const large = 0x1p42, small = 0x1.999999999999ap-4;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 ? small : large + static_cast<double>(i);
    __extension__ using wide = __int128;
    constexpr int unit = 64;   // the sum is a multiple of 2^-64
    std::int64_t const whole = 32 * (std::int64_t{1} << 42) + 32 * 31, tenth = 0x1999999999999a;
    wide const expected = (static_cast<wide>(whole) << unit) + (static_cast<wide>(32 * tenth) << (unit - 56));
    block_sum const sum = sum_of_block(x.size(), most_levels, x.data());
    wide all = 0;
    for (std::size_t i = 0; static_cast<int>(i) < sum.count; ++i) {
      int const by = sum.exponents[i] + unit;
      wide const multiple = sum.multiples[i];
      if (by < 0 && (multiple & ((wide{1} << std::min(-by, 120)) - 1)) != 0) return false;
      all += by < 0 ? multiple >> std::min(-by, 120) : multiple << by;
    }
    return all == expected;
  }();
  return keeps;
}
COLLIGO_BODY bool arithmetic_is_plain() {
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || !defined(FLT_EVAL_METHOD) || FLT_EVAL_METHOD != 0
  return false;
#elif defined(__SSE2__)
  constexpr unsigned daz = 0x40, rounding = 0x6000, ftz = 0x8000;
  return (__builtin_ia32_stmxcsr() & (daz | rounding | ftz)) == 0 && keeps_grouping();
#else
  double volatile const least = std::numeric_limits<double>::denorm_min(), normal = std::numeric_limits<double>::min();
  return std::fegetround() == FE_TONEAREST && least != 0 && normal / 2 != 0 && keeps_grouping();
#endif
}

}  // namespace colligo
