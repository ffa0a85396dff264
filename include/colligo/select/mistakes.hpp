// SPDX-License-Identifier: BSL-1.0
/// @file
/// Calls that can not be meant, answered by a sentence. Front doors have one form that takes them and nothing else.
#pragma once

#include <concepts>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "forms.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Stands for whatever the call would have given, so that the sentence is all that the compiler says.
struct mistake {
  template <class T>
  operator T() const;
};

enum class mistaken {
  nothing,
  communicator,      ///< the first argument is none
  name,              ///< an algorithm's name as a string
  types,             ///< input and output are of different types
  addresses,         ///< elements are
  locates,           ///< maxloc or minloc of elements without a place
  pointer_and_count  ///< where there is no such form
};

template <class T>
struct pointee_or { using type = T; };
template <class T>
struct pointee_or<T*> { using type = std::remove_const_t<T>; };

/// What such an argument consists of.
template <class T>
struct element_in : pointee_or<std::decay_t<T>> {};
template <std::ranges::contiguous_range T>
struct element_in<T> { using type = std::ranges::range_value_t<T>; };
template <class R>
struct element_in<in_place_range<R>> { using type = std::ranges::range_value_t<R>; };

template <class T>
inline constexpr bool locates = std::is_same_v<std::remove_cvref_t<T>, maxloc> ||
                                std::is_same_v<std::remove_cvref_t<T>, minloc>;

/// A text that can not be an output.
template <class T>
inline constexpr bool is_name = std::is_convertible_v<T, std::string_view> && !algorithm<T> &&
                                (std::is_const_v<std::remove_reference_t<T>> || !std::is_lvalue_reference_v<T> ||
                                 std::is_same_v<std::decay_t<T>, char const*>);

template <class Out>
inline constexpr bool is_number_to_write = std::is_lvalue_reference_v<Out> &&
                                           std::is_arithmetic_v<std::remove_reference_t<Out>>;

template <collective C, class Comm, class... Arguments>
constexpr mistaken mistaken_in() {
  using enum collective;
  using all = std::tuple<Arguments...>;
  constexpr std::size_t n = sizeof...(Arguments);
  if constexpr (!communicator<std::remove_cvref_t<Comm>>) {
    return mistaken::communicator;
  } else if constexpr (n >= 2) {
    using first = std::tuple_element_t<0, all>;
    using second = std::tuple_element_t<1, all>;
    using its_element = typename element_in<std::remove_cvref_t<first>>::type;
    if constexpr (is_name<std::tuple_element_t<n - 1, all>>)
      return mistaken::name;
    else if constexpr (holds_addresses<its_element>)
      return mistaken::addresses;
    else if constexpr (combines(C) && (locates<Arguments> || ...) && !functor_on<maxloc, its_element>)
      return mistaken::locates;
    else if constexpr (elements<first> && elements<second> && C != scatterv && C != all_to_all_v)
      return elements_like<first, second> || element_of_range<std::remove_cvref_t<first>, second> ||
                     element_of_range<std::remove_cvref_t<second>, first>
                 ? mistaken::nothing
                 : mistaken::types;
    else if constexpr (C == all_reduce || C == reduce || C == scan)
      return n >= 3 && std::is_arithmetic_v<std::remove_cvref_t<first>> && is_number_to_write<second> &&
                     !std::is_same_v<std::remove_cvref_t<first>, std::remove_cvref_t<second>>
                 ? mistaken::types
                 : mistaken::nothing;
    else if constexpr (combines(C) && std::is_pointer_v<std::decay_t<first>> &&
                       std::is_integral_v<std::remove_cvref_t<second>>)
      return mistaken::pointer_and_count;
    else return mistaken::nothing;
  } else {
    return mistaken::nothing;
  }
}

template <collective C, class Comm, class... Arguments>
concept is_mistaken = mistaken_in<C, Comm, Arguments...>() != mistaken::nothing;

/// The sentence.
template <mistaken What>
mistake answer() {
  static_assert(What != mistaken::communicator,
                "colligo: the first argument is no communicator of the library: for an MPI_Comm write "
                "colligo::mpi_communicator(comm)");
  static_assert(What != mistaken::name,
                "colligo: an algorithm is a tag or a name: write colligo::ring{} or colligo::named(\"ring\")");
  static_assert(What != mistaken::types, "colligo: input and output must have the same element type");
  static_assert(What != mistaken::addresses,
                "colligo: elements that are addresses (pointers, references, spans, string_views) mean nothing on "
                "another rank: send what they point to");
  static_assert(What != mistaken::locates,
                "colligo: maxloc and minloc combine values with their places: write "
                "colligo::located<T, Index>{value, index}, or colligo::maximum for the value alone");
  static_assert(What != mistaken::pointer_and_count,
                "colligo: this collective has no form for a pointer and a count: write std::span(pointer, count)");
  return {};
}

}  // namespace colligo
