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

/// Sorts by key(element); elements of equal keys keep their order. std::stable_sort does the same, but in libstdc++ by
/// what C++20 deprecates: users' compilers would warn.
template <class Elements, class Key>
void sort_stably(Elements& all, Key key) {
  using T = std::remove_cvref_t<decltype(*all.begin())>;
  std::vector<std::pair<std::remove_cvref_t<decltype(key(*all.begin()))>, std::size_t>> order;
  order.reserve(all.size());
  for (T const& one : all) order.emplace_back(key(one), order.size());
  std::sort(order.begin(), order.end());
  std::vector<T> sorted;
  sorted.reserve(all.size());
  for (auto const& [_, i] : order) sorted.push_back(std::move(all[i]));
  std::move(sorted.begin(), sorted.end(), all.begin());
}

}  // namespace colligo
