// SPDX-License-Identifier: BSL-1.0
/// @file
/// Bundles by level: an all_to_all in which two hosts exchange one message each way. A rank sends its blocks for
/// another host to the rank of its own host that leads for that one; leaders exchange what all their ranks have for
/// each other, and distribute it. Each rank of a host leads for about as many other hosts. On more levels blocks are
/// collected in the same way, and leave each group once.
/// Picture  hosts 0-1 2-3 4-5   1 and 3 lead for the first two: 0->1 2->3, 1-3, 1->0 3->2
/// Cost     with h hosts of m ranks and blocks of b bytes: within the host m - 1 messages of (1 + h/m m) b, between
///          hosts h/m of m m b, within the host m - 1 of h/m m b, h/m rounded up; messages of a step pair off as in
///          direct, equal to the recorded schedule where m is a power of two and h a multiple of 2 m
/// Own work every block copied about five times
/// Needs    any p, any levels, blocks of one length; room for four times what a rank sends, more if a group
///          has few leaders
/// Order    nothing is combined
/// Prefer   short blocks on several hosts.   Avoid: long ones (pairwise), each goes twice within hosts too
/// Source   Traff and Rougier, MPI Collectives and Datatypes for Hierarchical All-to-all Communication, 2014, has one
///          leader for each host
#pragma once

#include <string_view>

#include "../shape/bundles.hpp"
#include "../shape/everybody.hpp"
#include "pairwise.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// Of one rank.
template <steps Step>
class exchange_in_bundles {
 public:
  exchange_in_bundles(nest const& its, Step& step, blocks const& in, blocks const& out)
      : its_(its), step_(step), in_(in), out_(out), me_(its.place_of(step.rank())),
        slots_(its, out.whole.last, in.longest()) {}

  void operator()() const {
    int const innermost = its_.named_after(-1), outermost = its_.levels() - 1;
    within_innermost(innermost, true);
    for (int level = its_.named_after(innermost); level <= outermost; level = its_.named_after(level)) {
      pass(level, true);
      turn(level);
    }
    for (int level = its_.named_before(outermost); level > innermost; level = its_.named_before(level))
      pass(level, false);
    within_innermost(innermost, false);
  }

 private:
  using group = nest::group;
  static std::size_t number(int i) { return static_cast<std::size_t>(i); }

  // All ranks of an innermost group exchange what each has for other groups and these have for it.
  void within_innermost(int level, bool up) const {
    group const own = its_.group_at(level, me_);
    std::size_t const room = slots_.of(level, up), head = up;   // a block of the rank itself
    auto const blocks_led = [&](int leader) {
      std::size_t all = 0;
      for_each_bundle(its_, level, leader, [&](int, group away, std::size_t) { all += number(away.size()); });
      return all;
    };
    // Messages: of this rank with that leader, of that rank with this leader.
    auto const with = [&](int leader) { return number(leader - own.first) * slots_.pitch(); };
    auto const of = [&](int rank) { return with(rank) + (rank == me_ ? 0 : slots_.area()); };
    auto const move_blocks = [&] {
      for (int leader = own.first; leader < own.last; ++leader)
        for_each_bundle(its_, level, leader, [&](int, group away, std::size_t before) {
          for (int k = 0; k < away.size(); ++k)
            move((up ? in_ : out_)[its_.rank_at(away.first + k)], with(leader) + head + before + number(k), up);
        });
    };
    auto const move_rows = [&] {
      for (int rank = own.first; rank < own.last; ++rank)
        for_each_bundle(its_, level, me_, [&](int, group away, std::size_t before) {
          std::size_t const row = room + before * number(own.size()) + rows_before(rank, own, away);
          move(slots_(row, number(away.size())), of(rank) + head + before, !up);
        });
    };
    auto const move_heads = [&](bool there) {
      for (int rank = own.first; rank < own.last; ++rank)
        if (up && rank != me_) move((there ? in_ : out_)[its_.rank_at(rank)], there ? with(rank) : of(rank), there);
    };
    move_heads(true);
    if (up) move_blocks();
    else move_rows();
    int const others = own.size() - 1;
    step_(listed{2 * others, [&](int i) -> operand {
                   int const peer = own.first + other(i % others, me_ - own.first), rank = its_.rank_at(peer);
                   range const theirs = slots_(with(peer), head + blocks_led(peer));
                   range const mine = slots_(of(peer), head + blocks_led(me_));
                   return i < others ? operand(send{rank, up ? theirs : mine}) : recv{rank, up ? mine : theirs};
                 }});
    move_heads(false);
    if (up) move_rows();
    else move_blocks();
  }

  // Leaders of a group's parts exchange bundles with each other, and with the whole group's leaders for groups further
  // out.
  void pass(int level, bool up) const {
    int const below = its_.named_before(level);
    group const all = its_.group_at(level, me_), own = its_.group_at(below, me_);
    std::size_t const fine = slots_.of(below, up), room = level + 1 < its_.levels() ? slots_.of(level, up) : 0;
    auto const message = [&](bool out, int place, range some) {
      int const peer = place == me_ ? nobody : its_.rank_at(place);
      return out ? operand(send{peer, some}) : recv{peer, some};
    };
    auto const for_each_message = [&](auto const& f) {
      for_each_bundle(its_, below, me_, [&](int far, group away, std::size_t before) {
        range const its = bundle(fine, before, own, own, away);
        if (far > level) return f(message(up, leader_for(its_, all, away, far), its));
        if (!up) return;
        f(message(true, leader_for(its_, away, own, level), its));
        f(message(false, leader_for(its_, away, own, level), bundle(0, before, own, own, away)));
      });
      for_each_bundle(its_, level, me_, [&](int far, group away, std::size_t before) {
        for (int k = 0; k < its_.parts(below, all); ++k) {
          group const part = its_.part(below, all, k);
          f(message(!up, leader_for(its_, part, away, far), bundle(room, before, all, part, away)));
        }
      });
    };
    int messages = 0;
    for_each_message([&](operand const&) { ++messages; });
    step_(listed{messages, [&](int i) {
                   operand found;
                   for_each_message([&](operand const& its) { found = i-- == 0 ? its : found; });
                   return found;
                 }});
    // What this rank leads for in its part and in the whole group.
    for_each_bundle(its_, level, me_, [&](int, group away, std::size_t before) {
      for_each_bundle(its_, below, me_, [&](int, group its, std::size_t its_before) {
        if (its.first != away.first) return;
        range const finer = bundle(fine, its_before, own, own, away), rows = bundle(room, before, all, own, away);
        step_(up ? copy{finer, rows} : copy{rows, finer});
      });
    });
  }

