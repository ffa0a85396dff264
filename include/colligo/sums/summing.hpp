// SPDX-License-Identifier: BSL-1.0
/// @file
/// exact_sum<T>: a sum of floating point numbers that is exact until it is rounded, once, to the nearest number. Its
/// bits depend only on the summands: not on their order, on the number of ranks or which rank has which summand, nor on
/// algorithm, transport, compiler or processor.
///
///   colligo::exact_sum<double> s;
///   s += mine;                                                       // a number, a range, an exact_product(a, b)
///   double const total(colligo::all_reduce(world, s, std::plus<>{}));
///
/// T is float, double, or a half type of the compiler's; or exact_product<float>, exact_product<double>, for sums of
/// products. It travels as bytes: 56 of float, 312 of double, 616 of products of doubles, for any number of ranks, and
/// `std::plus<>` on it is exact and commutes, so that every algorithm of every collective may take it.
#pragma once

#include <concepts>
#include <functional>
#include <ostream>
#include <span>

#include "../core/element.hpp"
#include "../core/strings.hpp"
#include "block_sums.hpp"

namespace colligo::inline COLLIGO_MODE {

/// The product of two numbers before rounding.
template <class T>
struct exact_product {
  T a{}, b{};

  constexpr exact_product() = default;
  constexpr exact_product(T left, T right) : a(left), b(right) {}
};

namespace detail {

/// The result type of a sum of such summands, and its fixed point numbers.
template <class Summand>
struct sum_of_summands;
template <binary_number T>
struct sum_of_summands<T> {
  using number = T;
  using state = fixed_point<format_of<T>.least(), format_of<T>.top()>;
};
template <binary_number T>
struct sum_of_summands<exact_product<T>> {
  using number = T;
  using state = fixed_point<2 * format_of<T>.least(), 2 * format_of<T>.top()>;
};

template <class Summand>
struct sum_of_summands {
  using number = double;
  using state = typename sum_of_summands<number>::state;
  static_assert(std::is_same_v<Summand, double>, "colligo: an exact_sum is one of float, double, a half type, or of "
                "exact_product of one; colligo::sum of integers is exact without it");
};

struct inside_of_sum {
  template <class Sum>
  static auto const& state(Sum const& sum) { return sum.state_; }
  /// std::plus<> in place: copying its result would take longer than the sum.
  template <class Sum>
  static void combine(void*, std::byte const* left, std::byte const* right, std::byte* out, std::size_t n) {
    auto const *a = reinterpret_cast<Sum const*>(left), *b = reinterpret_cast<Sum const*>(right);
    auto* const sums = reinterpret_cast<Sum*>(out);
    for (std::size_t i = 0; i < n; ++i) sums[i].state_.assign_sum(a[i].state_, b[i].state_);
  }
};

}  // namespace detail

/// A sum of T, or of products of T if it is one of exact_product<T>. It takes all digits of integers of up to 64 bits.
///
/// NaN and infinities are flags: the result is NaN if one was added, or both infinities; else the infinity if there was
/// one; else the sum of all numbers, rounded to nearest, ties to even. Only this rounding may overflow. Zero is +0.
/// Precondition: fewer than 2^64 summands. Cost: about 3 ns for a number, 1 for one in a long range.
template <class Summand>
class exact_sum {
  using state = typename detail::sum_of_summands<Summand>::state;

 public:
  using value_type = typename detail::sum_of_summands<Summand>::number;
  using summand_type = Summand;

  constexpr exact_sum() = default;
  /// Of one summand, or of a range of them.
  template <class X>
    requires(!std::same_as<X, exact_sum>) && requires(exact_sum s, X const& x) { s += x; }
  explicit exact_sum(X const& x) { *this += x; }

  template <detail::summand_of<value_type> X>
  exact_sum& operator+=(X x) {
    detail::for_each_part<value_type>(x, [this](detail::integer_form const& part) { add(part); });
    return *this;
  }
  template <detail::summand_of<value_type> X>
  exact_sum& operator-=(X x) {
    detail::for_each_part<value_type>(x, [this](detail::integer_form const& part) { add(-part); });
    return *this;
  }
  /// Exact in an exact_sum<exact_product<T>>. In an exact_sum<T> each product is rounded below T's least number, and
  /// infinite above T's largest.
  exact_sum& operator+=(exact_product<value_type> const& product);
  /// All numbers, or all exact products, of a range.
  template <std::ranges::input_range R>
    requires requires(exact_sum s, std::ranges::range_reference_t<R> x) { s += x; }
  exact_sum& operator+=(R&& range) {
    if constexpr (std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                  std::same_as<std::ranges::range_value_t<R>, value_type> && sizeof(value_type) >= sizeof(float)) {
      std::span<value_type const> const all(range);
      if (all.size() >= detail::worth_blocks)
        return add_blocks<detail::sums_by_exponent<value_type>>(all.size(), all.data());
    }
    for (auto&& x : range) *this += x;
    return *this;
  }
  exact_sum& operator+=(exact_sum const& other) {
    state_ += other.state_;
    return *this;
  }
  exact_sum& operator-=(exact_sum const& other) { return *this += -other; }
  friend exact_sum operator+(exact_sum const& a, exact_sum const& b) {
    exact_sum sum = a;
    return sum += b;
  }
  friend exact_sum operator-(exact_sum const& a, exact_sum const& b) { return a + -b; }
  exact_sum operator-() const {
    exact_sum minus = *this;
    minus.state_.negate();
    return minus;
  }
  /// Adds a[i] b[i] for all i. Precondition: equal lengths.
  void add_products(std::span<value_type const> a, std::span<value_type const> b);

