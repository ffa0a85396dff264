// SPDX-License-Identifier: BSL-1.0
/// @file
/// Natural numbers of any size, for quotients and square roots of exact sums before they are rounded.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../core/small_vector.hpp"
#include "fixed_point.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

class natural {
 public:
  natural() = default;
  explicit natural(std::uint64_t value);

  bool is_zero() const { return digits_.empty(); }
  /// The value is below 2^bits().
  std::size_t bits() const;
  void shift_left(std::size_t bits);
  /// Returns whether bits were lost.
  bool shift_right(std::size_t bits);
  natural& operator+=(natural const& other) { return add(other, 1); }
  /// Precondition: not larger.
  natural& operator-=(natural const& other) { return add(other, -1); }
  friend natural operator*(natural const& a, natural const& b);
  /// Returns whether there was a remainder. Precondition: by is not zero.
  bool divide(std::uint64_t by);
  std::uint64_t low() const;   ///< the lowest 64 bits

 private:
  void trim();
  natural& add(natural const& other, std::int64_t sign);

  small_vector<std::uint32_t> digits_;   // the lowest first, the last one not 0
};

/// The integer of a row of words, in units of 2^unit.
struct integer {
  natural size;
  bool negative = false;
};
natural natural_of(std::int64_t const* canonical_words, int n);   // not negative
template <int Unit, int Top>
integer integer_of(fixed_point<Unit, Top> number) {
  number.canonicalise();
  bool const negative = last_word::digit(number.words().back()) < 0;
  if (negative) number.negate(), number.canonicalise();
  return {natural_of(number.words().data(), number.digits), negative};
}

/// The double nearest to number 2^exponent or, if `more`, to a number slightly larger than that.
double nearest_double(natural number, int exponent, bool more);
/// number 2^exponent / by, rounded once. Precondition: by > 0.
double quotient(integer const& number, int exponent, std::uint64_t by);
/// The square root of number 2^exponent, rounded once.
double square_root(natural number, int exponent);
/// (n squares - sum^2) / (n d), where squares count 2^(2 exponent) and the sum 2^exponent. Precondition: n, d > 0.
double variance_of(natural const& squares, natural const& sum, int exponent, std::uint64_t n, std::uint64_t d);

}  // namespace colligo

#if COLLIGO_HAS_REST
#include "natural_body.hpp"
#endif
