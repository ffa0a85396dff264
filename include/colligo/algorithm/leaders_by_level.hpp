// SPDX-License-Identifier: BSL-1.0
/// @file
/// Leaders by level: a tree in which one rank leads each group. The root leads its groups; elsewhere the leader has the
/// same place in its group as the leader around it, modulo the group's size. Leaders of the groups that a level joins
/// exchange whole vectors, or bundles: the blocks of all ranks of a group.
/// Picture  levels 2 x 2, root 0   1->0 3->2   2->0: of gather the blocks 2 and 3 as one message
/// Cost     as many messages in a step as the level joins groups, p - 1 in all; each block of gather and scatter enters
///          or leaves a group once. all_gather: a gather within the outermost groups, whose leaders exchange bundles,
///          and a broadcast; reduce_scatter: a reduce within them, an exchange of bundles and a scatter; barrier: a
///          reduce within them, an exchange and a broadcast of a byte
/// Own work finding peers in groups, which prices count as part of alpha; copying blocks side by side where groups do
///          not hold consecutive ranks
/// Needs    any p, any levels, any root; memory for another vector, except for reduce and broadcast
/// Order    kept where the groups hold consecutive ranks, otherwise the functor must commute
/// Prefer   blocks on several hosts, short vectors on many cores.   Avoid: long vectors (see slices_by_level)
/// Source   trees of n levels, as in collectives over shared memory
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "../core/knob.hpp"
#include "../shape/blocks_by_level.hpp"
#include "../shape/leaders.hpp"

namespace colligo::inline COLLIGO_MODE {

struct leaders_by_level {
  static constexpr std::string_view name = "leaders_by_level";

  hierarchy const* levels = nullptr;   ///< null: the communicator's
  std::size_t at_once = 0;        ///< not 0: reduce and broadcast join all groups of a level in one round, however many

  static constexpr std::array knobs{knob<leaders_by_level>{"at_once", &leaders_by_level::at_once}};

 private:
  using along = detail::along;
  using led = detail::led;

  struct by_leaders : detail::over_levels<leaders_by_level> {
    double cost_of(machine const& m, int p, std::size_t bytes, along which, led what) const {
      return with(p,
                  [&](hierarchy const& groups) { return detail::cost_along_leaders(m, groups, which, bytes, what); });
    }
    // In to the leaders of the outermost groups, across, and out again.
    double cost_of(machine const& m, int p, std::size_t bytes, led in, led across, led out) const {
      return cost_of(m, p, bytes, along::below_outermost, in) + cost_of(m, p, bytes, along::outermost, across) +
             cost_of(m, p, bytes, along::below_outermost, out);
    }
    formula exact_for(machine const&, int p, std::size_t) const {
      return with(p, [](hierarchy const& groups) { return exact_if(groups.even()); });
    }
  };
  struct in_bundles : by_leaders {
    // f(its, bundles): bundles(group) is the range of the group's blocks while they travel.
    template <class F>
    void with_bundles(int p, blocks const& block, F const& f) const {
      with(p, [&](hierarchy const& groups) {
        f(groups, detail::blocks_by_level{groups, block, false, groups.consecutive()});
      });
    }
    static std::size_t scratch(blocks const& vector, std::size_t) { return vector.whole.size(); }
    own_work work(blocks const& vector, std::size_t) const {
      if (in_order(vector.parts)) return {};
      return {vector.parts + 1.0, static_cast<double>(vector.whole.size() + vector.longest())};
    }
  };

  template <class T, bool Outwards>
  struct whole : by_leaders {
    along which() const { return tag.at_once ? along::named_levels : along::all_levels; }

    template <steps Step>
    void operator()(Step& step, range all, int root) const {
      with(step.size(), [&](hierarchy const& groups) {
        if (!Outwards) return detail::fold_along_leaders(groups, step, all, root, which());
        detail::pass_along_leaders(groups, step, root, true, which(), [all](hierarchy::group) { return all; });
      });
    }
    double cost(machine const& m, int p, std::size_t n) const {
      return cost_of(m, p, n * sizeof(T), which(), {.outwards = Outwards, .combined = !Outwards});
    }
  };