  /// The sum, rounded once.
  value_type value() const { return static_cast<value_type>(*this); }
  template <detail::binary_number To>
  explicit operator To() const {
    return std::bit_cast<To>(static_cast<detail::bits_of_number<To>>(state_.rounded_to(detail::format_of<To>)));
  }
  /// Compares the sums exactly. The bytes of equal sums may differ; those of canonical() do not.
  friend bool operator==(exact_sum const&, exact_sum const&) = default;
  /// The same sum in its canonical form, whose bytes depend only on the sum.
  exact_sum canonical() const {
    exact_sum canonical = *this;
    canonical.state_.canonicalise();
    return canonical;
  }
  /// Prints enough digits to identify the rounded number.
  friend std::ostream& operator<<(std::ostream& out, exact_sum const& sum) {
    using digits = std::conditional_t<sizeof(value_type) <= sizeof(float), float, double>;
    return out << detail::shortest(static_cast<digits>(sum.value()));
  }

 private:
  friend struct detail::inside_of_sum;

  void add(detail::integer_form const& x) {
    if (x.special != 0) [[unlikely]] state_.add_special(x.special);
    else state_.add_multiple(x.mantissa, x.shift + detail::format_of<value_type>.least() - state::unit);
  }
  /// Adds multiple 2^exponent.
  void add_multiple(std::int64_t multiple, int exponent) {
    if (multiple == 0) return;
    int const shift = exponent - state::unit;
    state_.add_multiple(shift >= 0 ? multiple : multiple >> -shift, std::max(shift, 0));
  }
  /// Adds long ranges of numbers, or of products of two each.
  template <class Table, class... T>
  exact_sum& add_blocks(std::size_t n, T const*... x) {
    auto const give = [this](std::int64_t multiple, int exponent) { add_multiple(multiple, exponent); };
    detail::adder<Table, decltype(give)> adder(give);
    adder.add_all(n, x...);
    state_.add_special(adder.finish());
    state_.canonicalise();   // so that it counts as one summand
    return *this;
  }

  state state_;
};

template <class X>
exact_sum(X const&) -> exact_sum<X>;

namespace detail {

template <class T>
inline constexpr bool is_exact_sum = false;
template <class Summand>
inline constexpr bool is_exact_sum<exact_sum<Summand>> = true;
template <class Op, class T>
concept adds_exactly = is_exact_sum<T> && (std::is_same_v<Op, std::plus<>> || std::is_same_v<Op, std::plus<T>>);

}  // namespace detail

template <class Op, class T>
  requires detail::adds_exactly<Op, T>
inline constexpr detail::combination detail::own_combination<Op, T> = &detail::inside_of_sum::combine<T>;
template <class Op, class T>
  requires detail::adds_exactly<Op, T>
inline constexpr bool commutative<Op, T> = true;
template <class Op, class T>
  requires detail::adds_exactly<Op, T>
inline constexpr bool exact<Op, T> = true;

template <class Summand>
exact_sum<Summand>& exact_sum<Summand>::operator+=(exact_product<value_type> const& product) {
  using namespace detail;
  constexpr number_format format = format_of<value_type>;
  integer_form const a = integer_form_of(product.a), b = integer_form_of(product.b);
  if ((a.special | b.special) != 0) [[unlikely]] {
    state_.add_special(special_of_product(a, b));
    return *this;
  }
  __extension__ using wide = __int128;
  wide all = static_cast<wide>(a.mantissa) * b.mantissa;   // of 106 bits or fewer
  int shift = a.shift + b.shift + 2 * format.least() - state::unit;
  if constexpr (std::is_same_v<Summand, value_type>) {
    wide const size = all < 0 ? -all : all;
    int const room = format.top() - state::unit - shift;   // bits of a finite product
    if (room < 106 && size >> std::max(room, 0) != 0) [[unlikely]] {
      state_.add_special(all < 0 ? negative_infinity_seen : infinity_seen);
      return *this;
    }
    if (shift < 0) [[unlikely]] {
      if (-shift > 120) return *this;   // less than half of the least number
      all = rounded_shift(all, -shift), shift = 0;
    }
  }
  constexpr int part = 53;
  auto const low = static_cast<std::int64_t>(all & ((wide{1} << part) - 1));
  if (auto const high = static_cast<std::int64_t>(all >> part); high != 0) state_.add_multiple(high, shift + part);
  state_.add_multiple(low, shift);
  return *this;
}

template <class Summand>
void exact_sum<Summand>::add_products(std::span<value_type const> a, std::span<value_type const> b) {
  using namespace detail;
  if constexpr (!std::is_same_v<Summand, value_type> && sizeof(value_type) >= sizeof(float)) {
    if (a.size() >= worth_blocks)
      return void(add_blocks<products_by_exponent<value_type>>(a.size(), a.data(), b.data()));
  }
  for (std::size_t i = 0; i < a.size(); ++i) *this += exact_product{a[i], b[i]};
}

}  // namespace colligo