  // What has come from other parts of a group, from an order by sources into one by destinations.
  void turn(int level) const {
    int const below = its_.named_before(level);
    group const own = its_.group_at(below, me_);
    std::size_t const room = slots_.of(below, false), here = number(own.size());
    for_each_bundle(its_, below, me_, [&](int far, group away, std::size_t before) {
      std::size_t const came = before * here, there = number(away.size());
      for (std::size_t i = 0; far == level && i < there * here; ++i)
        step_(copy{slots_(came + i, 1), slots_(room + came + i % here * there + i / here, 1)});
    });
  }

  // Of the ranks of `part` with `away`, in a room of `all`.
  range bundle(std::size_t room, std::size_t before, group all, group part, group away) const {
    return slots_(room + before * number(all.size()) + rows_before(part.first, all, away),
                  number(part.size()) * number(away.size()));
  }
  static std::size_t rows_before(int place, group all, group away) {
    return number(place - all.first) * number(away.size());
  }
  void move(range some, std::size_t slot, bool there) const {
    std::size_t const at = slots_(slot, 0).first;
    range const its{at, at + some.size()};
    step_(there ? copy{some, its} : copy{its, some});
  }

  nest const& its_;
  Step& step_;
  blocks const& in_;
  blocks const& out_;
  int me_;
  bundle_rooms slots_;
};

}  // namespace detail

struct bundles_by_level {
  static constexpr std::string_view name = "bundles_by_level";

  nest const* levels = nullptr;   ///< null: as the communicator knows

  template <class T>
  struct all_to_all : detail::over_levels<bundles_by_level> {
    std::size_t scratch(blocks const& in, std::size_t) const {
      return this->with(in.parts, [&](nest const& its) {
        return its.named_after(-1) + 1 < its.levels() ? detail::bundle_rooms(its, 0, 1).all() * in.longest() : 0;
      });
    }
    own_work work(blocks const& in, std::size_t) const {
      return this->with(in.parts, [&](nest const& its) {
        int const innermost = its.named_after(-1), outermost = its.levels() - 1;
        if (innermost == outermost) return own_work{};
        double copies = 2. * in.parts + 2. * static_cast<double>(detail::most_bundled(its, innermost));
        for (int level = innermost; level < outermost; level = its.named_after(level))
          copies += static_cast<double>(detail::most_bundled(its, level));
        return own_work{copies, copies * static_cast<double>(in.longest())};
      });
    }

    template <steps Step>
    void operator()(Step& step, blocks const& in, blocks const& out) const {
      this->with(step.size(), [&](nest const& its) {
        if (its.named_after(-1) + 1 == its.levels()) detail::exchange_pairs(step, in, out, step.size());
        else detail::exchange_in_bundles(its, step, in, out)();
      });
    }

    // Of nests that are even.
    double cost(machine const& m, int p, std::size_t n) const {
      double const block = static_cast<double>(n * sizeof(T)) / p;
      return this->with(p, [&](nest const& its) {
        int const innermost = its.named_after(-1);
        if (innermost + 1 == its.levels() || n == 0) return detail::cost_of_pairs(m, p, block * p, p);
        auto const exchange = [&](int level, int messages, double blocks_of_each) {
          machine const at = detail::on_level(m, its, level);
          return at.startups(messages) + messages * blocks_of_each * block * at.beta;
        };
        auto const blocks_led = [&](int below) { return static_cast<double>(detail::most_led_by_one(its, below)); };
        int const within = detail::turns(its.smallest(innermost));
        double all = exchange(innermost, within, 1 + blocks_led(innermost)) +
                     exchange(innermost, within, blocks_led(innermost));
        for (int below = innermost, level; (level = its.named_after(below)) < its.levels(); below = level) {
          int const ranks = its.largest(below), parts = its.fewest_and_most(level, below).first;
          all += exchange(level, (parts + ranks - 1) / ranks, 1.0 * ranks * ranks);
          if (level + 1 < its.levels())   // further out
            all += 2 * exchange(level, parts - 1, blocks_led(level) * ranks);
        }
        return all;
      });
    }
    formula exact_for(machine const&, int p, std::size_t n) const {
      return this->with(p, [&](nest const& its) {
        int const innermost = its.named_after(-1), outermost = its.levels() - 1;
        if (!divides(p, n) || !its.even()) return formula::estimate;
        if (innermost == outermost) return formula::exact;
        int const ranks = its.smallest(innermost), hosts = p / ranks;
        return exact_if(its.named_after(innermost) == outermost && is_power_of_two(ranks) && hosts % (2 * ranks) == 0);
      });
    }
  };
};

}  // namespace colligo