  // The bundle of each leader's group goes to the root, or comes from it.
  template <class T, bool Outwards>
  struct with_root : in_bundles {
    template <steps Step>
    void operator()(Step& step, blocks const& block, int root) const {
      with_bundles(step.size(), block, [&](hierarchy const& groups, detail::blocks_by_level const& bundles) {
        bool const is_root = step.rank() == root;
        if (is_root || !Outwards) bundles.copy_all_or_own(step, Outwards, false);
        detail::pass_along_leaders(groups, step, root, Outwards, along::long_rounds, bundles);
        if (is_root || Outwards) bundles.copy_all_or_own(step, !Outwards, true);
      });
    }
    double cost(machine const& m, int p, std::size_t n) const {
      return cost_of(m, p, n * sizeof(T), along::long_rounds, {.outwards = Outwards, .in_bundles = true});
    }
    formula exact_for(machine const& m, int p, std::size_t n) const {
      return divides(p, n) ? by_leaders::exact_for(m, p, n) : formula::estimate;
    }
  };

  // Bundles are exchanged between the leaders of the outermost groups, and combined before or distributed after that.
  template <class T, bool Combines>
  struct among_all : in_bundles {
    template <steps Step>
    void operator()(Step& step, blocks const& block) const {
      with_bundles(step.size(), block, [&](hierarchy const& groups, detail::blocks_by_level const& bundles) {
        int const root = groups.rank_at(0);
        if (Combines) {
          detail::fold_along_leaders(groups, step, block.whole, root, along::below_outermost);
        } else {
          bundles.copy_own(step, false);
          detail::pass_along_leaders(groups, step, root, false, along::below_outermost, bundles);
        }
        detail::exchange_among_leaders(
            groups, step, Combines, [&] { if (Combines) bundles.copy_all(step, false); },
            [&](hierarchy::group own, hierarchy::group other) { return bundles(Combines ? other : own); },
            [&](hierarchy::group own, hierarchy::group other) { return bundles(Combines ? own : other); });
        detail::pass_along_leaders(groups, step, root, true, along::below_outermost, [&](hierarchy::group part) {
          return bundles(Combines ? part : hierarchy::group{0, groups.size()});
        });
        bundles.copy_all_or_own(step, !Combines, true);
      });
    }
    double cost(machine const& m, int p, std::size_t n) const {
      return cost_of(m, p, n * sizeof(T), {.in_bundles = !Combines, .combined = Combines},
                     {.in_bundles = true, .combined = Combines}, {.outwards = true, .in_bundles = Combines});
    }
    formula exact_for(machine const&, int p, std::size_t n) const {
      return with(p, [&](hierarchy const& groups) { return exact_if(divides(p, n) && groups.levels() == 1); });
    }
  };

 public:
  template <class T, class Op>
  struct reduce : whole<T, false> {
    static constexpr bool ordered = true;
  };
  template <class T>
  struct broadcast : whole<T, true> {};
  template <class T>
  struct gatherv : with_root<T, false> {};
  template <class T>
  struct scatterv : with_root<T, true> {};

  template <class T, class Op>
  struct reduce_scatter : among_all<T, true> {
    static constexpr bool ordered = true;
  };
  template <class T>
  struct all_gatherv : among_all<T, false> {};

  struct barrier : by_leaders {
    template <steps Step>
    void operator()(Step& step) const {
      with(step.size(), [&](hierarchy const& groups) {
        int const root = groups.rank_at(0);
        range const word{0, 1};
        detail::fold_along_leaders(groups, step, word, root, along::below_outermost);
        detail::exchange_among_leaders(groups, step, true, [] {}, [=](auto, auto) { return word; },
                                       [](auto, auto) { return range{1, 2}; });
        detail::pass_along_leaders(groups, step, root, true, along::below_outermost, [=](auto) { return word; });
      });
    }
    double cost(machine const& m, int p, std::size_t) const {
      return cost_of(m, p, 1, {.combined = true}, {.combined = true}, {.outwards = true});
    }
  };
};

}  // namespace colligo
