// SPDX-License-Identifier: BSL-1.0
/// @file
/// The number of members of an aggregate.
#pragma once

#include "mode.hpp"

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace colligo::inline COLLIGO_MODE::detail {

template <class T>
concept tuple_like = requires { std::tuple_size<T>::value; };

struct any_member {
  template <class T>
  operator T() const;
};
/// Each number of members takes a line of its own (each_member.hpp), so there is a limit.
inline constexpr std::size_t most_members = 8;
/// The number of members of an aggregate with at most that many; an array counts as many members as it has elements.
template <class T, class... Members>
constexpr std::size_t members_of_aggregate() {
  if constexpr (sizeof...(Members) <= most_members && requires { T{Members{}..., any_member{}}; })
    return members_of_aggregate<T, Members..., any_member>();
  else return sizeof...(Members);
}
template <class T>
constexpr std::size_t count_members() {
  if constexpr (tuple_like<T>) return std::tuple_size_v<T>;
  else if constexpr (std::is_aggregate_v<T> && !std::is_array_v<T>) return members_of_aggregate<T>();
  else return 0;
}
}  // namespace colligo
