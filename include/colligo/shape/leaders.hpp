// SPDX-License-Identifier: BSL-1.0
/// @file
/// Trees along levels: one rank leads each group, and exchanges messages for it.
#pragma once

#include "../core/step.hpp"
#include "level_costs.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Which levels a tree goes along.
enum class along { all_levels, named_levels, long_rounds, below_outermost, outermost };
inline int level_before(hierarchy const& groups, along which, int level) {
  return which == along::all_levels     ? level - 1
         : which == along::named_levels ? groups.named_before(level)
                                        : groups.long_round_before(level);
}
inline int level_after(hierarchy const& groups, along which, int level) {
  return which == along::all_levels     ? level + 1
         : which == along::named_levels ? groups.named_after(level)
                                        : groups.long_round_after(level);
}
/// Level by level, outwards from the root or back to it, the leader of each group exchanges messages with the leaders
/// of its parts. Calls f(own, others, peer, part) on both ends. On a group's leader: its own part, the number of other
/// parts, their leaders peer(k) and the parts part(k). On a part's leader: own, 0, and the group's leader peer(0).
template <class F>
void along_leaders(hierarchy const& groups, int rank, int root, bool outwards, along which, F const& f) {
  int const me = groups.place_of(rank), start = groups.place_of(root), outermost = groups.levels() - 1;
  auto const below = [&groups, which](int level) { return level_before(groups, which, level); };
  // The leader of a place's group of a level: the root in its own groups, elsewhere the partner of the leader that the
  // level above has there.
  auto const leader = [&](int level, int place) {
    int found = start;
    for (int above = groups.levels() - 1; above > level; above = below(above)) {
      hierarchy::group const part = groups.group_at(below(above), place),
                             own = groups.group_at(below(above), found);
      if (part.first != own.first) found = hierarchy::partner(part, own, found);
    }
    return found;
  };
  auto const exchange = [&](int level) {
    if (which == (level == outermost ? along::below_outermost : along::outermost)) return;
    if (leader(below(level), me) != me) return;   // another rank leads its part
    hierarchy::group const all = groups.group_at(level, me), own = groups.group_at(below(level), me);
    int const first = which == along::outermost ? me : leader(level, me), mine = groups.part_of(below(level), all, me);
    int const others = first == me ? groups.parts(below(level), all) - 1 : 0;
    if (first == me && others == 0) return;
    auto const part = [=, &groups](int k) { return groups.part(below(level), all, other(k, mine)); };
    f(own, others,
      [=, &groups](int k) { return groups.rank_at(first != me ? first : hierarchy::partner(part(k), own, me)); }, part);
  };
  if (outwards)
    for (int level = groups.levels() - 1; level >= 0; level = below(level)) exchange(level);
  else
    for (int level = level_after(groups, which, -1); level < groups.levels(); level = level_after(groups, which, level))
      exchange(level);
}

/// Gathers to the root, or scatters from it (outwards): of each group the range of(group).
template <steps Step, class Of>
void pass_along_leaders(hierarchy const& groups, Step& step, int root, bool outwards, along which, Of const& of) {
  auto const pass = [&](hierarchy::group own, int others, auto const& peer, auto const& part) {
    bool const leads = others != 0;
    step(listed{leads ? others : 1, [&](int k) {
                  range const passed = of(leads ? part(k) : own);
                  return leads == outwards ? operand(send{peer(k), passed}) : operand(recv{peer(k), passed});
                }});
  };
  along_leaders(groups, step.rank(), root, outwards, which, pass);
}

/// Reduces whole vectors to the root.
template <steps Step>
void fold_along_leaders(hierarchy const& groups, Step& step, range all, int root, along which) {
  along_leaders(groups, step.rank(), root, false, which, [&](auto, int others, auto const& peer, auto const&) {
    if (others == 0) return step(send{peer(0), all});
    in_order_of_ranks const in_order(groups, others, peer);
    step(listed{others, [&](int k) { return fold{in_order(k), all}; }});
  });
}

/// Leaders of the outermost groups exchange messages: out(own, part) goes to the leader of each other group `part`, and
/// in(own, part) comes from it, folded in the order of ranks if `combines`. Calls begin() on leaders first.
template <steps Step, class Begin, class Out, class In>
void exchange_among_leaders(hierarchy const& groups, Step& step, bool combines, Begin const& begin, Out const& out,
                            In const& in) {
  along_leaders(groups, step.rank(), groups.rank_at(0), false, along::outermost,
                [&](hierarchy::group own, int others, auto const& peer, auto const& part) {
    begin();
    in_order_of_ranks const in_order(groups, combines ? others : 0, peer);
    step(listed{2 * others, [&](int i) -> operand {
                  int const k = i - others;
                  if (k < 0) return send{peer(i), out(own, part(i))};
                  if (combines) return fold{in_order(k), in(own, part(k))};
                  return recv{peer(k), in(own, part(k))};
                }});
  });
}

/// What leaders exchange: whole vectors, or the blocks of each part's ranks; combined or not.
struct led {
  bool outwards = false, in_bundles = false, combined = false;
};
inline double cost_along_leaders(machine const& m, hierarchy const& groups, along which, std::size_t n, led what) {
  if (n == 0) return 0;
  double all = 0, bytes = static_cast<double>(n);
  int const outermost = groups.levels() - 1, last = which == along::below_outermost ? outermost - 1 : outermost;
  for (int level = which == along::outermost ? outermost : level_after(groups, which, -1); level <= last;
       level = level_after(groups, which, level)) {
    int const before = level_before(groups, which, level);
    int const parts = which == along::all_levels     ? groups.most(level)
                      : which == along::named_levels ? groups.fewest_and_most(level, before).second
                                                     : groups.most_in_long(level);
    int const others = parts - 1;
    machine const& at = m.at(groups.how_far(level));
    double const each = what.in_bundles ? bytes * groups.largest(before) / groups.size() : bytes;
    all += which == along::outermost ? exchanged_messages(at, parts, each)
           : what.outwards           ? published_message(at, others, each)
                                     : one_way_messages(at, others, each);
    if (what.combined) all += others * m.combine(each);
  }
  return all;
}

}  // namespace colligo
