// SPDX-License-Identifier: BSL-1.0
/// @file
/// Bundles of blocks that groups of ranks exchange, which rank of a group sends and receives them (leads), and what a
/// rank exchanges of them on one level.
#pragma once

#include <algorithm>
#include <cstddef>

#include "../core/range.hpp"
#include "../core/step.hpp"
#include "../topology/hierarchy.hpp"
#include "everybody.hpp"

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

/// The exchanges of bundles that a rank takes part in. `up`: from the innermost groups towards the outermost level.
template <steps Step>
class bundles_of_rank {
 public:
  using group = hierarchy::group;

  bundles_of_rank(hierarchy const& groups, Step& step, blocks const& in, blocks const& out)
      : groups_(groups), step_(step), in_(in), out_(out), me_(groups.place_of(step.rank())),
        slots_(groups, out.whole.last, in.longest()) {}

  /// Within an innermost group: up, each rank sends every leader its blocks for the groups that the leader exchanges
  /// with; down, it receives its own blocks.
  void within_innermost(int level, bool up) const {
    group const own = groups_.group_at(level, me_);
    std::size_t const room = slots_.of(level, up), head = up;   // first in a message: a block for the leader itself
    auto const blocks_led = [&](int leader) {
      std::size_t all = 0;
      for_each_bundle(groups_, level, leader, [&](int, group away, std::size_t) { all += number(away.size()); });
      return all;
    };
    // Slots of this rank's message with a leader, and, this rank being the leader, of a rank's message with it.
    auto const with = [&](int leader) { return number(leader - own.first) * slots_.pitch(); };
    auto const of = [&](int rank) { return with(rank) + (rank == me_ ? 0 : slots_.area()); };
    auto const move_blocks = [&] {
      for (int leader = own.first; leader < own.last; ++leader)
        for_each_bundle(groups_, level, leader, [&](int, group away, std::size_t before) {
          for (int k = 0; k < away.size(); ++k)
            move((up ? in_ : out_)[groups_.rank_at(away.first + k)], with(leader) + head + before + number(k), up);
        });
    };
    auto const move_rows = [&] {
      for (int rank = own.first; rank < own.last; ++rank)
        for_each_bundle(groups_, level, me_, [&](int, group away, std::size_t before) {
          std::size_t const row = room + before * number(own.size()) + rows_before(rank, own, away);
          move(slots_(row, number(away.size())), of(rank) + head + before, !up);
        });
    };
    auto const move_heads = [&](bool there) {
      for (int rank = own.first; rank < own.last; ++rank)
        if (up && rank != me_) move((there ? in_ : out_)[groups_.rank_at(rank)], there ? with(rank) : of(rank), there);
    };
    move_heads(true);
    if (up) move_blocks();
    else move_rows();
    int const others = own.size() - 1;
    step_(listed{2 * others, [&](int i) -> operand {
                   int const peer = own.first + other(i % others, me_ - own.first), rank = groups_.rank_at(peer);
                   range const theirs = slots_(with(peer), head + blocks_led(peer));
                   range const mine = slots_(of(peer), head + blocks_led(me_));
                   return i < others ? operand(send{rank, up ? theirs : mine}) : recv{rank, up ? mine : theirs};
                 }});
    move_heads(false);
    if (up) move_rows();
    else move_blocks();
  }

  /// The leaders of a group's parts exchange bundles with each other. Bundles for groups further out they pass to the
  /// whole group's leaders (up), or get from them.
  void pass(int level, bool up) const {
    int const below = groups_.named_before(level);
    group const all = groups_.group_at(level, me_), own = groups_.group_at(below, me_);
    std::size_t const fine = slots_.of(below, up), room = level + 1 < groups_.levels() ? slots_.of(level, up) : 0;
    auto const message = [&](bool out, int place, range some) {
      int const peer = place == me_ ? nobody : groups_.rank_at(place);
      return out ? operand(send{peer, some}) : recv{peer, some};
    };
    auto const for_each_message = [&](auto const& f) {
      for_each_bundle(groups_, below, me_, [&](int far, group away, std::size_t before) {
        range const moved = bundle(fine, before, own, own, away);
        if (far > level) return f(message(up, leader_for(groups_, all, away, far), moved));
        if (!up) return;
        f(message(true, leader_for(groups_, away, own, level), moved));
        f(message(false, leader_for(groups_, away, own, level), bundle(0, before, own, own, away)));
      });
      for_each_bundle(groups_, level, me_, [&](int far, group away, std::size_t before) {
        for (int k = 0; k < groups_.parts(below, all); ++k) {
          group const part = groups_.part(below, all, k);
          f(message(!up, leader_for(groups_, part, away, far), bundle(room, before, all, part, away)));
        }
      });
    };
    int messages = 0;
    for_each_message([&](operand const&) { ++messages; });
    step_(listed{messages, [&](int i) {
                   operand found;
                   for_each_message([&](operand const& o) { found = i-- == 0 ? o : found; });
                   return found;
                 }});
    // Bundles for which this rank is the leader of both its part and the whole group.
    for_each_bundle(groups_, level, me_, [&](int, group away, std::size_t before) {
      for_each_bundle(groups_, below, me_, [&](int, group other, std::size_t finer_before) {
        if (other.first != away.first) return;
        range const finer = bundle(fine, finer_before, own, own, away), rows = bundle(room, before, all, own, away);
        step_(up ? copy{finer, rows} : copy{rows, finer});
      });
    });
  }

  /// Bundles from other parts of the group are sorted by source; sorts them by destination.
  void turn(int level) const {
    int const below = groups_.named_before(level);
    group const own = groups_.group_at(below, me_);
    std::size_t const room = slots_.of(below, false), here = number(own.size());
    for_each_bundle(groups_, below, me_, [&](int far, group away, std::size_t before) {
      std::size_t const came = before * here, there = number(away.size());
      for (std::size_t i = 0; far == level && i < there * here; ++i)
        step_(copy{slots_(came + i, 1), slots_(room + came + i % here * there + i / here, 1)});
    });
  }

 private:
  // The blocks between the ranks of `part` and of `away`, in a room of group `all`.
  range bundle(std::size_t room, std::size_t before, group all, group part, group away) const {
    return slots_(room + before * number(all.size()) + rows_before(part.first, all, away),
                  number(part.size()) * number(away.size()));
  }
  static std::size_t rows_before(int place, group all, group away) {
    return number(place - all.first) * number(away.size());
  }
  void move(range some, std::size_t slot, bool there) const {
    std::size_t const at = slots_(slot, 0).first;
    range const here{at, at + some.size()};
    step_(there ? copy{some, here} : copy{here, some});
  }

  static std::size_t number(int i) { return static_cast<std::size_t>(i); }

  hierarchy const& groups_;
  Step& step_;
  blocks const& in_;
  blocks const& out_;
  int me_;
  bundle_rooms slots_;
};

}  // namespace colligo
