// SPDX-License-Identifier: BSL-1.0
/// @file
/// What a rank exchanges of slices on one level.
#pragma once

#include "blocks_by_level.hpp"
#include "everybody.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Each group of the level cuts the slice that the level below has left into as many slices as the smallest group has
/// parts. That many parts lead one slice each, further parts none. A rank exchanges with one rank of each other part,
/// the one that has the same slice left.
template <steps Step>
struct slices_of_level {
  hierarchy const& groups;
  Step& step;
  int level;
  int me = groups.place_of(step.rank()), below = groups.long_round_before(level), slices = groups.fewest_in_long(level);
  hierarchy::group all = groups.group_at(level, me), own = groups.group_at(below, me);
  int parts = groups.parts(below, all), mine = groups.part_of(below, all, me);

  bool leads() const { return mine < slices; }
  int place(int part) const { return groups.same_slice(groups.part(below, all, part), own, below, me); }
  int peer(int part) const { return groups.rank_at(place(part)); }
  /// slice(part) of blocks in columns.
  auto shares_of(blocks_by_level const& columns) const {
    return [this, &columns](int part) { return columns(groups.share(level, place(part))); };
  }

  /// Sends each part the slice that it leads, and combines the own slice from all parts.
  template <class F>
  void combine(F const& slice) const {
    int const theirs = slices - leads(), of_mine = leads() ? parts - 1 : 0;   // messages
    auto const others = [this](int i) { return peer(other(i, mine)); };
    in_order_of_ranks const in_order(groups, of_mine, others);
    step(listed{theirs + of_mine, [&](int i) -> operand {
                  if (int const part = other(i, mine); i < theirs) return send{peer(part), slice(part)};
                  return fold{in_order(i - theirs), slice(mine)};
                }});
  }
  /// Sends the own slice to all parts, and receives theirs.
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
  /// Outwards, the root's part sends each leader its slice; otherwise leaders send their slices to the root's part.
  template <class F>
  void pass(F const& slice, int root, bool outwards) const {
    int const place_of_root = groups.place_of(root);
    if (place_of_root < all.first || place_of_root >= all.last) return;
    int const part_of_root = groups.part_of(below, all, place_of_root);
    bool const with_root = mine == part_of_root;
    if (!with_root && !leads()) return;
    step(listed{with_root ? slices - leads() : 1, [&](int i) -> operand {
                  int const part = with_root ? other(i, mine) : part_of_root;
                  range const some = slice(with_root ? part : mine);
                  if (with_root == outwards) return send{peer(part), some};
                  return recv{peer(part), some};
                }});
  }
  /// A part that leads no slice lends its blocks to a part that does, or gets them back.
  void lend(blocks_by_level const& columns, bool back) const {
    auto const column = [&](int part) { return columns(groups.column_within(below, part == mine ? me : place(part))); };
    auto const pass = [&](int part, range some, bool out) {
      return out ? step(send{peer(part), some}) : step(recv{peer(part), some});
    };
    if (!leads()) return pass(mine % slices, column(mine), !back);
    for (int part = mine + slices; part < parts; part += slices) pass(part, column(part), back);
  }
};
template <class Step>
slices_of_level(hierarchy const&, Step&, int) -> slices_of_level<Step>;

}  // namespace colligo
