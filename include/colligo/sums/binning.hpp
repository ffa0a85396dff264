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
#include "binning_body.hpp"
#endif
