// SPDX-License-Identifier: BSL-1.0
/// @file
/// What a rank does for slices on one level.
#pragma once

#include "blocks_by_level.hpp"
#include "everybody.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Each group of the level cuts what is left of the vector into as many slices as the smallest one has parts: these
/// lead one each, the others none. A rank has to do with those who have as much left as itself, one of each part.
template <steps Step>
struct slices_of_level {
  nest const& its;
  Step& step;
  int level;
  int me = its.place_of(step.rank()), below = its.long_round_before(level), slices = its.fewest_in_long(level);
  nest::group all = its.group_at(level, me), own = its.group_at(below, me);
  int parts = its.parts(below, all), mine = its.part_of(below, all, me);

  bool leads() const { return mine < slices; }
  int place(int part) const { return its.same_slice(its.part(below, all, part), own, below, me); }
  int peer(int part) const { return its.rank_at(place(part)); }
  /// Of blocks in columns: slice(part).
  auto shares_of(blocks_by_level const& columns) const {
    return [this, &columns](int part) { return columns(its.share(level, place(part))); };
  }

  /// Slices to those who lead them, the own one combined.
  template <class F>
  void combine(F const& slice) const {
    int const theirs = slices - leads(), of_mine = leads() ? parts - 1 : 0;   // messages
    auto const others = [this](int i) { return peer(other(i, mine)); };
    in_order_of_ranks const in_order(its, of_mine, others);
    step(listed{theirs + of_mine, [&](int i) -> operand {
                  if (int const part = other(i, mine); i < theirs) return send{peer(part), slice(part)};
                  return fold{in_order(i - theirs), slice(mine)};
                }});
  }
  /// The own slice to all, and theirs.
  template <class F>
  void collect(F const& slice) const {
    int const theirs = slices - leads(), of_mine = leads() ? parts - 1 : 0;
    bool all_send = parts == slices;
    for (int part = 0; part < parts && all_send; ++part) all_send = !slice(part).empty();
    step(published_among(all_send, listed{theirs + of_mine, [&](int i) -> operand {
                  int const part = other(i < of_mine ? i : i - of_mine, mine);
                  if (i < of_mine) return send{peer(part), slice(mine)};
                  return recv{peer(part), slice(part)};
                }}));
  }
  /// Slices go to those who lead them from the part that the root is in, or back.
  template <class F>
  void pass(F const& slice, int root, bool outwards) const {
    int const its_place = its.place_of(root);
    if (its_place < all.first || its_place >= all.last) return;
    int const its_part = its.part_of(below, all, its_place);
    bool const with_root = mine == its_part;
    if (!with_root && !leads()) return;
    step(listed{with_root ? slices - leads() : 1, [&](int i) -> operand {
                  int const part = with_root ? other(i, mine) : its_part;
                  range const some = slice(with_root ? part : mine);
                  if (with_root == outwards) return send{peer(part), some};
                  return recv{peer(part), some};
                }});
  }
  /// Blocks of those who lead none go to a part that does, or come back.
  void lend(blocks_by_level const& columns, bool back) const {
    auto const column = [&](int part) { return columns(its.column_within(below, part == mine ? me : place(part))); };
    auto const pass = [&](int part, range some, bool out) {
      return out ? step(send{peer(part), some}) : step(recv{peer(part), some});
    };
    if (!leads()) return pass(mine % slices, column(mine), !back);
    for (int part = mine + slices; part < parts; part += slices) pass(part, column(part), back);
  }
};
template <class Step>
slices_of_level(nest const&, Step&, int) -> slices_of_level<Step>;

}  // namespace colligo::detail
