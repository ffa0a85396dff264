// SPDX-License-Identifier: BSL-1.0
/// @file
/// each(op, op, ...): a functor on tuples, pairs, arrays and aggregates with a functor for each member, so that one
/// call makes several reductions:
///
///   colligo::all_reduce(world, std::tuple{x, y, 1L}, colligo::each(std::plus<>{}, colligo::maximum{}, std::plus<>{}));
///
/// It commutes, or is exact, if each of its functors commutes, or is exact, on its member.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include "aggregate.hpp"
#include "functor.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// T has N members that a structured binding can name. count_members() sees no more than most_members of an aggregate.
template <class T, std::size_t N>
concept has_members = N > 0 && (tuple_like<T> || N <= most_members) && count_members<std::remove_cv_t<T>>() == N;

/// References to the members. C++20 has no pack of bindings: a line for each number up to most_members.
template <std::size_t N, class T>
constexpr auto members_of(T& x) {
  if constexpr (tuple_like<std::remove_cv_t<T>>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      using std::get;
      return std::tie(get<I>(x)...);
    }(std::make_index_sequence<N>{});
  } else if constexpr (N == 1) { auto& [a] = x; return std::tie(a);
  } else if constexpr (N == 2) { auto& [a, b] = x; return std::tie(a, b);
  } else if constexpr (N == 3) { auto& [a, b, c] = x; return std::tie(a, b, c);
  } else if constexpr (N == 4) { auto& [a, b, c, d] = x; return std::tie(a, b, c, d);
  } else if constexpr (N == 5) { auto& [a, b, c, d, e] = x; return std::tie(a, b, c, d, e);
  } else if constexpr (N == 6) { auto& [a, b, c, d, e, f] = x; return std::tie(a, b, c, d, e, f);
  } else if constexpr (N == 7) { auto& [a, b, c, d, e, f, g] = x; return std::tie(a, b, c, d, e, f, g);
  } else { auto& [a, b, c, d, e, f, g, h] = x; return std::tie(a, b, c, d, e, f, g, h); }
}
template <class T, std::size_t I, std::size_t N>
using member_of = std::remove_cvref_t<std::tuple_element_t<I, decltype(members_of<N>(std::declval<T&>()))>>;

/// Each functor combines two values of its member.
template <class T, class... Ops>
concept combined_by_members = has_members<T, sizeof...(Ops)> && []<std::size_t... I>(std::index_sequence<I...>) {
  return (combines_two<Ops const, member_of<T, I, sizeof...(Ops)>> && ...);
}(std::index_sequence_for<Ops...>{});

}  // namespace detail

/// There are as many functors as members, and each can be called as const.
template <class... Ops>
class each {
 public:
  constexpr each()
    requires(sizeof...(Ops) > 0)
  = default;
  constexpr explicit each(Ops... ops) : ops_(std::move(ops)...) {}

  template <class T>
    requires detail::combined_by_members<T, Ops...>
  constexpr T operator()(T const& a, T const& b) const {
    constexpr std::size_t n = sizeof...(Ops);
    auto const left = detail::members_of<n>(a), right = detail::members_of<n>(b);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return T{static_cast<detail::member_of<T, I, n>>(std::get<I>(ops_)(std::get<I>(left), std::get<I>(right)))...};
    }(std::index_sequence_for<Ops...>{});
  }

 private:
  [[no_unique_address]] std::tuple<Ops...> ops_;
};

template <class... Ops, class T>
  requires detail::has_members<T, sizeof...(Ops)>
inline constexpr bool commutative<each<Ops...>, T> = []<std::size_t... I>(std::index_sequence<I...>) {
  return (commutative<Ops, detail::member_of<T, I, sizeof...(Ops)>> && ...);
}(std::index_sequence_for<Ops...>{});
template <class... Ops, class T>
  requires detail::has_members<T, sizeof...(Ops)>
inline constexpr bool exact<each<Ops...>, T> = []<std::size_t... I>(std::index_sequence<I...>) {
  return (exact<Ops, detail::member_of<T, I, sizeof...(Ops)>> && ...);
}(std::index_sequence_for<Ops...>{});

}  // namespace colligo
