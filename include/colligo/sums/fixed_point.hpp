// SPDX-License-Identifier: BSL-1.0
/// @file
/// The numbers of exact_sum: fixed point numbers wide enough for every number of a floating point type, and for sums of
/// 2^64 of them. A number is a row of 64-bit words with digits of 56 bits each, so words can be added without carries
/// while they are sums of 127 or fewer canonical ones. The last word has the topmost digit, the number of canonical
/// numbers that were added up (the weight), and flags for NaN and infinities.
///
/// Several rows of words can have the same sum; one of them is canonical (every digit but the topmost in 0 .. 2^56 -
/// 1). Results are compared and rounded in that form, which does not depend on the order of additions.
/// Source: R. M. Neal, Fast exact summation using small and large superaccumulators, arXiv 1505.05571, 2015.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "number_format.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

inline constexpr int digit_bits = 56;
inline constexpr std::int64_t digit_mask = (std::int64_t{1} << digit_bits) - 1;

/// The last word of a row: topmost digit, weight and specials.
struct last_word {
  static constexpr int digit_shift = 16, weight_shift = 3;
  static constexpr std::int64_t specials = 7, low = (1 << digit_shift) - 1;
  static constexpr std::int64_t one = std::int64_t{1} << weight_shift;   ///< a weight of one
  static constexpr std::int64_t most_weight = 127;

  static constexpr std::int64_t digit(std::int64_t word) { return word >> digit_shift; }
  static constexpr std::int64_t weight(std::int64_t word) { return (word & low) >> weight_shift; }
  static constexpr std::int64_t made_of(std::int64_t digit, std::int64_t weight, std::int64_t special) {
    return digit * (1 << digit_shift) + (weight << weight_shift) + special;
  }
};

/// Makes a row of n digits and a last word canonical.
void make_canonical(std::int64_t* words, int n);
/// Whether two rows have the same number and the same flags.
bool are_equal(std::int64_t const* a, std::int64_t const* b, int n);
/// The bits of the number in this format that is nearest to the row's, ties to even; 2^unit is the unit of the first
/// digit.
std::uint64_t rounded_bits(std::int64_t const* words, int n, int unit, number_format format);

/// Sums of up to 2^64 multiples of 2^Unit that are below 2^Top.
template <int Unit, int Top>
class fixed_point {
 public:
  static constexpr int unit = Unit;
  /// Words before the last one, whose digit of 48 bits has 40 for the sum and the others for carries.
  static constexpr int digits = (Top - Unit + 65 - 40 + digit_bits - 1) / digit_bits;

  /// Adds m 2^(shift + Unit), |m| <= 2^56.
  void add_multiple(std::int64_t m, int shift) {
    auto const [at, by] = std::pair(static_cast<std::size_t>(shift) / digit_bits, shift % digit_bits);
    std::int64_t const low = static_cast<std::int64_t>(static_cast<std::uint64_t>(m) << by) & digit_mask;
    std::int64_t high = m >> (digit_bits - by);
    if (at + 1 == digits) [[unlikely]] high *= std::int64_t{1} << last_word::digit_shift;
    words_[at] += low;
    words_[at + 1] += high;
    count_addition();
  }
  void add_special(std::int64_t special) { words_[digits] |= special; }

  constexpr fixed_point() : words_{} {}
  fixed_point& operator+=(fixed_point const& b) {
    assign_sum(*this, b);
    return *this;
  }
  /// a + b, either of which may be this number.
  void assign_sum(fixed_point const& a, fixed_point const& b) {
    std::int64_t const left = a.words_[digits], right = b.words_[digits];
    if (last_word::weight(left) + last_word::weight(right) > last_word::most_weight) [[unlikely]] {
      fixed_point x = a, y = b;
      x.canonicalise(), y.canonicalise();
      return assign_sum(x, y);
    }
    // Compilers vectorise if they know that memory does not overlap.
    if (&a == &b) for (std::size_t i = 0; i < digits; ++i) words_[i] = 2 * a.words_[i];
    else if (this == &a) add(words_.data(), b.words_.data());
    else if (this == &b) add(words_.data(), a.words_.data());
    else add(words_.data(), a.words_.data(), b.words_.data());
    std::int64_t const seen = (left | right) & last_word::specials;
    words_[digits] = ((left & ~last_word::specials) + (right & ~last_word::specials)) | seen;
  }

  void negate() {
    // Digits in 0 .. 127 (2^56 - 1) become negative and no larger: the weight still bounds them.
    for (std::size_t i = 0; i < digits; ++i) words_[i] = -words_[i];
    std::int64_t const last = words_[digits], seen = last & last_word::specials;
    words_[digits] = last_word::made_of(-last_word::digit(last), last_word::weight(last), opposite(seen));
  }

  bool is_number() const { return (words_[digits] & last_word::specials) == 0; }
  void canonicalise() { make_canonical(words_.data(), digits); }
  std::uint64_t rounded_to(number_format format) const { return rounded_bits(words_.data(), digits, Unit, format); }
  std::array<std::int64_t, digits + 1> const& words() const { return words_; }
  friend bool operator==(fixed_point const& a, fixed_point const& b) {
    return are_equal(a.words_.data(), b.words_.data(), digits);
  }

