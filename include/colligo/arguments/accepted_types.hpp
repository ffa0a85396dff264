// SPDX-License-Identifier: BSL-1.0
/// @file
/// What calls take: ranges of elements that mean something on another rank, in_place(), and functors.
#pragma once

#include <span>   // and the concepts of ranges
#include <string>
#include <type_traits>

#include "../core/functor.hpp"
#include "../engine/call.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <class R>
concept contiguous = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                     !std::is_volatile_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;
/// A range that outlives the call: no temporary, except a view.
template <class R>
concept lasting_range = contiguous<R> && std::ranges::borrowed_range<R>;
template <class R>
concept writable_range = lasting_range<R> &&
                         !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

template <class T>
inline constexpr bool is_text = false;
template <class... Traits>
inline constexpr bool is_text<std::basic_string<Traits...>> = true;

/// Types of views.hpp.
template <class T>
inline constexpr bool stands_for_elements = false;

}  // namespace detail

/// A contiguous, sized range (std::vector, std::span, std::array ...) of elements that mean something on another rank.
template <class R>
concept elements = detail::contiguous<R> && !detail::address<std::ranges::range_value_t<R>>;

namespace detail {

/// No bool, and no character: char is neither of the two types.
template <class T>
concept standard_integer = std::is_integral_v<T> && !std::is_same_v<T, bool> &&
                           (std::is_same_v<T, std::make_signed_t<T>> || std::is_same_v<T, std::make_unsigned_t<T>>);
/// Counts or displacements.
template <class R>
concept integers = std::ranges::sized_range<R> && standard_integer<std::ranges::range_value_t<R>>;

/// Ranges that a request may read, and that a call may write.
template <class R>
concept lasting = elements<R> && lasting_range<R>;
template <class R>
concept output = elements<R> && writable_range<R>;

/// The same, of elements that can be sent over such a communicator.
template <class R, class Comm>
concept elements_over = elements<R> && travels_over<std::ranges::range_value_t<R>, Comm>;
template <class R, class Comm>
concept lasting_over = lasting<R> && elements_over<R, Comm>;
template <class R, class Comm>
concept output_over = output<R> && elements_over<R, Comm>;

}  // namespace detail

/// A range that is input and output at once: see in_place().
template <detail::contiguous R>
struct in_place_range {
  std::span<std::ranges::range_value_t<R>> elements;
};

namespace by_name {

/// Marks a range as input and output at once: all_reduce(comm, in_place(values), op). Accepts a single value too; a
/// string counts as one.
template <detail::writable_range R>
  requires(!detail::is_text<std::remove_cvref_t<R>>)
in_place_range<R> in_place(R&& range) { return {std::span(range)}; }
template <class T>
  requires(!std::is_const_v<T> && !detail::stands_for_elements<T> && (!detail::contiguous<T&> || detail::is_text<T>))
in_place_range<std::span<T>> in_place(T& value) { return {std::span(std::addressof(value), 1)}; }

}  // namespace by_name

namespace detail {

template <class R>
inline constexpr bool is_in_place = false;
template <class R>
inline constexpr bool is_in_place<in_place_range<R>> = true;

template <class Op, class T>
concept functor_of_two = !address<T> && std::is_move_assignable_v<T> && combines_two<std::remove_reference_t<Op>, T>;
template <class Op, class T>
concept functor_with_index = !address<T> && std::is_move_assignable_v<T> && takes_index<std::remove_reference_t<Op>, T>;
template <class Op, class T>
concept functor_on = functor_of_two<Op, T> || functor_with_index<Op, T>;

/// A parameter that accepts overloaded functions, such as std::max<double>, to print what to write instead.
template <class T>
struct overloaded {
  overloaded(T const& (*)(T const&, T const&)) {
    static_assert(!std::is_same_v<T, T>,
                  "colligo: the functor is a set of overloaded functions: for std::max write colligo::maximum{}, for "
                  "std::min colligo::minimum{}, for others a lambda that calls them");
  }
  overloaded(T (*)(T, T)) : overloaded(static_cast<T const& (*)(T const&, T const&)>(nullptr)) {}
  T operator()(T const& a, T const&) const requires(!elements<T>) { return a; }
};
template <class R>
using overloaded_on = overloaded<std::ranges::range_value_t<R>>;

}  // namespace detail
}  // namespace colligo
