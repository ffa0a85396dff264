// SPDX-License-Identifier: BSL-1.0
/// @file
/// What is wrong with a call that no form accepts.
#pragma once

#include <concepts>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "forms.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// mistakes.hpp has the sentence of each.
enum class mistaken {
  something, order,   ///< of a call with counts; the message lists the forms
  communicator, name, addresses, uncopyable, unserialised, bits, apart, grid, matrix, rows, untyped, pointer,
  pointer_and_count, types, counts, temporary_input, temporary_output, constant_output, changing, unassignable, locates,
  no_functor, returns_nothing, changes_operands, narrows_elements, combines_nothing, compares_elements,
  operator_changes, functor_before, algorithm_before, root, no_root, no_output, no_init, displacements, skeleton, value
};

struct left_out {};

/// An output of const elements (views.hpp: also of some that lie apart).
template <class T>
inline constexpr bool is_constant = elements<T> && lasting_range<T> && !writable_range<T>;
template <class T>
inline constexpr bool is_constant_value = !elements<T> && !stands_for_elements<std::remove_reference_t<T>> &&
                                          std::is_const_v<std::remove_reference_t<T>>;
/// Of volatile elements, or one.
template <class T>
inline constexpr bool is_volatile = std::is_volatile_v<std::remove_reference_t<T>>;
template <std::ranges::range R>
inline constexpr bool is_volatile<R> = std::is_volatile_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

/// Another header has forms of a call for an argument of type T.
template <class T>
inline constexpr bool has_forms_elsewhere = false;

/// The element type of an argument.
template <class T>
struct element_in { using type = std::remove_cv_t<T>; };
template <class T>
struct element_in<T*> : element_in<T> {};
template <std::ranges::range R>
struct element_in<R> { using type = std::ranges::range_value_t<R>; };
template <class R>
struct element_in<in_place_range<R>> { using type = std::ranges::range_value_t<R>; };
template <class T>
struct element_in<boost::mpi::inplace_t<T>> : element_in<T> {};
template <class T>
using element_in_t = typename element_in<std::remove_reference_t<T>>::type;

template <class T>
concept number = std::is_arithmetic_v<std::remove_cvref_t<T>>;
template <class T>
concept whole_number = std::is_integral_v<std::remove_cvref_t<T>>;
template <class T>
concept pointer = std::is_pointer_v<std::remove_cvref_t<T>>;
template <class T>
concept has_data = requires(T& x) { { x.data() } -> pointer; };

template <class T>
inline constexpr bool locates = std::is_same_v<std::remove_cvref_t<T>, maxloc> ||
                                std::is_same_v<std::remove_cvref_t<T>, minloc>;

/// A tag of the library's kind: elements and functors may have a constant name as well.
template <class T>
inline constexpr bool is_algorithm = algorithm<T> && (
    is_decided_at_run_time<std::remove_cvref_t<T>> || []<std::size_t... C>(std::index_sequence<C...>) {
      return (offers<std::remove_cvref_t<T>, static_cast<collective>(C), char, no_functor> || ...);
    }(std::make_index_sequence<collective_count>{}));

/// A string that can not be an output.
template <class T>
inline constexpr bool is_name = std::is_convertible_v<T, std::string_view> && !is_algorithm<T> &&
                                (std::is_const_v<std::remove_reference_t<T>> || !std::is_lvalue_reference_v<T> ||
                                 std::is_same_v<std::decay_t<T>, char const*>);

/// An argument that may be meant as functor: a function, or an object that is nothing else.
template <class T>
inline constexpr bool may_be_functor =
    std::is_function_v<std::remove_pointer_t<std::remove_reference_t<T>>> ||
    (std::is_class_v<std::remove_reference_t<T>> && !std::ranges::range<T> && !has_data<T> && !is_algorithm<T> &&
     !stands_in_place<std::remove_cvref_t<T>> && !communicator<std::remove_cvref_t<T>>);

/// A container that can not be sent as one value.
template <class T>
constexpr mistaken mistaken_container() {
  if constexpr (std::is_same_v<std::remove_cvref_t<T>, std::vector<bool>>) return mistaken::bits;
  else if constexpr (has_data<T> && requires(T& x) { x.num_elements(); }) return mistaken::grid;
  else if constexpr (has_data<T> && !contiguous<T> && requires(T& x) { x.size(); }) return mistaken::matrix;
  else if constexpr (std::ranges::range<T> && !contiguous<T>) return mistaken::apart;
  else return mistaken::something;
}

/// A functor such as std::plus<>, which calls an operator of the elements.
template <class T>
inline constexpr bool calls_operator = requires { typename std::remove_cvref_t<T>::is_transparent; };

