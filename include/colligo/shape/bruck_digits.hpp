// SPDX-License-Identifier: BSL-1.0
/// @file
/// The digits of the numbers of bruck's slots.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../core/mode.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The slots of p ranks by the digit of their numbers at the place with this `weight`.
struct bruck_digits {
  int p, radix, weight;

  /// The number of digits that occur there, without zero.
  constexpr int most() const { return std::min(radix - 1, (p - 1) / weight); }
  /// Calls f(first, last) for all runs of slots with digit j.
  template <class F>
  constexpr void for_each_run(int j, F f) const {
    for (std::int64_t run = std::int64_t{j} * weight; run < p; run += std::int64_t{radix} * weight)
      f(static_cast<int>(run), static_cast<int>(std::min<std::int64_t>(p, run + weight)));
  }
  /// The number of runs with digits from 1 on that begin below a slot.
  constexpr int runs_below(int slot) const {
    return static_cast<int>((slot - 1) / weight - (slot - 1) / (std::int64_t{radix} * weight));
  }
  /// The number of slots with digits 1 to j - 1.
  constexpr int count_below(int j) const {
    auto const turn = std::int64_t{radix} * weight, below_j = (j - std::int64_t{1}) * weight;
    return static_cast<int>(p / turn * below_j + std::clamp<std::int64_t>(p % turn - weight, 0, below_j));
  }
  constexpr int count(int j) const { return count_below(j + 1) - count_below(j); }
  constexpr int below(int x) const { return x % weight; }
  constexpr int above(int x) const { return static_cast<int>(x - x % (std::int64_t{radix} * weight)); }
};

}  // namespace colligo
