// SPDX-License-Identifier: BSL-1.0
/// @file
/// From a tag to the text that runs: a tag names an algorithm and holds its knobs, the policy nested in it is a template on
/// element type and functor (Tag::all_reduce<T, Op>, Tag::reduce<T, Op>, ...).
#pragma once

#include <array>
#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

#include "renumbered.hpp"

namespace colligo {

/// The collectives of the library.
enum class collective { all_reduce, reduce };

inline constexpr std::array collectives{collective::all_reduce, collective::reduce};

constexpr std::string_view name_of(collective c) {
  constexpr std::array<std::string_view, collectives.size()> names{"all_reduce", "reduce"};
  return names[static_cast<std::size_t>(c)];
}

/// The variable that overrides `automatic` for this collective.
constexpr std::string_view environment_variable(collective c) {
  constexpr std::array<std::string_view, collectives.size()> names{"COLLIGO_ALL_REDUCE", "COLLIGO_REDUCE"};
  return names[static_cast<std::size_t>(c)];
}

/// Anything that can stand as the last argument of a collective: a tag, named("..."), automatic{}.
template <class Tag>
concept algorithm = requires { { std::remove_cvref_t<Tag>::name } -> std::convertible_to<std::string_view>; };

namespace detail {

template <collective C, class Tag, class T, class Op>
struct policy_of {};
template <class Tag, class T, class Op>
  requires requires { typename Tag::template all_reduce<T, Op>; }
struct policy_of<collective::all_reduce, Tag, T, Op> { using type = typename Tag::template all_reduce<T, Op>; };
template <class Tag, class T, class Op>
  requires requires { typename Tag::template reduce<T, Op>; }
struct policy_of<collective::reduce, Tag, T, Op> { using type = typename Tag::template reduce<T, Op>; };

template <class Policy>
constexpr bool any_size() {
  if constexpr (requires { Policy::any_size; }) return Policy::any_size;
  else return true;
}

}  // namespace detail

/// The tag has an algorithm for this collective.
template <class Tag, collective C, class T, class Op>
concept offers = requires { typename detail::policy_of<C, Tag, T, Op>::type; };

/// The policy itself, or the policy in the wrapper that lifts its restriction to p = 2^k.
template <collective C, class Tag, class T, class Op>
  requires offers<Tag, C, T, Op>
constexpr auto make_policy(Tag const& tag) {
  using policy = typename detail::policy_of<C, Tag, T, Op>::type;
  auto const made = [&] {
    if constexpr (requires { policy{tag}; }) return policy{tag};
    else return policy{};
  }();
  if constexpr (detail::any_size<policy>()) return made;
  else return folded<policy, T>{made};
}

template <collective C, class Tag, class T, class Op>
using policy_t = decltype(make_policy<C, Tag, T, Op>(std::declval<Tag const&>()));

/// Operands stay in rank order: any associative functor will do. A policy that does not say so is taken to reorder.
template <class Policy>
constexpr bool keeps_order() {
  if constexpr (requires { Policy::ordered; }) return Policy::ordered;
  else return false;
}

/// All ranks get the same bits even where the functor is only nearly associative, as sums of floating point numbers are.
template <class Policy>
constexpr bool gives_same_bits() {
  if constexpr (requires { Policy::same_bits; }) return Policy::same_bits;
  else return false;
}

/// The text folds the rank's own contribution again after it has been combined, so it must outlive the result.
template <class Policy>
constexpr bool keeps_input() {
  if constexpr (requires { Policy::keeps_input; }) return Policy::keeps_input;
  else return false;
}

}  // namespace colligo
