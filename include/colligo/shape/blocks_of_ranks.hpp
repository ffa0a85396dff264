// SPDX-License-Identifier: BSL-1.0
/// @file
/// The binary block decomposition: p ranks as neighbouring blocks of powers of two, the largest first (13 = 8 + 4 + 1).
#pragma once

#include <algorithm>
#include <bit>

#include "../core/renumbered.hpp"

namespace colligo::inline COLLIGO_MODE {

/// One block of the decomposition: ranks first .. first + size - 1.
struct binary_block {
  int first;
  int size;
  int p;

  static constexpr binary_block largest(int p) { return {0, floor_power_of_two(p), p}; }
  static constexpr binary_block of(int rank, int p) {
    binary_block block = largest(p);
    while (rank >= block.first + block.size) block = block.smaller();
    return block;
  }

  /// The next smaller block; its size is 0 if this one is the last.
  constexpr binary_block smaller() const {
    int const next = first + size;
    return {next, next == p ? 0 : floor_power_of_two(p - next), p};
  }
  /// The next larger block; its size is 0 if this one is the first.
  constexpr binary_block larger() const {
    int const next = first == 0 ? 0 : 1 << std::countr_zero(static_cast<unsigned>(first));
    return {first - next, next, p};
  }
};

/// delta_expo,max of the papers: the largest difference of two consecutive exponents in the binary representation of p;
/// it measures the imbalance between blocks. 0 for a power of two.
constexpr int largest_exponent_gap(int p) {
  int gap = 0;
  for (auto block = binary_block::largest(p); block.smaller().size != 0; block = block.smaller())
    gap = std::max(gap, floor_lg(block.size) - floor_lg(block.smaller().size));
  return gap;
}

}  // namespace colligo