 private:
  void count_addition() {
    words_[digits] += last_word::one;
    if (last_word::weight(words_[digits]) == last_word::most_weight) [[unlikely]] canonicalise();
  }
  static void add(std::int64_t* __restrict out, std::int64_t const* __restrict b) {
    for (std::size_t i = 0; i < digits; ++i) out[i] += b[i];
  }
  static void add(std::int64_t* __restrict out, std::int64_t const* __restrict a, std::int64_t const* __restrict b) {
    for (std::size_t i = 0; i < digits; ++i) out[i] = a[i] + b[i];
  }

  std::array<std::int64_t, digits + 1> words_;
};

#if COLLIGO_HAS_REST
inline constexpr int most_words = 96;   // sums of products of doubles have 77

COLLIGO_BODY void make_canonical(std::int64_t* words, int n) {
  std::int64_t carry = 0;
  for (int i = 0; i < n; ++i) {
    std::int64_t const all = words[i] + carry;
    words[i] = all & digit_mask;
    carry = all >> digit_bits;
  }
  words[n] = last_word::made_of(last_word::digit(words[n]) + carry, 1, words[n] & last_word::specials);
}

COLLIGO_BODY bool are_equal(std::int64_t const* a, std::int64_t const* b, int n) {
  std::array<std::int64_t, most_words> left{}, right{};   // for g++, which does not see that they are filled
  std::copy_n(a, n + 1, left.data());
  std::copy_n(b, n + 1, right.data());
  make_canonical(left.data(), n);
  make_canonical(right.data(), n);
  return std::equal(left.data(), left.data() + n + 1, right.data());
}

COLLIGO_BODY std::uint64_t rounded_bits(std::int64_t const* digits, int n, int unit, number_format format) {
  std::int64_t const seen = digits[n] & last_word::specials;
  if (seen != 0) [[unlikely]] {
    if (seen == infinity_seen) return format.infinite_bits();
    if (seen == negative_infinity_seen) return format.infinite_bits() | format.sign();
    return format.nan_bits();
  }
  // Most digits are 0: only those from `low` to `high` are made canonical. If what is carried out of them is negative,
  // the number is negative, and the negated number is rounded.
  auto const digit = [&](int i) { return i == n ? last_word::digit(digits[n]) : digits[i]; };
  int low = 0, high = n;
  while (low <= n && digit(low) == 0) ++low;
  if (low > n) return 0;
  while (digit(high) == 0) --high;
  std::array<std::uint64_t, most_words> words;
  auto const carried_out = [&](bool negated) {
    std::int64_t carry = 0;
    for (int i = low; i <= high; ++i) {
      std::int64_t const all = carry + (negated ? -digit(i) : digit(i));
      words[static_cast<std::size_t>(i)] = static_cast<std::uint64_t>(all & digit_mask);
      carry = all >> digit_bits;
    }
    return carry;
  };
  std::int64_t carried = carried_out(false);
  bool const negative = carried < 0;
  if (negative) carried = carried_out(true);
  words[static_cast<std::size_t>(high + 1)] = static_cast<std::uint64_t>(carried);
  int top = high + 1;
  auto const word = [&](int i) { return i < low || i > top ? 0 : words[static_cast<std::size_t>(i)]; };
  while (top >= low && word(top) == 0) --top;
  if (top < low) return 0;

  // Bits are counted from the unit's on. Those from `last` on are kept, at most 53.
  int const first = top * digit_bits + static_cast<int>(std::bit_width(word(top))) - 1;
  int const last = std::max(first - format.fraction, format.least() - unit);
  auto const bits_from = [&](int from) {   // 56 or more of them, or all that there are
    int const at = from / digit_bits, by = from % digit_bits;
    std::uint64_t const lower = word(at) >> by;
    return by == 0 ? lower : lower | word(at + 1) << (digit_bits - by);
  };
  std::uint64_t mantissa = 0;
  if (last <= 0) {
    mantissa = bits_from(0) << -last;   // nothing is below
  } else {
    mantissa = bits_from(last);
    bool const half = (bits_from(last - 1) & 1) != 0;
    auto const anything_below = [&](int end) {
      for (int i = low; i < end / digit_bits && i <= top; ++i)
        if (word(i) != 0) return true;
      return (word(end / digit_bits) & ((std::uint64_t{1} << end % digit_bits) - 1)) != 0;
    };
    mantissa += half && ((mantissa & 1) != 0 || anything_below(last - 1));
  }
  // A mantissa without its first bit is that of a subnormal number; one that has grown carries into the exponent.
  auto const exponent = static_cast<std::uint64_t>(last + unit - format.least());
  if (exponent >= (std::uint64_t{1} << format.exponent)) return format.infinite_bits() | (negative ? format.sign() : 0);
  std::uint64_t const bits = std::min((exponent << format.fraction) + mantissa, format.infinite_bits());
  return bits | (negative ? format.sign() : 0);
}
#endif

}  // namespace colligo
