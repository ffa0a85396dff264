// SPDX-License-Identifier: BSL-1.0
/// @file
/// Floating point numbers as integers: sign, fraction and exponent of binary types. Nothing here depends on modes of
/// the processor or options of the compiler.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "../core/mode.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// A binary floating point type of IEEE 754's form: bits of the fraction and of the exponent.
struct number_format {
  int fraction, exponent;

  /// The least positive number is 2^least(), and all numbers are multiples of it.
  constexpr int least() const { return 2 - (1 << (exponent - 1)) - fraction; }
  /// All finite numbers are below 2^top().
  constexpr int top() const { return 1 << (exponent - 1); }
  constexpr std::uint64_t infinite_bits() const { return ((std::uint64_t{1} << exponent) - 1) << fraction; }
  constexpr std::uint64_t nan_bits() const { return infinite_bits() | std::uint64_t{1} << (fraction - 1); }
  constexpr std::uint64_t sign() const { return std::uint64_t{1} << (fraction + exponent); }
};

template <class T>
inline constexpr number_format format_of{0, 0};
template <>
inline constexpr number_format format_of<float>{23, 8};
template <>
inline constexpr number_format format_of<double>{52, 11};
// clang 14 has it on few processors; g++ for ARM has it in C++ from 13 on, and before only the macro of C.
#if defined(__FLT16_MANT_DIG__) && (defined(__clang__) ? __clang_major__ >= 15 : defined(__SSE2__) || __GNUC__ >= 13)
#define COLLIGO_HAS_BINARY16 1
__extension__ typedef _Float16 binary16;
template <>
inline constexpr number_format format_of<binary16>{10, 5};
#endif
#if defined(__BFLT16_MANT_DIG__) && defined(__cplusplus) && __cplusplus > 202002L
__extension__ typedef __bf16 bfloat16;
template <>
inline constexpr number_format format_of<bfloat16>{7, 8};
#endif

template <class T>
concept binary_number = format_of<std::remove_cv_t<T>>.exponent != 0;

template <binary_number T>
using bits_of_number = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;

/// Sums of T take numbers of X: all of them are numbers of T, or they are integers.
template <class X, class T>
concept summand_of = std::same_as<X, T> || (std::integral<X> && sizeof(X) <= sizeof(std::int64_t)) ||
                     (binary_number<X> && format_of<X>.fraction <= format_of<T>.fraction &&
                      format_of<X>.exponent <= format_of<T>.exponent);

/// A sum's flags for NaN and infinities.
enum special : std::int64_t { nan_seen = 1, infinity_seen = 2, negative_infinity_seen = 4 };
constexpr std::int64_t opposite(std::int64_t special) {
  return (special & nan_seen) | (special & infinity_seen) << 1 | (special & negative_infinity_seen) >> 1;
}

/// A number as an integer: its value is mantissa * 2^(shift + least()); or its flag.
struct integer_form {
  std::int64_t mantissa;
  int shift;
  std::int64_t special;

  constexpr bool is_zero() const { return mantissa == 0 && special == 0; }
  constexpr integer_form operator-() const { return {-mantissa, shift, opposite(special)}; }
};

template <binary_number T>
constexpr integer_form integer_form_of(T x) {
  constexpr number_format format = format_of<T>;
  std::uint64_t const bits = std::bit_cast<bits_of_number<T>>(x);
  auto const exponent = static_cast<int>(bits >> format.fraction) & ((1 << format.exponent) - 1);
  auto mantissa = static_cast<std::int64_t>(bits & ((std::uint64_t{1} << format.fraction) - 1));
  bool const negative = (bits & format.sign()) != 0;
  if (exponent == (1 << format.exponent) - 1) [[unlikely]]
    return {0, 0, mantissa != 0 ? nan_seen : negative ? negative_infinity_seen : infinity_seen};
  mantissa |= static_cast<std::int64_t>(exponent != 0) << format.fraction;
  std::int64_t const minus = -static_cast<std::int64_t>(negative);
  return {(mantissa ^ minus) - minus, exponent - (exponent != 0), 0};
}

/// Calls f for numbers whose sum is x: for x itself, but an integer of more bits than a double's mantissa is two, so
/// that the lower one is 0 if x is a double.
template <binary_number T, summand_of<T> X, class F>
constexpr void for_each_part(X x, F f) {
  if constexpr (std::integral<X>) {
    int shift = -format_of<T>.least();
    if constexpr (constexpr int most = format_of<double>.fraction + 1; std::numeric_limits<X>::digits > most) {
      int const low = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(x < X{} ? ~x : x))) - most;
      if (low > 0) [[unlikely]] {
        f(integer_form{static_cast<std::int64_t>(x & ((X{1} << low) - 1)), shift, 0});
        x >>= low, shift += low;   // rounds down
      }
    }
    f(integer_form{static_cast<std::int64_t>(x), shift, 0});
  } else {
    f(integer_form_of(static_cast<T>(x)));
  }
}

/// value 2^-by, rounded to nearest, ties to even. Precondition: 0 < by, and `by` and the bits of `value` are at least
/// two fewer than those of Int.
template <class Int>
constexpr Int rounded_shift(Int value, int by) {
  return (value + (Int{1} << (by - 1)) - 1 + (value >> by & 1)) >> by;
}

/// The flag of a product with a factor that is NaN or infinite.
constexpr std::int64_t special_of_product(integer_form const& a, integer_form const& b) {
  if (((a.special | b.special) & nan_seen) != 0 || a.is_zero() || b.is_zero()) return nan_seen;
  bool const negative = (a.mantissa < 0 || (a.special & negative_infinity_seen) != 0) !=
                        (b.mantissa < 0 || (b.special & negative_infinity_seen) != 0);
  return negative ? negative_infinity_seen : infinity_seen;
}

}  // namespace colligo