/// The mistake in a functor that should combine E.
template <class E, class... Arguments>
constexpr mistaken mistaken_functor() {
  if constexpr (std::is_class_v<E> && !std::is_move_assignable_v<E>) return mistaken::unassignable;
  else if constexpr ((locates<Arguments> || ...)) return mistaken::locates;
  else if constexpr ((compares<std::remove_cvref_t<Arguments>> || ...)) return mistaken::compares_elements;
  else if constexpr ((std::is_member_pointer_v<Arguments> || ...)) return mistaken::combines_nothing;
  else if constexpr ((std::is_invocable_r_v<E, Arguments&, E const&, E const&> || ...))
    return mistaken::narrows_elements;
  else if constexpr ((std::is_invocable_v<Arguments&, E const&, E const&> || ...)) return mistaken::returns_nothing;
  else if constexpr ((std::is_invocable_v<Arguments&, E&, E const&> || ...) ||
                     (std::is_invocable_v<Arguments&, E&, E&> || ...))
    return (calls_operator<Arguments> || ...) ? mistaken::operator_changes : mistaken::changes_operands;
  else if constexpr (std::is_array_v<E>) return mistaken::rows;
  else if constexpr ((may_be_functor<Arguments> || ...)) return mistaken::combines_nothing;
  else return mistaken::no_functor;
}

/// The index of the functor for E among the arguments; their number if there is none.
template <class E, class... Arguments>
constexpr std::size_t place_of_functor() {
  std::size_t place = 0;
  bool found = false;
  ((found = found || functor_on<Arguments, E>, place += found ? 0 : 1), ...);
  return place;
}

/// An algorithm that is not the last argument.
template <class... Arguments>
constexpr bool has_algorithm_before() {
  std::size_t place = 0;
  return ((++place < sizeof...(Arguments) && is_algorithm<Arguments>) || ...);
}

/// The root would be rounded.
template <collective C, class... Arguments>
constexpr bool has_fractional_root() {
  bool last = false;
  ((last = is_algorithm<Arguments> ? last : std::is_floating_point_v<std::remove_cvref_t<Arguments>>), ...);
  return has_root(C) && last;
}

/// The mistake in an element type.
template <class E, class Comm>
constexpr mistaken mistaken_element() {
  if constexpr (travels_over<E, Comm>) return mistaken::something;
  else if constexpr (!std::semiregular<E>) return mistaken::uncopyable;
  else return mistaken::unserialised;
}

/// The number of ranges that a call may have: input, output, and counts.
constexpr int most_ranges(collective c) {
  return c == collective::all_to_all_v || c == collective::exchange ? 4 : has_counts(c) ? 3 : 2;
}

/// A functor before the ranges that it combines, or between them.
template <collective C, class First, class Second, class Third>
inline constexpr bool stands_before_ranges = [] {
  if constexpr (!combines(C)) return false;
  else if constexpr (elements<First> && elements<Third>) return functor_on<Second, element_in_t<First>>;
  else if constexpr (may_be_functor<First> && elements<Second>) return functor_on<First, element_in_t<Second>>;
  else return false;
}();

template <class R>
inline constexpr bool is_list_of_others = std::ranges::range<R> && number<element_in_t<R>> && !integers<R>;

/// The mistake in where counts stand, or in what they are, of a call that takes some. `first`: before the output.
template <bool first, class In, class Second, class Third, class Fourth>
constexpr mistaken mistaken_counts() {
  constexpr bool like_second = elements_like<Second, In>, like_third = elements_like<Third, In>;
  constexpr bool no_counts = first ? is_list_of_others<Second> && like_third : like_second && is_list_of_others<Third>;
  if constexpr (no_counts) return mistaken::counts;
  else if constexpr (first || like_second) return mistaken::something;
  else if constexpr (integers<Third> && elements_like<Fourth, In>) return mistaken::displacements;
  else return like_third || elements_like<Third, Second> ? mistaken::order : mistaken::something;
}

