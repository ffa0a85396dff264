// SPDX-License-Identifier: BSL-1.0
/// @file
/// Calls that no form accepts: the compiler's message says what to write. A correct call instantiates nothing of this.
#pragma once

#include <concepts>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "forms.hpp"

namespace colligo::inline COLLIGO_MODE {
namespace detail {

/// Converts to any result, so that the message is the only error.
struct mistake {
  template <class T>
  operator T() const;
  void start() const, wait() const;
  bool test() const;
  /// Printing it would list all conversions.
  template <class Out>
  friend Out& operator<<(Out& out, mistake const&) { return out; }
};

enum class mistaken {
  something,           ///< the message lists the call's forms
  communicator,        ///< the first argument is none
  name,                ///< an algorithm's name as a string
  addresses,           ///< as elements
  uncopyable,          ///< elements that are not trivially copyable
  unserialised,        ///< elements that can be neither copied as bytes nor serialised
  bits,                ///< std::vector<bool>
  apart,               ///< elements that are not contiguous
  grid,                ///< a multi-dimensional array
  matrix,              ///< no range, but it has data() and size()
  rows,                ///< an array of arrays
  untyped,             ///< void*
  pointer,             ///< without a count
  pointer_and_count,   ///< where there is no such form
  types,               ///< input and output are of different types
  temporary_input, temporary_output, constant_output,
  changing,            ///< volatile
  locates,             ///< maxloc or minloc of elements without a place that can be compared
  no_functor, returns_nothing, changes_operands, narrows_elements, combines_nothing, compares_elements,
  operator_changes,    ///< std::plus<> and its like, of elements whose operator is not const
  functor_before,      ///< the ranges
  root,                ///< missing, not at its place, or no integer
  no_output,           ///< a range and a functor alone
  no_init,
  displacements,
  skeleton,            ///< its header is missing
  value                ///< where there are ranges alone
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

/// A string that can not be an output.
template <class T>
inline constexpr bool is_name = std::is_convertible_v<T, std::string_view> && !algorithm<T> &&
                                (std::is_const_v<std::remove_reference_t<T>> || !std::is_lvalue_reference_v<T> ||
                                 std::is_same_v<std::decay_t<T>, char const*>);

/// An argument that may be meant as functor: a function, or an object that is nothing else.
template <class T>
inline constexpr bool may_be_functor =
    std::is_function_v<std::remove_pointer_t<std::remove_reference_t<T>>> ||
    (std::is_class_v<std::remove_reference_t<T>> && !std::ranges::range<T> && !has_data<T> && !algorithm<T> &&
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
  if constexpr ((locates<Arguments> || ...)) return mistaken::locates;
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

/// The root would be rounded.
template <collective C, class... Arguments>
constexpr bool has_fractional_root() {
  bool last = false;
  ((last = algorithm<Arguments> ? last : std::is_floating_point_v<std::remove_cvref_t<Arguments>>), ...);
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

template <collective C, made How, class... Arguments>
constexpr mistaken mistaken_in() {
  using enum collective;
  constexpr std::size_t n = sizeof...(Arguments);
  using all = std::tuple<Arguments..., left_out, left_out, left_out, left_out>;
  using comm = std::tuple_element_t<0, all>;
  using first = std::tuple_element_t<1, all>;
  using second = std::tuple_element_t<2, all>;
  using third = std::tuple_element_t<3, all>;
  constexpr bool has_counts_first = C == scatterv || C == all_to_all_v || (C == exchange && std::ranges::range<third>);
  using next = std::conditional_t<has_counts_first, std::tuple_element_t<3, all>, second>;
  using out = std::conditional_t<C == broadcast, first, next>;
  using last = std::tuple_element_t<(n > 0 ? n - 1 : 0), all>;
  using last_but_algorithm = std::tuple_element_t<(n > 1 && algorithm<last> ? n - 2 : n > 0 ? n - 1 : 0), all>;
  using E = element_in_t<first>;
  constexpr bool two_ranges = elements<first> && elements<second>;
  using in_question =
      std::conditional_t<stands_in_place<std::remove_cvref_t<first>>, std::add_lvalue_reference_t<E>, first>;
  using whole = std::remove_cvref_t<first>;
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
    else if constexpr (combines_whole) return mistaken_element<whole, std::remove_cvref_t<comm>>();
    else if constexpr (!combines(C) || functor_at < n) return mistaken_element<E, std::remove_cvref_t<comm>>();
    else if constexpr (place_of_functor<whole, Arguments...>() < n)
      return mistaken_element<whole, std::remove_cvref_t<comm>>();
    else return mistaken::something;
  }();
  if constexpr (!communicator<std::remove_cvref_t<comm>>) return mistaken::communicator;
  else if constexpr (n < 2) return mistaken::something;
  else if constexpr (stands_before_ranges<C, first, second, third>) return mistaken::functor_before;
  else if constexpr (is_part<std::remove_cvref_t<first>> || written_archive<std::remove_cvref_t<first>> ||
                     read_archive<std::remove_cvref_t<first>>)
    return mistaken::skeleton;
  else if constexpr (has_fractional_root<C, Arguments...>()) return mistaken::root;
  else if constexpr ((n > 2 || C == barrier) && is_name<last>) return mistaken::name;
  else if constexpr ((is_volatile<Arguments> || ...)) return mistaken::changing;
  else if constexpr (is_constant<out> || (C == broadcast && is_constant_value<out>)) return mistaken::constant_output;
  else if constexpr (container != mistaken::something) return container;
  else if constexpr (std::is_void_v<E> || std::is_void_v<element_in_t<second>>) return mistaken::untyped;
  else if constexpr (address<E>) return mistaken::addresses;
  else if constexpr (element != mistaken::something) return element;
  else if constexpr (pointer<first> && (!whole_number<second> || (C == broadcast && !whole_number<third>)))
    return mistaken::pointer;
  else if constexpr (two_ranges && element_of_range<whole, second> && !travels_over<whole, std::remove_cvref_t<comm>>)
    return mistaken_element<whole, std::remove_cvref_t<comm>>();
  else if constexpr (two_ranges && !elements_like<second, first> && !has_counts_first &&
                     !element_of_range<std::remove_cvref_t<first>, second>) return mistaken::types;
  else if constexpr (number<first> && number<second> && n > 3 && combines(C) && std::is_lvalue_reference_v<second> &&
                     !std::is_same_v<std::remove_cvref_t<first>, std::remove_cvref_t<second>>) return mistaken::types;
  else if constexpr (elements<out> && !lasting_range<out>) return mistaken::temporary_output;
  else if constexpr (How != made::at_once && elements<first> && !lasting_range<first>) return mistaken::temporary_input;
  else if constexpr (combines(C) && functor_at == n) return mistaken_functor<E, Arguments...>();
  else if constexpr (C == reduce && !whole_number<last_but_algorithm>) return mistaken::root;
  else if constexpr (pointer<first>) return mistaken::pointer_and_count;
  else if constexpr (combines(C) && elements<first> && functor_at == 2) return mistaken::no_output;
  else if constexpr (C == exclusive_scan && functor_at == (elements<first> ? 3 : 2)) return mistaken::no_init;
  else if constexpr (has_root(C) && !whole_number<last_but_algorithm>) return mistaken::root;
  else if constexpr ((0 + ... + int{std::ranges::range<Arguments>}) > most_ranges(C)) return mistaken::displacements;
  else if constexpr (How != made::at_once && !elements<first> && !stands_in_place<std::remove_cvref_t<first>>)
    return mistaken::value;
  else return mistaken::something;
}

/// The result type of a mistaken call, with the message: compilers print little context for it.
template <collective C, made How, class... Arguments>
struct answer : mistake {
  static constexpr mistaken what = mistaken_in<C, How, Arguments...>();
  static_assert(what != mistaken::communicator,
                "colligo: the first argument is no communicator of the library: for an MPI_Comm write "
                "colligo::mpi_communicator(comm)");
  static_assert(what != mistaken::name,
                "colligo: an algorithm is a tag or a name: write colligo::ring{} or colligo::named(\"ring\")");
  static_assert(what != mistaken::addresses,
                "colligo: elements that are addresses (pointers, references, spans, string_views) mean nothing on "
                "another rank: send what they point to");
  static_assert(what != mistaken::uncopyable,
                "colligo: this element type can not be sent: it is not trivially copyable, and has no copy or no "
                "default constructor (std::unique_ptr has no copy): send what it holds");
  static_assert(what != mistaken::unserialised,
                "colligo: this element type can not be sent: make it trivially copyable, or, with Boost.MPI, give it a "
                "Boost.Serialization serialize() (for those of the standard library include "
                "<boost/serialization/vector.hpp>, <boost/serialization/map.hpp>, <boost/serialization/utility.hpp> "
                "for std::pair ...), or specialise "
                "colligo::travels_as_bytes if it can be copied byte by byte (a class with a private std::pair, a "
                "matrix of fixed size)");
  static_assert(what != mistaken::bits,
                "colligo: std::vector<bool> has bits instead of elements: write std::vector<char>");
  static_assert(what != mistaken::apart,
                "colligo: elements have to be contiguous, one after the other in memory (std::vector, std::array, "
                "std::span ...): copy those of a list, a deque, a map or a view into a std::vector");
  static_assert(what != mistaken::grid,
                "colligo: for a multi-dimensional array write std::span(its.data(), its.num_elements())");
  static_assert(what != mistaken::matrix,
                "colligo: this is no range of elements: write std::span(its.data(), its.size())");
  static_assert(what != mistaken::rows,
                "colligo: the elements of an array of arrays are arrays, which the functor does not combine: write "
                "std::span(&its[0][0], count)");
  static_assert(what != mistaken::untyped,
                "colligo: a void* has no element type: write std::span(pointer, count), and in_place(range) for "
                "MPI_IN_PLACE");
  static_assert(what != mistaken::pointer,
                "colligo: a pointer does not say how many elements there are: write std::span(pointer, count)");
  static_assert(what != mistaken::pointer_and_count,
                "colligo: this collective has no form for a pointer and a count: write std::span(pointer, count)");
  static_assert(what != mistaken::types, "colligo: input and output must have the same element type");
  static_assert(what != mistaken::temporary_output,
                "colligo: the output is a temporary, which is destroyed when the call returns: give it a name; a view "
                "(std::span) of a named object may be a temporary");
  static_assert(what != mistaken::constant_output, "colligo: the output is const: the call can not write to it");
  static_assert(what != mistaken::changing, "colligo: volatile elements can not be sent: copy them");
  static_assert(what != mistaken::temporary_input,
                "colligo: a request reads its input until it is complete, but a temporary is destroyed before: give it "
                "a name, and keep it until wait()");
  static_assert(what != mistaken::locates, "colligo: maxloc and minloc combine values with their places: write "
                "colligo::located<T, Index>{value, index}, both with operator< (an Index is an integer, a "
                "std::pair{rank, i} ...), or colligo::maximum for the value alone");
  static_assert(what != mistaken::no_functor,
                "colligo: a functor is missing, a callable T(T const&, T const&): std::plus<>{} for MPI_SUM, "
                "colligo::maximum{} for MPI_MAX, std::logical_and<>{} for MPI_LAND, a lambda ...");
  static_assert(what != mistaken::returns_nothing,
                "colligo: the functor has to return the combination of two elements, as a value of their type");
  static_assert(what != mistaken::changes_operands,
                "colligo: the functor must not change its operands: take them as T const&, and return the result");
  static_assert(what != mistaken::operator_changes,
                "colligo: the operator that the functor calls must not change its operands: declare it as "
                "T operator+(T const&) const, or as a function of two T const&");
  static_assert(what != mistaken::functor_before, "colligo: the functor comes after the ranges: (comm, in, out, op)");
  static_assert(what != mistaken::compares_elements,
                "colligo: std::less and its like compare, and a bool is no combination of two elements: write "
                "colligo::minimum{} or colligo::maximum{}");
  static_assert(what != mistaken::narrows_elements,
                "colligo: the functor's result can not hold all values of the elements (std::plus<int> on double): "
                "write std::plus<>{}, or let it return the elements' type");
  static_assert(what != mistaken::combines_nothing,
                "colligo: the functor does not combine two elements: op(a, b) has to return one of their type; "
                "std::plus<>{} needs their operator+, and arrays and containers have none");
  static_assert(what != mistaken::root,
                "colligo: the root, a rank and so an integer, is the last argument (but for an algorithm): "
                "reduce(comm, in, out, op, root), broadcast(comm, range, root), gather(comm, in, out, root)");
  static_assert(what != mistaken::no_output,
                "colligo: a range without an output: write in_place(range), or give an output, for the elements one by "
                "one");
  static_assert(what != mistaken::no_init,
                "colligo: exclusive_scan of ranges, and of what has no default constructor, has a value for rank 0 "
                "before the functor: exclusive_scan(comm, in, out, init, op)");
  static_assert(what != mistaken::displacements,
                "colligo: blocks lie one after the other in the order of ranks; displacements are for "
                "all_gatherv(comm, in, out, counts, displs), gatherv(comm, in, out, counts, displs, root), "
                "scatterv(comm, in, counts, displs, out, root) and all_to_all_v(comm, in, counts, displs, out, "
                "out_counts, out_displs)");
  static_assert(what != mistaken::skeleton,
                "colligo: broadcast alone takes skeletons, contents and archives: include <colligo/skeleton.hpp>");
  static_assert(what != mistaken::value,
                "colligo: requests and persistent collectives take ranges, which stay where they are: for one value "
                "write std::span(&value, 1)");
  // The message lists the forms.
  template <collective Its>
  static constexpr bool lists = C == Its && what == mistaken::something;
  static_assert(!lists<collective::all_reduce>,
                "colligo: all_reduce takes (comm, in, out, op), (comm, in_place(range), op), (comm, value, op), and "
                "an algorithm after them");
  static_assert(!lists<collective::reduce>,
                "colligo: reduce takes (comm, in, out, op, root), (comm, in_place(range), op, root), (comm, value, "
                "op, root), and an algorithm after them");
  static_assert(!lists<collective::broadcast>,
                "colligo: broadcast takes (comm, range, root), (comm, value, root), and an algorithm after them");
  static_assert(!lists<collective::all_gather>,
                "colligo: all_gather takes (comm, in, out), (comm, in_place(range)), (comm, value, out), and an "
                "algorithm after them");
  static_assert(!lists<collective::all_gatherv>,
                "colligo: all_gatherv takes (comm, in, out, counts), (comm, in_place(range), counts), (comm, in), "
                "and an algorithm after them");
  static_assert(!lists<collective::gather>,
                "colligo: gather takes (comm, in, out, root), (comm, in_place(range), root), (comm, value, out, "
                "root), and an algorithm after them");
  static_assert(!lists<collective::gatherv>,
                "colligo: gatherv takes (comm, in, out, counts, root), (comm, in_place(range), counts, root), (comm, "
                "in, root), and an algorithm after them");
  static_assert(!lists<collective::scatter>,
                "colligo: scatter takes (comm, in, out, root), (comm, in_place(range), root), and an algorithm after "
                "them");
  static_assert(!lists<collective::scatterv>,
                "colligo: scatterv takes (comm, in, counts, out, root), (comm, in_place(range), counts, root), and "
                "an algorithm after them");
  static_assert(!lists<collective::all_to_all>,
                "colligo: all_to_all takes (comm, in, out), (comm, in_place(range)), and an algorithm after them");
  static_assert(!lists<collective::all_to_all_v>,
                "colligo: all_to_all_v takes (comm, in, counts, out, out_counts), (comm, in_place(range), counts), "
                "(comm, in, counts), and an algorithm after them");
  static_assert(!lists<collective::reduce_scatter>,
                "colligo: reduce_scatter takes (comm, in, out, counts, op), and an algorithm after them");
  static_assert(!lists<collective::reduce_scatter_block>,
                "colligo: reduce_scatter_block takes (comm, in, out, op), and an algorithm after them");
  static_assert(!lists<collective::scan>,
                "colligo: scan takes (comm, in, out, op), (comm, in_place(range), op), (comm, value, op), and an "
                "algorithm after them");
  static_assert(!lists<collective::exclusive_scan>,
                "colligo: exclusive_scan takes (comm, in, out, init, op), (comm, in_place(range), init, op), (comm, "
                "value, init, op), (comm, value, op), and an algorithm after them");
  static_assert(!lists<collective::barrier>, "colligo: barrier takes (comm), and an algorithm after it");
  static_assert(!lists<collective::exchange>,
                "colligo: all_gather and all_to_all take (graph, in, out), all_to_all_v (graph, in, counts, out, "
                "out_counts), reduce (graph, in, out, op), reduce_v (graph, in, counts, out, op), and an algorithm");
};

/// The type of wait_all, wait_any and test_all of what is no range of requests.
template <class... Arguments>
struct no_requests : mistake {
  static_assert(sizeof...(Arguments) > 99, "colligo: wait_all, wait_any and test_all take one range of requests: "
                "std::vector<colligo::request>, std::array ..., or of persistent ones");
};

/// Arguments that in_place() does not accept.
template <class T>
concept can_not_stand_in_place = !stands_for_elements<std::remove_reference_t<T>> &&
                                 !requires(T&& x) { colligo::in_place(static_cast<T&&>(x)); };

}  // namespace detail

namespace by_name {

/// For arguments that can not be written: the message says why.
template <class T>
  requires detail::can_not_stand_in_place<T>
in_place_range<std::span<detail::element_in_t<T>>> in_place(T&&) {
  static_assert(!detail::can_not_stand_in_place<T> || std::is_lvalue_reference_v<T>,
                "colligo: the call writes to in_place, but a temporary is destroyed when it returns: give it a name");
  static_assert(!std::is_lvalue_reference_v<T>, "colligo: the call writes to in_place, but this is const");
  return {};
}

#define COLLIGO_NO_REQUESTS(name) \
  template <class... Arguments> \
    requires(sizeof...(Arguments) != 1 || !(detail::range_of_requests<Arguments> && ...)) \
  detail::no_requests<Arguments...> name(Arguments&&...) { return {}; }
COLLIGO_NO_REQUESTS(wait_all)
COLLIGO_NO_REQUESTS(wait_any)
COLLIGO_NO_REQUESTS(test_all)
#undef COLLIGO_NO_REQUESTS

}  // namespace by_name

}  // namespace colligo
