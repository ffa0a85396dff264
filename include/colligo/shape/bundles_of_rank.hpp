// SPDX-License-Identifier: BSL-1.0
/// @file
/// What a rank exchanges of bundles on one level.
#pragma once

#include "../core/step.hpp"
#include "bundles.hpp"
#include "everybody.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

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

}  // namespace colligo::detail
