// SPDX-License-Identifier: BSL-1.0
/// @file
/// Reduction functors: which of them commute, and the library's own: maximum, minimum, maximum_or_nan, minimum_or_nan,
/// maxloc, minloc.
///
/// A functor is any callable T(T const&, T const&), also with state. It must be associative. A functor may take three
/// arguments instead, T(std::size_t index, T const&, T const&): the index of the element in the caller's vector comes
/// first. It must then be associative for each index.
#pragma once

#include "mode.hpp"

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>

// Boost.MPI's functors are known by name alone, so that this header needs no MPI.
namespace boost::mpi {
template <class T> struct maximum;
template <class T> struct minimum;
template <class T> struct bitwise_and;
template <class T> struct bitwise_or;
template <class T> struct bitwise_xor;
template <class T> struct logical_xor;
template <class Op, class T> struct is_commutative;
template <class T> struct is_mpi_datatype;
}  // namespace boost::mpi
namespace boost::serialization {
template <class T> struct is_bitwise_serializable;
}  // namespace boost::serialization

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// True for a NaN of any type that can have one.
template <class T>
constexpr bool unordered(T const& value) {
  if constexpr (requires { { value != value } -> std::convertible_to<bool>; }) return value != value;
  else return false;
}

/// The functor's result type can not hold all values of the elements: std::plus<int> on double. bool is allowed.
template <class T, class Result>
constexpr bool narrows() {
  if constexpr (!std::is_arithmetic_v<T> || !std::is_arithmetic_v<Result> || std::is_same_v<Result, bool>) return false;
  else if constexpr (std::is_integral_v<T> == std::is_integral_v<Result>) return sizeof(Result) < sizeof(T);
  else return std::is_integral_v<Result> || std::numeric_limits<Result>::digits < std::numeric_limits<T>::digits;
}

/// Comparisons, of which std::less is taken for a minimum. Of bools std::equal_to and its like are functors.
template <class Op>
inline constexpr bool compares = false;
template <template <class> class Op, class T>
  requires std::is_same_v<Op<void>, std::less<>> || std::is_same_v<Op<void>, std::less_equal<>> ||
           std::is_same_v<Op<void>, std::greater<>> || std::is_same_v<Op<void>, std::greater_equal<>> ||
           std::is_same_v<Op<void>, std::equal_to<>> || std::is_same_v<Op<void>, std::not_equal_to<>>
inline constexpr bool compares<Op<T>> = true;

/// A functor of two elements; also within another one, as as_commutative(op).
template <class Op, class T>
concept combines_two = !std::is_member_pointer_v<Op> && (!compares<std::remove_cv_t<Op>> || std::is_same_v<T, bool>) &&
                       std::is_invocable_r_v<T, Op&, T const&, T const&> &&
                       !narrows<T, std::invoke_result_t<Op&, T const&, T const&>>();

/// A functor that takes the index of the elements that it combines.
template <class Op, class T>
concept takes_index = !std::is_invocable_r_v<T, Op&, T const&, T const&> &&
                      std::is_invocable_r_v<T, Op&, std::size_t, T const&, T const&> &&
                      !narrows<T, std::invoke_result_t<Op&, std::size_t, T const&, T const&>>();

}  // namespace detail

/// The larger / smaller of two values, of a NaN and a number the number: whatever the order of ranks.
struct maximum {
  template <class T>
  constexpr T operator()(T const& a, T const& b) const { return a < b || detail::unordered(a) ? b : a; }
};
struct minimum {
  template <class T>
  constexpr T operator()(T const& a, T const& b) const { return b < a || detail::unordered(a) ? b : a; }
};

/// The same, but of a NaN and a number it is the NaN: the result shows that some rank has one.
struct maximum_or_nan {
  template <class T>
  constexpr T operator()(T const& a, T const& b) const { return a < b || detail::unordered(b) ? b : a; }
};
struct minimum_or_nan {
  template <class T>
  constexpr T operator()(T const& a, T const& b) const { return b < a || detail::unordered(b) ? b : a; }
};

/// A value and where it was found (MPI_MAXLOC's pair, for any ordered T and any Index).
template <class T, class Index = std::int64_t>
struct located {
  T value;
  Index index;
  friend constexpr bool operator==(located const&, located const&) = default;
};

namespace detail {

template <class T>
concept ordered = requires(T const& x) { bool(x < x); };

// A NaN loses against every number; of equal values, and of NaNs, the lowest index wins. That is a total order, so
// maxloc and minloc commute and the result is the same for every algorithm and every number of ranks.
template <class Located, class Better>
constexpr Located better_of(Located const& a, Located const& b, Better better) {
  // Without branches, because they could not be predicted; as numbers, or compilers warn.
  bool const a_is_nan = unordered(a.value), b_is_nan = unordered(b.value), a_wins = better(a.value, b.value),
             b_wins = better(b.value, a.value);
  bool const lower = b.index < a.index, alike = (int{!a_wins} & int{a_is_nan == b_is_nan}) != 0;
  bool const take_b = (int{b_wins} | (int{a_is_nan} & int{!b_is_nan}) | (int{alike} & int{lower})) != 0;
  if constexpr (std::is_arithmetic_v<decltype(a.value)>)
    return {take_b ? b.value : a.value, take_b ? b.index : a.index};
  else return take_b ? b : a;
}

}  // namespace detail

