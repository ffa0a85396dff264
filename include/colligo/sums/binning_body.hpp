// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of binning.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "binning.hpp"
#include "block_sums.hpp"
#include "fixed_point.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The largest bin whose unit the number is at least half of.
inline int top_bin_of(std::int64_t mantissa, int shift) {
  auto const size = static_cast<std::uint64_t>(mantissa < 0 ? -mantissa : mantissa);
  return (static_cast<int>(std::bit_width(size)) + shift) / bins::width;
}

COLLIGO_BODY void add_to(bins kept, integer_form const& x) {
  kept.top_and_flags() |= static_cast<std::int32_t>(x.special);
  if (x.mantissa == 0) return;
  std::int64_t left = x.mantissa;
  int const first = top_bin_of(left, x.shift);
  kept.raise(first);
  for (int bin = first, at = kept.top() - first; at < kept.count && bin >= 0 && left != 0; ++at, --bin) {
    int const by = bins::width * bin - x.shift;
    if (by <= 0) return kept.add_digits(at, left * (std::int64_t{1} << -by));
    if (by > 54) continue;   // less than half a unit
    std::int64_t const digit = rounded_shift(left, by);
    kept.add_digits(at, digit);
    left -= digit * (std::int64_t{1} << by);
  }
}

/// Adds the digits of n numbers to the first `Bins` bins. Precondition: no number has a digit above these.
template <int Bins, class T>
void add_digits_of(bins kept, std::size_t n, T const* x) {
  // A number is added to a constant so large that the sum's last bit is the bin's unit. So sum and constant differ, as
  // integers, by the digit.
  constexpr std::size_t lanes_of_bins = 2;
  std::array<double, Bins> start;
  std::array<std::array<two_words, lanes_of_bins>, Bins> sums{};
  for (int i = 0; i < Bins; ++i)
    start[static_cast<std::size_t>(i)] =
        std::ldexp(1.5, 52 + format_of<double>.least() + bins::width * (kept.top() - i));
  for_each_pair<lanes_of_bins>(n, [&](std::size_t lane, two_doubles v) COLLIGO_INLINED {
    unrolled<Bins>([&](std::size_t i) COLLIGO_INLINED {
      two_doubles const sum = v + start[i];
      sums[i][lane] += std::bit_cast<two_words>(sum) - std::bit_cast<std::int64_t>(start[i]);
      v -= sum - start[i];
    });
  }, x);
  for (int i = 0; i < Bins; ++i) {
    std::int64_t all = 0;
    for (two_words const& two : sums[static_cast<std::size_t>(i)]) all += two[0] + two[1];
    kept.add_digits(i, all);
  }
}

template <class T>
void add_to(bins kept, std::size_t n, T const* x) {
  bool const plain = arithmetic_is_plain();
  for (std::size_t now; n > 0; n -= now, x += now) {
    now = std::min(block_length, n);
    double most = 0, sum_of_sizes = 0;   // not finite if a number is not
    if (plain && now >= worth_blocks) {
      std::array<two_doubles, lanes> large{}, sums{};
      for_each_pair<lanes>(now, [&](std::size_t lane, two_doubles v) COLLIGO_INLINED {
        two_doubles const size = size_of(v);
        large[lane] = size > large[lane] ? size : large[lane];
        sums[lane] += size;
      }, x);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        most = std::max({most, large[lane][0], large[lane][1]});
        sum_of_sizes += sums[lane][0] + sums[lane][1];
      }
    }
    integer_form const largest = integer_form_of(most);
    int const top = top_bin_of(largest.mantissa, largest.shift);
    constexpr int last_with_constant = (format_of<double>.top() - 54 - format_of<double>.least()) / bins::width;
    if (!plain || now < worth_blocks || !(sum_of_sizes <= std::numeric_limits<double>::max()) ||
        top > last_with_constant || kept.top() > last_with_constant) {
      for (std::size_t i = 0; i < now; ++i) {
        integer_form one = integer_form_of(x[i]);
        one.shift += format_of<T>.least() - format_of<double>.least();
        add_to(kept, one);
      }
      continue;
    }
    kept.raise(top);
    switch (std::min(kept.count, kept.top() + 1)) {
      case 1: add_digits_of<1>(kept, now, x); break;
      case 2: add_digits_of<2>(kept, now, x); break;
      case 3: add_digits_of<3>(kept, now, x); break;
      default: add_digits_of<4>(kept, now, x);
    }
  }
}

COLLIGO_BODY std::uint64_t rounded_bits(bins kept, number_format format) {
  constexpr int digits = 8;   // of 56 bits: more than there are in four bins
  std::array<std::int64_t, digits + 1> words{};
  auto const add = [&words](std::int64_t m, int shift) {
    __extension__ using wide = __int128;
    wide const all = static_cast<wide>(m) * (std::int64_t{1} << shift % digit_bits);
    auto const at = static_cast<std::size_t>(shift / digit_bits);
    words[at] += static_cast<std::int64_t>(all & digit_mask);
    words[at + 1] += static_cast<std::int64_t>(all >> digit_bits & digit_mask);
    words[at + 2] += static_cast<std::int64_t>(all >> 2 * digit_bits);
  };
  for (int i = 0; i < kept.count; ++i) {
    int const shift = bins::width * (kept.count - 1 - i);
    add(kept.low[i], shift), add(kept.high[i], shift + bins::low_bits);
  }
  words[digits] = last_word::made_of(0, 1, kept.top_and_flags() & last_word::specials);
  return rounded_bits(words.data(), digits, format_of<double>.least() + bins::width * (kept.top() - kept.count + 1),
                      format);
}

}  // namespace colligo
