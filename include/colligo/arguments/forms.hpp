// SPDX-License-Identifier: BSL-1.0
/// @file
/// Arguments other than ranges: single values, a pointer and a count, containers that are resized, Boost.MPI's inplace.
/// Public headers make ranges of them and call their form for ranges.
#pragma once

#include <concepts>
#include <cstddef>
#include <vector>

#include "call_arguments.hpp"

// Only declared, so that this header needs no Boost.
namespace boost::mpi {
class communicator;
class content;
class packed_iarchive;
class packed_oarchive;
class packed_skeleton_iarchive;
class packed_skeleton_oarchive;
template <class T> struct inplace_t;
template <class T> struct skeleton_proxy;
}

namespace colligo::inline COLLIGO_MODE {

/// The ranks' contributions one after the other, and the number of each rank's elements.
template <class T>
struct gathered {
  static_assert(std::default_initializable<T>,
                "colligo: elements that a call returns need a default constructor: give the call an output and counts");
  static_assert(!std::same_as<T, bool>,
                "colligo: std::vector<bool> has bits instead of elements: give the call an output and counts");
  std::vector<T> data;
  std::vector<std::size_t> counts;
};

/// A container that broadcast resizes to the root's size: see resized().
template <class R>
struct resized_container {
  R& elements;
};

namespace detail {

/// views.hpp has a form of a call for these arguments.
template <collective C, made How, class Comm, class... Arguments>
inline constexpr bool has_form_for_views = false;

/// A container that can be resized.
template <class R>
concept resizable = elements<R> && std::default_initializable<std::ranges::range_value_t<R>> &&
                    requires(R& r) { r.resize(std::size_t{}); };

/// in_place() of this library or inplace() of Boost.MPI.
template <class T>
inline constexpr bool is_boost_in_place = false;
template <class T>
inline constexpr bool is_boost_in_place<boost::mpi::inplace_t<T>> = !std::is_pointer_v<T>;
template <class T>
concept stands_in_place = is_in_place<T> || is_boost_in_place<T>;

/// op combines the elements of such a range. A string that op can combine as a whole is one value, as in Boost.MPI.
/// Testing a generic lambda compiles its body, and an error there is no failed constraint: so it is tested with a whole
/// container last, and only if the container can be one value.
template <class Op, class R>
concept functor_on_elements = (!is_text<std::remove_cvref_t<R>> || !functor_on<Op, std::remove_cvref_t<R>>) &&
                              functor_on<Op, std::ranges::range_value_t<R>>;

/// op combines two values of type T as a whole, not their elements.
template <class Op, class T>
concept functor_on_values = !stands_in_place<T> && !functor_on_elements<Op, T> && functor_on<Op, T>;

/// Ranges whose elements op combines. In an unqualified call Boost.MPI's form (T const&, T&, Op) would accept them if
/// this library had no form with the same parameters and this constraint. Op has no state, because that form copies it.
template <class Op, class T>
concept functor_without_state_on_elements = elements<T> && std::is_empty_v<Op> && functor_on_elements<Op, T>;

/// Arguments of Boost.MPI beside values: an archive, written or to be read; an object's shape, or its values.
template <class T>
concept written_archive = std::is_same_v<std::remove_const_t<T>, boost::mpi::packed_oarchive> ||
                          std::is_same_v<std::remove_const_t<T>, boost::mpi::packed_skeleton_oarchive>;
template <class T>
concept read_archive = std::is_same_v<std::remove_const_t<T>, boost::mpi::packed_iarchive> ||
                       std::is_same_v<std::remove_const_t<T>, boost::mpi::packed_skeleton_iarchive>;
template <class T>
inline constexpr bool is_part = std::is_same_v<T, boost::mpi::content>;
template <class T>
inline constexpr bool is_part<boost::mpi::skeleton_proxy<T>> = true;

/// A type that may be sent as one value: no address, in-place argument, archive, skeleton or content.
template <class T>
concept single = !address<T> && !stands_in_place<T> && !written_archive<T> && !read_archive<T> &&
                 !is_part<std::remove_const_t<T>>;

/// A range with the element type of In.
template <class R, class In>
concept elements_like = elements<R> && std::is_same_v<std::ranges::range_value_t<R>, std::ranges::range_value_t<In>>;

template <class R, class In>
concept output_like = output<R> && elements_like<R, In>;

/// The constraints of calls<C> on a request's arguments. A blocking call has checked its own by then; only the in-place
/// form has to be excluded.
template <class R, made How, class Comm>
concept input_of = (How == made::at_once && !stands_in_place<std::remove_cvref_t<R>>) || lasting_over<R, Comm>;
template <class R, made How, class In>
concept output_of = How == made::at_once || output_like<R, In>;
template <class Op, made How, class R>
concept functor_of = How == made::at_once || functor_on_elements<Op, R>;

/// T is the element type of R.
template <class T, class R>
concept element_of_range = std::ranges::contiguous_range<R> && std::is_same_v<std::ranges::range_value_t<R>, T>;
/// A container or a view of such elements; an array counts as a pointer.
template <class R, class T>
concept room_for = output<R> && element_of_range<T, R> && !std::is_array_v<std::remove_reference_t<R>>;

/// The same, or a pointer to them.
template <class R, class T>
concept place_for = room_for<R, T> || std::is_same_v<std::decay_t<R>, T*>;

/// A pointer; an array is a range.
template <class P, class T>
concept pointer_to = std::is_same_v<std::remove_cvref_t<P>, T*>;

template <class T>
std::span<T> one(T& value) { return {std::addressof(value), 1}; }
template <class T>
std::span<T const> constant(std::span<T> elements) { return elements; }

/// n elements from here on.
template <collective C, communicator Comm, class T, std::integral N>
std::span<T> counted(Comm const& comm, T* first, N n) {
  if (std::cmp_less(n, 0)) [[unlikely]] call_arguments<C, Comm>(comm).require_count(n);
  return {first, static_cast<std::size_t>(n)};
}

/// n elements for every rank from here on.
template <collective C, communicator Comm, class T>
std::span<T> counted_for_all(Comm const& comm, T* first, std::size_t n) {
  return {first, n * static_cast<std::size_t>(call_arguments<C, Comm>(comm).size())};
}

/// The container, resized to n elements if possible. If that fails, reports it to the other ranks.
template <class Arguments, class R>
R& with_size(Arguments const& arguments, R& out, std::size_t n) {
  if constexpr (resizable<R>)
    if (std::ranges::size(out) != n) arguments.attempt([&] { out.resize(n); });
  return out;
}
/// Resizes an empty container, as Boost.MPI does; any other has to fit.
template <class Arguments, class R>
void fill_empty(Arguments const& arguments, R& out, std::size_t n) {
  if (std::ranges::size(out) == 0) [[unlikely]] with_size(arguments, out, n);
}

/// Room for n elements of every rank; a container is resized.
template <collective C, class T, communicator Comm, class Out>
std::span<T> room_for_all(Comm const& comm, Out& out, std::size_t n) {
  call_arguments<C, Comm> const arguments(comm);
  std::size_t const all = n * static_cast<std::size_t>(arguments.size());
  if constexpr (room_for<Out&, T>) return with_size(arguments, out, all);
  else return std::span<T>(out, all);
}
/// The sum of the counts; negative ones, which are refused later, count as 0.
template <integers Counts>
std::size_t sum_of(Counts const& counts) {
  std::size_t sum = 0;
  for (auto const count : counts) sum += std::cmp_less(count, 0) ? 0 : static_cast<std::size_t>(count);
  return sum;
}
/// Requires the root's counts to equal those of the ranks.
template <collective C, communicator Comm, integers Sizes>
void require_counts(Comm const& comm, Sizes const& sizes, std::span<std::size_t const> counts, int root) {
  call_arguments<C, Comm> const arguments(comm);
  if (!arguments.at(root)) return;
  arguments.require_size(std::ranges::size(sizes), counts.size(), "the list of sizes");
  auto count = counts.begin();
  for (auto const size : sizes) {
    arguments.require_count(size);
    arguments.require_size(static_cast<std::size_t>(size), *count++, "the root's block of a rank");
  }
}
/// A stretch of the elements.
template <class T>
std::span<T> stretch_of(std::span<T> elements, range part) { return elements.subspan(part.first, part.size()); }

/// The elements of an in-place argument.
template <class T>
auto span_of(in_place_range<T> both) { return both.elements; }
template <class T>
auto span_of(boost::mpi::inplace_t<T> const& both) { return in_place(both.buffer).elements; }

template <class Both>
using element_in_place = typename decltype(span_of(std::declval<Both>()))::value_type;
template <class Both>
using overloaded_in = overloaded_on<decltype(span_of(std::declval<Both>()))>;
template <class Both, class Comm>
concept in_place_over = stands_in_place<Both> && travels_over<element_in_place<Both>, Comm>;

/// The argument of Boost.MPI's inplace may be one value for op, even if it is a container.
template <class Op, class Both>
inline constexpr bool combines_whole = false;
template <class Op, class T>
inline constexpr bool combines_whole<Op, boost::mpi::inplace_t<T>> = functor_on<Op, T>;
template <class Op, class Both>
concept functor_in_place = functor_on<Op, element_in_place<Both>> || combines_whole<Op, Both>;
template <class Op, class Both>
auto span_for(Both const& both) {
  if constexpr (functor_on<Op, element_in_place<Both>>) return span_of(both);
  else return one(both.buffer);
}

}  // namespace detail
}  // namespace colligo
