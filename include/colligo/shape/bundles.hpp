// SPDX-License-Identifier: BSL-1.0
/// @file
/// Bundles of blocks that groups of ranks exchange, and which rank of a group leads for which other group.
#pragma once

#include <algorithm>
#include <cstddef>

#include "../core/range.hpp"
#include "nest.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Parts a and b of a group meet in turn (a + b) mod parts, the same for both; ranks of a part lead in turns.
constexpr int leader_in(nest::group own, int turn) { return own.first + turn % own.size(); }
/// Which place of `own` leads for `away`, groups in different parts of a group of `level`.
inline int leader_for(nest const& its, nest::group own, nest::group away, int level) {
  int const below = its.named_before(level);
  nest::group const all = its.group_at(level, own.first);
  int const turn = its.part_of(below, all, own.first) + its.part_of(below, all, away.first);
  return leader_in(own, turn % its.parts(below, all));
}

/// Calls f(level, away, before) for all groups that a place leads for in its group of level `below` (-1: the place
/// alone): parts of the group of `level` that the place is in; `before`: ranks of the groups of earlier calls.
template <class F>
void for_each_bundle(nest const& its, int below, int place, F const& f) {
  nest::group const own = its.group_at(below, place);
  std::size_t before = 0;
  for (int level = its.named_after(below); level < its.levels(); level = its.named_after(level)) {
    int const finer = its.named_before(level);
    nest::group const all = its.group_at(level, place);
    int const parts = its.parts(finer, all), mine = its.part_of(finer, all, place);
    for (int turn = place - own.first; turn < parts; turn += own.size()) {
      int const part = (turn - mine + parts) % parts;
      if (part == mine) continue;
      nest::group const away = its.part(finer, all, part);
      f(level, away, before);
      before += static_cast<std::size_t>(away.size());
    }
  }
}

/// Ranks that a place of a group of level `below` leads for, at most.
inline std::size_t most_led_by_one(nest const& its, int below) {
  std::size_t most = 0;
  int const leaders = its.smallest(below);
  for (int level = its.named_after(below); level < its.levels(); level = its.named_after(level)) {
    int const finer = its.named_before(level), parts = its.fewest_and_most(level, finer).second;
    most += static_cast<std::size_t>((parts + leaders - 1) / leaders * its.largest(finer));
  }
  return most;
}

/// Blocks of the largest group of that level for those whom one of its places leads for, at most.
inline std::size_t most_bundled(nest const& its, int below) {
  std::size_t most = 0;
  int const fewest = its.smallest(below), ranks = its.largest(below);
  for (int level = its.named_after(below); level < its.levels(); level = its.named_after(level)) {
    int const finer = its.named_before(level), parts = its.fewest_and_most(level, finer).second;
    int const led = std::min(ranks * ((parts + fewest - 1) / fewest), parts + ranks - 1);
    most += static_cast<std::size_t>(led) * static_cast<std::size_t>(its.largest(finer));
  }
  return most;
}

/// Where a rank keeps bundles, in slots of one block each: two areas for messages, then for each level but the last a
/// room for what the own group has for those that the rank leads for, by sources, and one for what these have for it,
/// by destinations.
class bundle_rooms {
 public:
  bundle_rooms(nest const& its, std::size_t first, std::size_t length) : its_(its), first_(first), length_(length) {
    int const innermost = its.named_after(-1);
    pitch_ = most_led_by_one(its, innermost) + 1;
    area_ = pitch_ * static_cast<std::size_t>(its.largest(innermost));
    for (int level = innermost; level < its.levels(); level = its.named_after(level))
      area_ = std::max(area_, size(level));
  }

  std::size_t area() const { return area_; }
  std::size_t pitch() const { return pitch_; }   ///< of the messages within an innermost group
  std::size_t of(int below, bool up) const {
    std::size_t at = 2 * area_ + (up ? 0 : size(below));
    for (int level = its_.named_after(-1); level < below; level = its_.named_after(level))
      at += 2 * size(level);
    return at;
  }
  std::size_t all() const { return of(its_.levels() - 1, true); }
  range operator()(std::size_t slot, std::size_t count) const {
    return {first_ + slot * length_, first_ + (slot + count) * length_};
  }

 private:
  std::size_t size(int below) const { return most_bundled(its_, below); }

  nest const& its_;
  std::size_t first_, length_, area_, pitch_;
};

}  // namespace colligo::detail
