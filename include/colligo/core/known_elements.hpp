// SPDX-License-Identifier: BSL-1.0
/// @file
/// The library's own elements and functors, chosen at run time: for bindings, whose types are values.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "byte_element.hpp"
#include "functor.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Element types. `byte` is moved alone; the pairs are a value and an int, for maxloc and minloc.
enum class known_type {
  byte, int8, int16, int32, int64, uint8, uint16, uint32, uint64, single_precision, double_precision, long_double,
  complex_single, complex_double, complex_long_double, boolean,
  float_int, double_int, long_int, short_int, int_int, long_double_int
};
/// Functors; of arithmetic types as MPI has them.
enum class known_functor {
  none, sum, product, maximum, minimum, logical_and, logical_or, logical_xor, bit_and, bit_or, bit_xor, maxloc, minloc
};

namespace detail {

struct exclusive_or {
  template <class T>
  constexpr T operator()(T const& a, T const& b) const { return static_cast<T>(!a != !b); }
};

template <class T>
std::optional<registered_element> known_element_of(known_functor op) {
  using enum known_functor;
  constexpr bool number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>, integer = std::is_integral_v<T>;
  if (op == none) return registered_element::of<T>();
  if constexpr (number || is_complex<T>::value) {
    if (op == sum) return registered_element::of<T, std::plus<>>();
    if (op == product) return registered_element::of<T, std::multiplies<>>();
  }
  if constexpr (number) {
    if (op == known_functor::maximum) return registered_element::of<T, colligo::maximum>();
    if (op == known_functor::minimum) return registered_element::of<T, colligo::minimum>();
  }
  if constexpr (integer) {
    if (op == known_functor::logical_and) return registered_element::of<T, std::logical_and<>>();
    if (op == known_functor::logical_or) return registered_element::of<T, std::logical_or<>>();
    if (op == known_functor::logical_xor) return registered_element::of<T, exclusive_or>();
  }
  if constexpr (integer && number) {
    if (op == known_functor::bit_and) return registered_element::of<T, std::bit_and<>>();
    if (op == known_functor::bit_or) return registered_element::of<T, std::bit_or<>>();
    if (op == known_functor::bit_xor) return registered_element::of<T, std::bit_xor<>>();
  }
  if constexpr (requires(T const& x) { x.value; x.index; }) {
    if (op == known_functor::maxloc) return registered_element::of<T, colligo::maxloc>();
    if (op == known_functor::minloc) return registered_element::of<T, colligo::minloc>();
  }
  return std::nullopt;
}

}  // namespace detail

template <class T>
  requires std::is_integral_v<T>
inline constexpr bool commutative<detail::exclusive_or, T> = true;

namespace by_name {

/// The element of a type and a functor; empty if the type has no such operation.
template <class Lazy = void>
std::optional<registered_element> known_element(known_type type, known_functor op) {
  using enum known_type;
  using namespace detail;
  switch (type) {
    case byte: return known_element_of<std::byte>(op);
    case int8: return known_element_of<std::int8_t>(op);
    case int16: return known_element_of<std::int16_t>(op);
    case int32: return known_element_of<std::int32_t>(op);
    case int64: return known_element_of<std::int64_t>(op);
    case uint8: return known_element_of<std::uint8_t>(op);
    case uint16: return known_element_of<std::uint16_t>(op);
    case uint32: return known_element_of<std::uint32_t>(op);
    case uint64: return known_element_of<std::uint64_t>(op);
    case single_precision: return known_element_of<float>(op);
    case double_precision: return known_element_of<double>(op);
    case long_double: return known_element_of<long double>(op);
    case complex_single: return known_element_of<std::complex<float>>(op);
    case complex_double: return known_element_of<std::complex<double>>(op);
    case complex_long_double: return known_element_of<std::complex<long double>>(op);
    case boolean: return known_element_of<bool>(op);
    case float_int: return known_element_of<located<float, int>>(op);
    case double_int: return known_element_of<located<double, int>>(op);
    case long_int: return known_element_of<located<long, int>>(op);
    case short_int: return known_element_of<located<short, int>>(op);
    case int_int: return known_element_of<located<int, int>>(op);
    case long_double_int: return known_element_of<located<long double, int>>(op);
  }
  return std::nullopt;
}

}  // namespace by_name

}  // namespace colligo
