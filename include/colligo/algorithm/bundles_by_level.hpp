// SPDX-License-Identifier: BSL-1.0
/// @file
/// Bundles by level: an all_to_all in which two hosts exchange one message each way. A rank sends its blocks for
/// another host to the rank of its own host that leads for that one; leaders exchange what all their ranks have for
/// each other, and distribute it. Each rank of a host leads for about as many other hosts. On more levels blocks are
/// collected in the same way, and leave each group once.
/// Picture  hosts 0-1 2-3 4-5   1 and 3 lead for the first two: 0->1 2->3, 1-3, 1->0 3->2
/// Cost     with h hosts of m ranks and blocks of b bytes: within the host m - 1 messages of (1 + h/m m) b, between
///          hosts h/m of m m b, within the host m - 1 of h/m m b, h/m rounded up; messages of a step pair off as in
///          direct; equal to the recorded schedule where m is a power of two and h a multiple of 2 m
/// Own work every block copied about five times, and 20 steps for each copy to find its group
/// Needs    any p, any levels, blocks of one length; room for four times what a rank sends, more if a group
///          has few leaders
/// Order    nothing is combined
/// Prefer   short blocks on several hosts.   Avoid: long ones (pairwise), each goes twice within hosts too
/// Source   Traff and Rougier, MPI Collectives and Datatypes for Hierarchical All-to-all Communication, 2014, has one
///          leader for each host
#pragma once

#include <string_view>

#include "../shape/bundles_of_rank.hpp"
#include "../shape/level_costs.hpp"
#include "pairwise.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// Collects bundles level by level outwards, exchanges them on each level, and distributes them on the way back.
template <steps Step>
void exchange_in_bundles(hierarchy const& groups, Step& step, blocks const& in, blocks const& out) {
  int const innermost = groups.named_after(-1), outermost = groups.levels() - 1;
  bundles_of_rank const bundles(groups, step, in, out);
  bundles.within_innermost(innermost, true);
  for (int level = groups.named_after(innermost); level <= outermost; level = groups.named_after(level)) {
    bundles.pass(level, true);
    bundles.turn(level);
  }
  for (int level = groups.named_before(outermost); level > innermost; level = groups.named_before(level))
    bundles.pass(level, false);
  bundles.within_innermost(innermost, false);
}

}  // namespace detail

struct bundles_by_level {
  static constexpr std::string_view name = "bundles_by_level";

  hierarchy const* levels = nullptr;   ///< null: as the communicator knows

  template <class T>
  struct all_to_all : detail::over_levels<bundles_by_level> {
    std::size_t scratch(blocks const& in, std::size_t) const {
      return this->with(in.parts, [&](hierarchy const& groups) {
        return groups.named_after(-1) + 1 < groups.levels() ? detail::bundle_rooms(groups, 0, 1).all() * in.longest()
                                                            : 0;
      });
    }
    own_work work(blocks const& in, std::size_t) const {
      return this->with(in.parts, [&](hierarchy const& groups) {
        int const innermost = groups.named_after(-1), outermost = groups.levels() - 1;
        if (innermost == outermost) return own_work{};
        double copies = 2. * in.parts + 2. * static_cast<double>(detail::most_bundled(groups, innermost));
        for (int level = innermost; level < outermost; level = groups.named_after(level))
          copies += static_cast<double>(detail::most_bundled(groups, level));
        return own_work{copies, copies * static_cast<double>(in.longest()), 20 * copies};
      });
    }

    template <steps Step>
    void operator()(Step& step, blocks const& in, blocks const& out) const {
      this->with(step.size(), [&](hierarchy const& groups) {
        if (groups.named_after(-1) + 1 == groups.levels()) detail::exchange_pairs(step, in, out, step.size());
        else detail::exchange_in_bundles(groups, step, in, out);
      });
    }

    // Of even hierarchies.
    double cost(machine const& m, int p, std::size_t n) const {
      double const block = static_cast<double>(n * sizeof(T)) / p;
      return this->with(p, [&](hierarchy const& groups) {
        int const innermost = groups.named_after(-1);
        if (innermost + 1 == groups.levels() || n == 0) return detail::cost_of_pairs(m, p, block * p, p);
        auto const exchange = [&](int level, int messages, double blocks_of_each) {
          machine const at = detail::on_level(m, groups, level);
          return at.startups(messages) + messages * blocks_of_each * block * at.beta;
        };
        auto const blocks_led = [&](int below) { return static_cast<double>(detail::most_led_by_one(groups, below)); };
        int const within = detail::turns(groups.smallest(innermost));
        double all = exchange(innermost, within, 1 + blocks_led(innermost)) +
                     exchange(innermost, within, blocks_led(innermost));
        for (int below = innermost, level; (level = groups.named_after(below)) < groups.levels(); below = level) {
          int const ranks = groups.largest(below), parts = groups.fewest_and_most(level, below).first;
          all += exchange(level, (parts + ranks - 1) / ranks, 1.0 * ranks * ranks);
          if (level + 1 < groups.levels())   // bundles for groups further out
            all += 2 * exchange(level, parts - 1, blocks_led(level) * ranks);
        }
        return all;
      });
    }
    formula exact_for(machine const&, int p, std::size_t n) const {
      return this->with(p, [&](hierarchy const& groups) {
        int const innermost = groups.named_after(-1), outermost = groups.levels() - 1;
        if (!divides(p, n) || !groups.even()) return formula::estimate;
        if (innermost == outermost) return formula::exact;
        int const ranks = groups.smallest(innermost), hosts = p / ranks;
        return exact_if(groups.named_after(innermost) == outermost && is_power_of_two(ranks) &&
                        hosts % (2 * ranks) == 0);
      });
    }
  };
};

}  // namespace colligo
