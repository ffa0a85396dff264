// SPDX-License-Identifier: BSL-1.0
/// @file
/// The ranks' blocks, copied behind the vector in an order in which the blocks of a group are contiguous.
#pragma once

#include <cstddef>

#include "../core/renumbered.hpp"
#include "../topology/hierarchy.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// In columns or in the order of places. `in_place`: places are ranks, so the blocks stay where they are.
struct blocks_by_level {
  hierarchy const& groups;
  blocks const& block;
  bool in_columns, in_place = false;
  bool alike = block.is_even() && divides(block.parts, block.whole.size());   ///< all blocks have one length

  range of_rank(int i) const { return block[groups.rank_at(in_columns ? groups.place_in_columns(i) : i)]; }
  std::size_t begin_of(int some) const {
    if (in_place) return some == 0 ? block[0].first : block[some - 1].last;
    std::size_t const first = block.whole.last;
    if (alike)
      return first + block.whole.size() / static_cast<std::size_t>(block.parts) * static_cast<std::size_t>(some);
    std::size_t before = 0;
    for (int i = 0; i < some; ++i) before += of_rank(i).size();
    return first + before;
  }
  range operator()(hierarchy::group some) const { return {begin_of(some.first), begin_of(some.last)}; }
  range of_own(int rank) const {
    int const place = groups.place_of(rank);
    return (*this)(in_columns ? groups.column_within(-1, place) : hierarchy::group{place, place + 1});
  }

  /// Copies the own block from the vector, or `back`.
  template <steps Step>
  void copy_own(Step& step, bool back) const {
    range const there = block[step.rank()], here = of_own(step.rank());
    if (!in_place) step(back ? copy{here, there} : copy{there, here});
  }
  /// Copies all blocks from the vector, or `back`.
  template <steps Step>
  void copy_all(Step& step, bool back) const {
    std::size_t at = block.whole.last;
    for (int i = 0; i < block.parts && !in_place; ++i) {
      range const in_vector = of_rank(i), here{at, at + in_vector.size()};
      step(back ? copy{here, in_vector} : copy{in_vector, here});
      at = here.last;
    }
  }
  template <steps Step>
  void copy_all_or_own(Step& step, bool all, bool back) const {
    if (all) copy_all(step, back);
    else copy_own(step, back);
  }
};

}  // namespace colligo
