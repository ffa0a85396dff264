// SPDX-License-Identifier: BSL-1.0
/// @file
/// Sorting that keeps the order of equals.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "mode.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The places of the elements in ascending order of key(element); elements of equal keys keep their order.
template <class Elements, class Key>
COLLIGO_CONSTEXPR std::vector<std::size_t> stable_order(Elements const& all, Key key) {
  std::vector<std::pair<std::remove_cvref_t<decltype(key(*all.begin()))>, std::size_t>> order;
  order.reserve(all.size());
  for (auto const& one : all) order.emplace_back(key(one), order.size());
  std::sort(order.begin(), order.end());
  std::vector<std::size_t> places;
  places.reserve(order.size());
  for (auto const& each : order) places.push_back(each.second);
  return places;
}

/// Sorts by key(element); elements of equal keys keep their order. std::stable_sort does the same, but in libstdc++ by
/// what C++20 deprecates: users' compilers would warn.
template <class Elements, class Key>
COLLIGO_CONSTEXPR void sort_stably(Elements& all, Key key) {
  std::vector<std::remove_cvref_t<decltype(*all.begin())>> sorted;
  sorted.reserve(all.size());
  for (std::size_t const i : stable_order(all, key)) sorted.push_back(std::move(all[i]));
  std::move(sorted.begin(), sorted.end(), all.begin());
}

}  // namespace colligo
