// SPDX-License-Identifier: BSL-1.0
/// @file
/// binned_sum<T, K>: a sum of floating point numbers whose bits depend only on the summands, with an eighth of the
/// bytes of an exact_sum, for long vectors of sums.
///
/// There are bins of 40 bits at fixed places. A number is cut into digits, one for each bin: each is the multiple of
/// the bin's unit nearest to the rest of the number, ties to even. Digits of a bin are added up as integers. The sum
/// keeps K bins from the largest summand's on; which bins these are, and which digits are dropped below them, depends
/// only on the summands.
/// Source: J. Demmel, H. D. Nguyen, Parallel reproducible summation, IEEE Trans. Comput. 64(7), 2015; P. Ahrens,
/// J. Demmel, H. D. Nguyen, Algorithms for efficient reproducible floating point summation, ACM TOMS 46(3), 2020. They
/// add digits as floating point numbers, and break ties by a last bit that is set.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <span>

#include "../core/functor.hpp"
#include "../core/strings.hpp"
#include "number_format.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// A view of a binned_sum: sums of digits, the largest bin first. Bin top - i holds high[i] 2^62 + low[i] of its units.
/// The unit of bin 0 is the least double; bins below it hold nothing.
struct bins {
  static constexpr int width = 40, low_bits = 62, special_bits = 3, most = 4;
  static constexpr std::int64_t low_mask = (std::int64_t{1} << low_bits) - 1;

  std::int64_t* low;    ///< in 0 .. 2^62 - 1, so that equal sums have equal words
  std::int32_t* high;   ///< high[count]: the top bin, and flags for NaN and infinities
  int count;

  std::int32_t& top_and_flags() const { return high[count]; }
  int top() const { return top_and_flags() >> special_bits; }
  void add_digits(int i, std::int64_t sum) const {   // |sum| < 2^62
    std::int64_t const all = low[i] + sum;
    low[i] = all & low_mask;
    high[i] += static_cast<std::int32_t>(all >> low_bits);
  }
  /// Makes bin `top` the largest, if the largest is below it.
  void raise(int top) const {
    int const by = top - this->top();
    if (by <= 0) return;
    for (int i = count - 1; i >= 0; --i) {
      low[i] = i >= by ? low[i - by] : 0;
      high[i] = i >= by ? high[i - by] : 0;
    }
    top_and_flags() += by * (1 << special_bits);
  }
};
/// Adds mantissa 2^shift least doubles, or a flag.
void add_to(bins kept, integer_form const& x);
template <class T>
void add_to(bins kept, std::size_t n, T const* x);
/// The bits of the number nearest to the sum of all digits.
std::uint64_t rounded_bits(bins kept, number_format format);

}  // namespace detail

/// A sum of T, in K bins of 40 bits. std::plus<> on it commutes and gives the same bits in any order and grouping, so
/// every algorithm may take it, and require{any_p}. It travels as bytes: 40 for three bins, 32 for two.
///
/// The result differs from the exact sum of n numbers, of which the largest is m, by at most n m 2^(-40 (K - 1)) before
/// it is rounded, once. NaN, infinities, and zero: as exact_sum. Precondition: fewer than 2^53 summands. Cost: 1 to 2
/// ns for a number in a long range.
template <class T, int K = 3>
  requires(K >= 1 && K <= detail::bins::most)
class binned_sum {
  static_assert(detail::format_of<T>.exponent != 0, "colligo: a binned_sum is one of float, double or a half type");

 public:
  using value_type = T;

  constexpr binned_sum() = default;
  /// The sum of one summand, or of a range of them.
  template <class X>
    requires(!std::same_as<X, binned_sum>) && requires(binned_sum s, X const& x) { s += x; }
  explicit binned_sum(X const& x) { *this += x; }

  template <detail::summand_of<T> X>
  binned_sum& operator+=(X x) {
    detail::for_each_part<T>(x, [this](detail::integer_form const& part) { add(part); });
    return *this;
  }
  template <detail::summand_of<T> X>
  binned_sum& operator-=(X x) {
    detail::for_each_part<T>(x, [this](detail::integer_form const& part) { add(-part); });
    return *this;
  }
  /// All numbers of a range.
  template <std::ranges::input_range R>
    requires requires(binned_sum s, std::ranges::range_reference_t<R> x) { s += x; }
  binned_sum& operator+=(R&& range) {
    if constexpr (std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                  std::same_as<std::ranges::range_value_t<R>, T> && sizeof(T) >= sizeof(float)) {
      std::span<T const> const all(range);
      detail::add_to(inside(), all.size(), all.data());
    } else {
      for (auto&& x : range) *this += x;
    }
    return *this;
  }
  binned_sum& operator+=(binned_sum const& other) {
    binned_sum const b = other;   // it may be this one
    if (b.inside().top() != inside().top()) [[unlikely]] return add_apart(b);
    std::int32_t const seen = b.high_[K] & special_mask;
    for (int i = 0; i < K; ++i) {
      auto const at = static_cast<std::size_t>(i);
      high_[at] += b.high_[at];
      inside().add_digits(i, b.low_[at]);
    }
    high_[K] |= seen;
    return *this;
  }
  friend binned_sum operator+(binned_sum const& a, binned_sum const& b) {
    binned_sum sum = a;
    return sum += b;
  }

  /// The sum, rounded once.
  T value() const { return static_cast<T>(*this); }
  template <detail::binary_number To>
  explicit operator To() const {
    return std::bit_cast<To>(
        static_cast<detail::bits_of_number<To>>(rounded_bits(inside(), detail::format_of<To>)));
  }
  /// Compares the sums of digits. Sums of the same summands are equal and have the same bytes.
  friend bool operator==(binned_sum const&, binned_sum const&) = default;
  /// Prints enough digits to identify the rounded number.
  friend std::ostream& operator<<(std::ostream& out, binned_sum const& sum) {
    using digits = std::conditional_t<sizeof(T) <= sizeof(float), float, double>;
    return out << detail::shortest(static_cast<digits>(sum.value()));
  }

 private:
  static constexpr std::int32_t special_mask = (1 << detail::bins::special_bits) - 1;

  detail::bins inside() const {   // only non-const functions write to it
    auto& self = const_cast<binned_sum&>(*this);
    return {self.low_.data(), self.high_.data(), K};
  }
  void add(detail::integer_form x) {
    x.shift += detail::format_of<T>.least() - detail::format_of<double>.least();
    detail::add_to(inside(), x);
  }
  binned_sum& add_apart(binned_sum b) {
    b.inside().raise(inside().top());
    inside().raise(b.inside().top());
    return *this += b;
  }

  std::array<std::int64_t, K> low_{};
  std::array<std::int32_t, K + 1 + (K + 1) % 2> high_{};   // no padding
};

template <class X>
binned_sum(X const&) -> binned_sum<X>;

template <class T, int K>
inline constexpr bool commutative<std::plus<>, binned_sum<T, K>> = true;
template <class T, int K>
inline constexpr bool commutative<std::plus<binned_sum<T, K>>, binned_sum<T, K>> = true;
template <class T, int K>
inline constexpr bool exact<std::plus<>, binned_sum<T, K>> = true;
template <class T, int K>
inline constexpr bool exact<std::plus<binned_sum<T, K>>, binned_sum<T, K>> = true;

}  // namespace colligo

#if COLLIGO_HAS_REST
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

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
#endif
