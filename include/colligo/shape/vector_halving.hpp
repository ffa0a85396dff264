// SPDX-License-Identifier: BSL-1.0
/// @file
/// Recursive vector halving with distance doubling on p = 2^k ranks, and its two ways back. Bit 0 of the rank says
/// which half of the vector it keeps, bit 1 which half of that, and so on: neighbours exchange the longest vectors. All
/// of it may be done in groups of so many neighbours, a power of two.
#pragma once

#include "../core/renumbered.hpp"

namespace colligo::inline COLLIGO_MODE {

/// What rank v holds when the distances below `ranks` are done.
constexpr range segment(range all, int v, int ranks) {
  for (int d = 1; d < ranks; d *= 2) all = v & d ? high_half(all) : low_half(all);
  return all;
}

/// Afterwards rank v holds the group's result of segment(all, v, group).
template <steps Step>
constexpr void reduce_scatter_by_halving(Step& step, range all, int group) {
  int const me = step.rank();
  for (int d = 1; d < group; d *= 2)
    step(send{me ^ d, segment(all, me ^ d, 2 * d)}, fold{me ^ d, segment(all, me, 2 * d)});
}

template <steps Step>
constexpr void reduce_scatter_by_halving(Step& step, range all) {
  reduce_scatter_by_halving(step, all, step.size());
}

/// The way back for everybody: distances halve, vectors double.
template <steps Step>
constexpr void all_gather_by_doubling(Step& step, range all, int group) {
  int const me = step.rank();
  for (int d = group / 2; d >= 1; d /= 2)
    step(send{me ^ d, segment(all, me, 2 * d)}, recv{me ^ d, segment(all, me ^ d, 2 * d)});
}

template <steps Step>
constexpr void all_gather_by_doubling(Step& step, range all) {
  all_gather_by_doubling(step, all, step.size());
}

/// The way back to one rank: those that differ from the root in the bit of the distance hand over and are done.
template <steps Step>
constexpr void gather_by_doubling(Step& step, range all, int root) {
  int const me = step.rank();
  for (int d = step.size() / 2; d >= 1; d /= 2) {
    if ((me & d) != (root & d)) return step(send{me ^ d, segment(all, me, 2 * d)});
    step(recv{me ^ d, segment(all, me ^ d, 2 * d)});
  }
}

}  // namespace colligo