template <collective C, made How, class... Arguments>
constexpr mistaken mistaken_in() {
  using enum collective;
  constexpr std::size_t n = sizeof...(Arguments);
  using all = std::tuple<Arguments..., left_out, left_out, left_out, left_out, left_out>;
  using comm = std::remove_cvref_t<std::tuple_element_t<0, all>>;
  using first = std::tuple_element_t<1, all>;
  using second = std::tuple_element_t<2, all>;
  using third = std::tuple_element_t<3, all>;
  constexpr bool has_counts_first = C == scatterv || C == all_to_all_v || (C == exchange && std::ranges::range<third>);
  using next = std::conditional_t<has_counts_first, std::tuple_element_t<3, all>, second>;
  using out = std::conditional_t<C == broadcast, first, next>;
  using last = std::tuple_element_t<(n > 0 ? n - 1 : 0), all>;
  constexpr std::size_t before_algorithm = n - is_algorithm<last>;
  using last_but_algorithm = std::tuple_element_t<(before_algorithm > 0 ? before_algorithm - 1 : 0), all>;
  using E = element_in_t<first>;
  constexpr mistaken counts = [&] {
    if constexpr ((has_counts(C) || has_counts_first) && elements<first> && elements<second>)
      return mistaken_counts<has_counts_first, first, second, third, std::tuple_element_t<4, all>>();
    else return mistaken::something;
  }();
  constexpr bool two_ranges = elements<first> && elements<second>;
  using whole = std::remove_cvref_t<first>;
  using in_question = std::conditional_t<stands_in_place<whole>, std::add_lvalue_reference_t<E>, first>;
  constexpr bool combines_whole = [] {   // one value is meant; a sum of matrices is one of their elements as well
    if constexpr (!combines(C) || contiguous<first>) return false;
    else if constexpr (has_data<first> && (std::is_same_v<std::remove_cvref_t<Arguments>, std::plus<>> || ...))
      return false;
    else return place_of_functor<whole, Arguments...>() < n;
  }();
  constexpr mistaken container = combines_whole ? mistaken::something
                                 : mistaken_container<in_question>() != mistaken::something
                                     ? mistaken_container<in_question>()
                                     : mistaken_container<next>();
  constexpr std::size_t functor_at = [] {
    if constexpr (combines_whole) return place_of_functor<whole, Arguments...>();
    else if constexpr (container == mistaken::something && combines(C) && !std::is_void_v<E>)
      return place_of_functor<E, Arguments...>();
    else return n;
  }();
  constexpr mistaken element = [] {
    if constexpr (container != mistaken::something || std::is_void_v<E>) return mistaken::something;
    else if constexpr (combines_whole) return mistaken_element<whole, comm>();
    else if constexpr (!combines(C) || functor_at < n) return mistaken_element<E, comm>();
    else if constexpr (place_of_functor<whole, Arguments...>() < n) return mistaken_element<whole, comm>();
    else return mistaken::something;
  }();
  if constexpr (!communicator<comm>) return mistaken::communicator;
  else if constexpr (n < 2) return mistaken::something;
  else if constexpr (has_algorithm_before<Arguments...>()) return mistaken::algorithm_before;
  else if constexpr (stands_before_ranges<C, first, second, third>) return mistaken::functor_before;
  else if constexpr (is_part<whole> || written_archive<whole> || read_archive<whole>) return mistaken::skeleton;
  else if constexpr (has_fractional_root<C, Arguments...>()) return mistaken::root;
  else if constexpr ((n > 2 || C == barrier) && is_name<last>) return mistaken::name;
  else if constexpr ((is_volatile<Arguments> || ...)) return mistaken::changing;
  else if constexpr (is_constant<out> || (C == broadcast && is_constant_value<out>)) return mistaken::constant_output;
  else if constexpr (container != mistaken::something) return container;
  else if constexpr (std::is_void_v<E> || std::is_void_v<element_in_t<second>>) return mistaken::untyped;
  else if constexpr (address<E>) return mistaken::addresses;
  else if constexpr (element != mistaken::something) return element;
  else if constexpr ((pointer<first> && (!whole_number<second> || (C == broadcast && !whole_number<third>))) ||
                     (whole_number<first> && pointer<second>))
    return mistaken::pointer;
  else if constexpr (counts != mistaken::something) return counts;
  else if constexpr (two_ranges && element_of_range<whole, second> && !travels_over<whole, comm>)
    return mistaken_element<whole, comm>();
  else if constexpr (two_ranges && !elements_like<second, first> && !has_counts_first &&
                     !element_of_range<std::remove_cvref_t<first>, second>) return mistaken::types;
  else if constexpr (number<first> && number<second> && n > 3 && combines(C) && std::is_lvalue_reference_v<second> &&
                     !std::is_same_v<std::remove_cvref_t<first>, std::remove_cvref_t<second>>) return mistaken::types;
  else if constexpr (elements<out> && !lasting_range<out>) return mistaken::temporary_output;
  else if constexpr (How != made::at_once && elements<first> && !lasting_range<first>) return mistaken::temporary_input;
  else if constexpr (!has_root(C) && whole_number<last_but_algorithm> && before_algorithm ==
                     (combines(C) ? functor_at + 2 : !two_ranges ? 0 : has_counts(C) ? 5 : 4)) return mistaken::no_root;
  else if constexpr (combines(C) && functor_at == n) return mistaken_functor<E, Arguments...>();
  else if constexpr (C == reduce && !whole_number<last_but_algorithm>) return mistaken::root;
  else if constexpr (pointer<first>) return mistaken::pointer_and_count;
  else if constexpr (combines(C) && elements<first> && functor_at == 2) return mistaken::no_output;
  else if constexpr (C == exclusive_scan && functor_at == (elements<first> ? 3 : 2)) return mistaken::no_init;
  else if constexpr (has_root(C) && !whole_number<last_but_algorithm>) return mistaken::root;
  else if constexpr ((0 + ... + int{std::ranges::range<Arguments>}) > most_ranges(C)) return mistaken::displacements;
  else if constexpr ((has_counts(C) || has_counts_first) && !whole_number<E> &&
                     ((is_list_of_others<Arguments> && !std::is_same_v<element_in_t<Arguments>, E>) || ...))
    return mistaken::counts;
  else if constexpr (How != made::at_once && !elements<first> && !stands_in_place<whole>) return mistaken::value;
  else return mistaken::something;
}

}  // namespace colligo
