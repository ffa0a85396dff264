// SPDX-License-Identifier: BSL-1.0
/// @file
/// Bundles of blocks that groups of ranks exchange, and which rank of a group sends and receives them (leads).
#pragma once

#include <algorithm>
#include <cstddef>

#include "../core/range.hpp"
#include "../topology/hierarchy.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Parts a and b of a group exchange in turn (a + b) mod parts, the same number for both. A part's ranks take turns.
constexpr int leader_in(hierarchy::group own, int turn) { return own.first + turn % own.size(); }
/// The place in group `own` that exchanges with group `away`; both are parts of one group of `level`.
inline int leader_for(hierarchy const& groups, hierarchy::group own, hierarchy::group away, int level) {
  int const below = groups.named_before(level);
  hierarchy::group const all = groups.group_at(level, own.first);
  int const turn = groups.part_of(below, all, own.first) + groups.part_of(below, all, away.first);
  return leader_in(own, turn % groups.parts(below, all));
}

/// Calls f(level, away, before) for every group `away` with which a place exchanges for its group of level `below` (-1:
/// for itself alone). `away` is a part of the place's group of `level`; `before`: the ranks of earlier calls' groups.
template <class F>
void for_each_bundle(hierarchy const& groups, int below, int place, F const& f) {
  hierarchy::group const own = groups.group_at(below, place);
  std::size_t before = 0;
  for (int level = groups.named_after(below); level < groups.levels(); level = groups.named_after(level)) {
    int const finer = groups.named_before(level);
    hierarchy::group const all = groups.group_at(level, place);
    int const parts = groups.parts(finer, all), mine = groups.part_of(finer, all, place);
    for (int turn = place - own.first; turn < parts; turn += own.size()) {
      int const part = (turn - mine + parts) % parts;
      if (part == mine) continue;
      hierarchy::group const away = groups.part(finer, all, part);
      f(level, away, before);
      before += static_cast<std::size_t>(away.size());
    }
  }
}

/// With how many ranks, at most, one place exchanges for its group of level `below`.
inline std::size_t most_led_by_one(hierarchy const& groups, int below) {
  std::size_t most = 0;
  int const leaders = groups.smallest(below);
  for (int level = groups.named_after(below); level < groups.levels(); level = groups.named_after(level)) {
    int const finer = groups.named_before(level), parts = groups.fewest_and_most(level, finer).second;
    most += static_cast<std::size_t>((parts + leaders - 1) / leaders * groups.largest(finer));
  }
  return most;
}

/// How many blocks, at most, a place bundles for those ranks: one from each rank of its group to each of them.
inline std::size_t most_bundled(hierarchy const& groups, int below) {
  std::size_t most = 0;
  int const fewest = groups.smallest(below), ranks = groups.largest(below);
  for (int level = groups.named_after(below); level < groups.levels(); level = groups.named_after(level)) {
    int const finer = groups.named_before(level), parts = groups.fewest_and_most(level, finer).second;
    int const led = std::min(ranks * ((parts + fewest - 1) / fewest), parts + ranks - 1);
    most += static_cast<std::size_t>(led) * static_cast<std::size_t>(groups.largest(finer));
  }
  return most;
}

/// Where a rank keeps bundles behind the vector, in slots of one block each: two areas for messages, then two rooms for
/// each level but the last: bundles from the own group (up), sorted by source, and for it, sorted by destination.
class bundle_rooms {
 public:
  bundle_rooms(hierarchy const& groups, std::size_t first, std::size_t length)
      : groups_(groups), first_(first), length_(length) {
    int const innermost = groups.named_after(-1);
    pitch_ = most_led_by_one(groups, innermost) + 1;
    area_ = pitch_ * static_cast<std::size_t>(groups.largest(innermost));
    for (int level = innermost; level < groups.levels(); level = groups.named_after(level))
      area_ = std::max(area_, size(level));
  }

  std::size_t area() const { return area_; }
  std::size_t pitch() const { return pitch_; }   ///< slots per message within an innermost group
  std::size_t of(int below, bool up) const {
    std::size_t at = 2 * area_ + (up ? 0 : size(below));
    for (int level = groups_.named_after(-1); level < below; level = groups_.named_after(level))
      at += 2 * size(level);
    return at;
  }
  std::size_t all() const { return of(groups_.levels() - 1, true); }
  range operator()(std::size_t slot, std::size_t count) const {
    return {first_ + slot * length_, first_ + (slot + count) * length_};
  }

 private:
  std::size_t size(int below) const { return most_bundled(groups_, below); }

  hierarchy const& groups_;
  std::size_t first_, length_, area_, pitch_;
};

}  // namespace colligo::detail
