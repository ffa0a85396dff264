// SPDX-License-Identifier: BSL-1.0
/// @file
/// Trees along levels: one rank leads each group.
#pragma once

#include "../core/step.hpp"
#include "level_costs.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Level by level from the root out, or back to it: the leader of each group exchanges messages with the leaders of its
/// parts. Calls f(own, others, peer, part): the leader's own part; the number of other parts, their leaders peer(0),
/// peer(1) ..., and these parts; 0 on the leader of a part, which peer(0) leads.
enum class along { all_levels, named_levels, long_rounds, below_outermost, outermost };
inline int level_before(nest const& its, along which, int level) {
  return which == along::all_levels     ? level - 1
         : which == along::named_levels ? its.named_before(level)
                                        : its.long_round_before(level);
}
inline int level_after(nest const& its, along which, int level) {
  return which == along::all_levels     ? level + 1
         : which == along::named_levels ? its.named_after(level)
                                        : its.long_round_after(level);
}
template <class F>
void along_leaders(nest const& its, int rank, int root, bool outwards, along which, F const& f) {
  int const me = its.place_of(rank), start = its.place_of(root), outermost = its.levels() - 1;
  auto const below = [&its, which](int level) { return level_before(its, which, level); };
  // Of a place's group of a level, from the outermost on: the root, or who stands where the leader around it does.
  auto const leader = [&](int level, int place) {
    int its_leader = start;
    for (int above = its.levels() - 1; above > level; above = below(above)) {
      nest::group const part = its.group_at(below(above), place), own = its.group_at(below(above), its_leader);
      if (part.first != own.first) its_leader = nest::partner(part, own, its_leader);
    }
    return its_leader;
  };
  auto const exchange = [&](int level) {
    if (which == (level == outermost ? along::below_outermost : along::outermost)) return;
    if (leader(below(level), me) != me) return;   // another rank leads its part
    nest::group const all = its.group_at(level, me), own = its.group_at(below(level), me);
    int const first = which == along::outermost ? me : leader(level, me), mine = its.part_of(below(level), all, me);
    int const others = first == me ? its.parts(below(level), all) - 1 : 0;
    if (first == me && others == 0) return;
    auto const part = [=, &its](int k) { return its.part(below(level), all, other(k, mine)); };
    f(own, others,
      [=, &its](int k) { return its.rank_at(first != me ? first : nest::partner(part(k), own, me)); }, part);
  };
  if (outwards)
    for (int level = its.levels() - 1; level >= 0; level = below(level)) exchange(level);
  else
    for (int level = level_after(its, which, -1); level < its.levels(); level = level_after(its, which, level))
      exchange(level);
}

/// What all have to the root, or from it: of each group the range of(group).
template <steps Step, class Of>
void pass_along_leaders(nest const& its, Step& step, int root, bool outwards, along which, Of const& of) {
  along_leaders(its, step.rank(), root, outwards, which, [&](auto own, int others, auto const& peer, auto const& part) {
    bool const leads = others != 0;
    step(listed{leads ? others : 1, [&](int k) {
                  range const its_own = of(leads ? part(k) : own);
                  return leads == outwards ? operand(send{peer(k), its_own}) : operand(recv{peer(k), its_own});
                }});
  });
}

/// Whole vectors.
template <steps Step>
void fold_along_leaders(nest const& its, Step& step, range all, int root, along which) {
  along_leaders(its, step.rank(), root, false, which, [&](auto, int others, auto const& peer, auto const&) {
    if (others == 0) return step(send{peer(0), all});
    in_order_of_ranks const in_order(its, others, peer);
    step(listed{others, [&](int k) { return fold{in_order(k), all}; }});
  });
}

/// What they exchange: whole vectors, or bundles of the blocks of each part.
struct led {
  bool outwards = false, in_bundles = false, combined = false;
};
inline double cost_along_leaders(machine const& m, nest const& its, along which, std::size_t n, led what) {
  if (n == 0) return 0;
  double all = 0, bytes = static_cast<double>(n);
  int const outermost = its.levels() - 1, last = which == along::below_outermost ? outermost - 1 : outermost;
  for (int level = which == along::outermost ? outermost : level_after(its, which, -1); level <= last;
       level = level_after(its, which, level)) {
    int const before = level_before(its, which, level);
    int const parts = which == along::all_levels     ? its.most(level)
                      : which == along::named_levels ? its.fewest_and_most(level, before).second
                                                     : its.most_in_long(level);
    int const others = parts - 1;
    machine const& at = m.at(its.how_far(level));
    double const each = what.in_bundles ? bytes * its.largest(before) / its.size() : bytes;
    all += which == along::outermost ? exchanged_messages(at, parts, each)
           : what.outwards           ? published_message(at, others, each)
                                     : one_way_messages(at, others, each);
    if (what.combined) all += others * m.combine(each);
  }
  return all;
}

}  // namespace colligo::detail