/// The largest value with its index. Ties: the lowest index. The result is a NaN only if all values are.
struct maxloc {
  template <detail::ordered T, detail::ordered Index>
  constexpr located<T, Index> operator()(located<T, Index> const& a, located<T, Index> const& b) const {
    return detail::better_of(a, b, [](T const& x, T const& y) { return y < x; });
  }
};

/// The smallest value with its index. Ties and NaN as in maxloc.
struct minloc {
  template <detail::ordered T, detail::ordered Index>
  constexpr located<T, Index> operator()(located<T, Index> const& a, located<T, Index> const& b) const {
    return detail::better_of(a, b, std::less<>{});
  }
};

/// A functor that commutes because its author says so: made by as_commutative.
template <class Op>
struct commutative_functor {
  Op op;
  template <class T>
    requires detail::combines_two<Op const, T>
  constexpr T operator()(T const& a, T const& b) const { return static_cast<T>(op(a, b)); }
  template <class T>
    requires detail::combines_two<Op, T>
  constexpr T operator()(T const& a, T const& b) { return static_cast<T>(op(a, b)); }
  template <class T>
    requires detail::takes_index<Op, T>
  constexpr T operator()(std::size_t index, T const& a, T const& b) { return static_cast<T>(op(index, a, b)); }
};

namespace by_name {

/// Declares that op(a, b) == op(b, a), so algorithms that reorder operands accept it.
template <class Op>
constexpr commutative_functor<std::decay_t<Op>> as_commutative(Op&& op) {
  return {std::forward<Op>(op)};
}

}  // namespace by_name

namespace detail {

template <class T>
struct is_complex : std::false_type {};
template <class T>
struct is_complex<std::complex<T>> : std::true_type {};

template <class Op, class T, template <class> class... Functors>
inline constexpr bool any_of = ((std::is_same_v<Op, Functors<T>> || std::is_same_v<Op, Functors<void>>) || ...);
template <class Op, class T, template <class> class... Functors>
inline constexpr bool any_boost = (std::is_same_v<Op, Functors<T>> || ...);

/// Whether a program has specialised Boost.MPI's trait; if not, only its declaration is known here.
template <class Op, class T>
concept known_to_boost = requires { requires boost::mpi::is_commutative<Op, T>::value; };

template <class Op, class T>
constexpr bool known_to_commute() {
  if constexpr (std::is_arithmetic_v<T>)
    return any_of<Op, T, std::plus, std::multiplies, std::logical_and, std::logical_or, std::bit_and, std::bit_or,
                  std::bit_xor> ||
           any_boost<Op, T, boost::mpi::maximum, boost::mpi::minimum, boost::mpi::bitwise_and, boost::mpi::bitwise_or,
                     boost::mpi::bitwise_xor, boost::mpi::logical_xor> ||
           std::is_same_v<Op, maximum> || std::is_same_v<Op, minimum> || std::is_same_v<Op, maximum_or_nan> ||
           std::is_same_v<Op, minimum_or_nan>;
  else if constexpr (is_complex<T>::value) return any_of<Op, T, std::plus, std::multiplies>;
  else return false;
}

}  // namespace detail

/// Whether op(a, b) == op(b, a) is known. True for the standard and Boost.MPI functors on arithmetic types (sums and
/// products of std::complex too) and for the library's own; false for anything else, unless you specialise it or
/// boost::mpi::is_commutative:
///   template <> inline constexpr bool colligo::commutative<merge, particle> = true;
template <class Op, class T>
inline constexpr bool commutative = detail::known_to_commute<Op, T>() || detail::known_to_boost<Op, T>;
template <class Op, class T>
inline constexpr bool commutative<commutative_functor<Op>, T> = true;
template <class T, class Index>
inline constexpr bool commutative<maxloc, located<T, Index>> = true;
template <class T, class Index>
inline constexpr bool commutative<minloc, located<T, Index>> = true;

/// Whether any grouping and order of operands is known to give the same bits: true for integers, maxloc and minloc;
/// false for sums, maxima and minima of floating point numbers, because 0 and -0 are equal.
template <class Op, class T>
inline constexpr bool exact = commutative<Op, T> && (std::is_integral_v<T> || std::is_same_v<Op, maxloc> ||
                                                     std::is_same_v<Op, minloc>);

}  // namespace colligo
