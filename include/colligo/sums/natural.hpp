// SPDX-License-Identifier: BSL-1.0
/// @file
/// Natural numbers of any size, for quotients and square roots of exact sums before they are rounded.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

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

#if COLLIGO_HAS_REST
COLLIGO_BODY natural::natural(std::uint64_t value)
    : digits_(2) {
  digits_[0] = static_cast<std::uint32_t>(value), digits_[1] = static_cast<std::uint32_t>(value >> 32);
  trim();
}
COLLIGO_BODY void natural::trim() {
  while (!digits_.empty() && digits_.back() == 0) digits_.pop_back();
}
COLLIGO_BODY std::size_t natural::bits() const {
  return digits_.empty() ? 0 : 32 * (digits_.size() - 1) + static_cast<std::size_t>(std::bit_width(digits_.back()));
}
COLLIGO_BODY void natural::shift_left(std::size_t by) {
  std::uint64_t carry = 0;
  for (std::uint32_t& digit : digits_) {
    carry |= std::uint64_t{digit} << by % 32;
    digit = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  digits_.push_back(static_cast<std::uint32_t>(carry));
  trim();
  std::size_t const n = digits_.size(), whole = by / 32;
  if (n == 0 || whole == 0) return;
  digits_.resize(n + whole);
  for (std::size_t i = n; i-- > 0;) digits_[i + whole] = digits_[i];
  for (std::size_t i = 0; i < whole; ++i) digits_[i] = 0;
}
COLLIGO_BODY bool natural::shift_right(std::size_t by) {
  std::size_t const whole = std::min(by / 32, digits_.size());
  bool lost = false;
  for (std::size_t i = 0; i < whole; ++i) lost = lost || digits_[i] != 0;
  for (std::size_t i = whole; i < digits_.size(); ++i) digits_[i - whole] = digits_[i];
  digits_.resize(digits_.size() - whole);
  std::uint64_t carry = 0;
  for (std::size_t i = digits_.size(); i-- > 0;) {
    carry = carry << 32 | digits_[i];
    digits_[i] = static_cast<std::uint32_t>(carry >> by % 32);
    carry &= (std::uint64_t{1} << by % 32) - 1;
  }
  trim();
  return lost || carry != 0;
}
COLLIGO_BODY natural& natural::add(natural const& other, std::int64_t sign) {
  digits_.resize(std::max(digits_.size(), other.digits_.size()) + 1);
  std::int64_t carry = 0;
  for (std::size_t i = 0; i < digits_.size(); ++i) {
    carry += digits_[i] + sign * (i < other.digits_.size() ? other.digits_[i] : 0);
    digits_[i] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  trim();
  return *this;
}
COLLIGO_BODY natural operator*(natural const& a, natural const& b) {
  natural product;
  product.digits_.resize(a.digits_.size() + b.digits_.size());
  for (std::size_t i = 0; i < a.digits_.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.digits_.size() || carry != 0; ++j) {
      carry += product.digits_[i + j] +
               (j < b.digits_.size() ? std::uint64_t{a.digits_[i]} * b.digits_[j] : 0);
      product.digits_[i + j] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }
  product.trim();
  return product;
}
COLLIGO_BODY bool natural::divide(std::uint64_t by) {
  __extension__ using wide = unsigned __int128;
  wide left = 0;
  for (std::size_t i = digits_.size(); i-- > 0;) {
    left = left << 32 | digits_[i];
    digits_[i] = static_cast<std::uint32_t>(left / by);
    left %= by;
  }
  trim();
  return left != 0;
}
COLLIGO_BODY std::uint64_t natural::low() const {
  return (digits_.empty() ? 0 : digits_[0]) | (digits_.size() < 2 ? 0 : std::uint64_t{digits_[1]} << 32);
}

COLLIGO_BODY natural natural_of(std::int64_t const* words, int n) {
  natural number(static_cast<std::uint64_t>(last_word::digit(words[n])));
  for (int i = n - 1; i >= 0; --i) {
    number.shift_left(digit_bits);
    number += natural(static_cast<std::uint64_t>(words[i]));
  }
  return number;
}

// To 62 bits, of which the last one says whether something was below, and then as a fixed point number.
COLLIGO_BODY double nearest_double(natural number, int exponent, bool more) {
  if (number.is_zero()) return 0;
  if (std::size_t const bits = number.bits(); bits > 62) {
    more |= number.shift_right(bits - 62);
    exponent += static_cast<int>(bits) - 62;
  } else {
    number.shift_left(62 - bits);
    exponent -= static_cast<int>(62 - bits);
  }
  constexpr int least = 2 * format_of<double>.least() - 64;
  if (exponent < least) return 0;
  if (exponent > format_of<double>.top()) return std::bit_cast<double>(format_of<double>.infinite_bits());
  fixed_point<least - 64, 1200> exactly;
  std::uint64_t const value = number.low() | std::uint64_t{more};
  exactly.add_multiple(static_cast<std::int64_t>(value >> 32), exponent - (least - 64) + 32);
  exactly.add_multiple(static_cast<std::int64_t>(value & 0xffffffff), exponent - (least - 64));
  return std::bit_cast<double>(exactly.rounded_to(format_of<double>));
}
COLLIGO_BODY double quotient(integer const& number, int exponent, std::uint64_t by) {
  natural size = number.size;
  constexpr int enough = 192;   // digits of the quotient, beside those of the divisor
  size.shift_left(enough);
  bool const more = size.divide(by);
  double const result = nearest_double(std::move(size), exponent - enough, more);
  // By bits, because arithmetic may flush subnormal numbers. There is no negative zero.
  auto const bits = std::bit_cast<std::uint64_t>(result);
  return number.negative && bits != 0 ? std::bit_cast<double>(bits | format_of<double>.sign()) : result;
}
COLLIGO_BODY double square_root(natural number, int exponent) {
  if (number.is_zero()) return 0;
  std::size_t by = 160;
  if ((exponent - static_cast<int>(by)) % 2 != 0) ++by;
  number.shift_left(by);
  exponent -= static_cast<int>(by);
  // 64 bits of the root, one by one; more of the number than twice as many is below them.
  std::size_t below = number.bits() > 126 ? (number.bits() - 126 + 1) / 2 * 2 : 0;
  bool more = number.shift_right(below);
  __extension__ using wide = unsigned __int128;
  natural upper = number;
  upper.shift_right(64);
  wide const square = static_cast<wide>(upper.low()) << 64 | number.low();
  wide root = 0;
  for (int i = 63; i >= 0; --i) {
    wide const tried = root | wide{1} << i;
    if (tried * tried <= square) root = tried;
  }
  more |= root * root != square;
  return nearest_double(natural(static_cast<std::uint64_t>(root)), (exponent + static_cast<int>(below)) / 2, more);
}
COLLIGO_BODY double variance_of(natural const& squares, natural const& sum, int exponent, std::uint64_t n,
                                std::uint64_t d) {
  natural all = squares * natural(n);
  all -= sum * sum;
  all.shift_left(320);
  bool more = all.divide(n);
  more |= all.divide(d);
  return nearest_double(std::move(all), 2 * exponent - 320, more);
}
#endif

}  // namespace colligo
