// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of fixed_point.hpp.
#pragma once

#include <algorithm>
#include <bit>

#include "fixed_point.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

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

}  // namespace colligo
