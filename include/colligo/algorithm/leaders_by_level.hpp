// SPDX-License-Identifier: BSL-1.0
/// @file
/// Leaders by level: a tree in which one rank leads each group: the root, or whose place is that of the leader around
/// it. Leaders of the groups that a level joins exchange whole vectors, or bundles of all blocks of their groups.
/// Picture  levels 2 x 2, root 0   1->0 3->2   2->0: of gather the blocks 2 and 3 as one message
/// Cost     as many messages in a step as the level joins groups, p - 1 in all; each block of gather and scatter enters
///          or leaves a group once. all_gather: a gather within the outermost groups, whose leaders exchange bundles,
///          and a broadcast; reduce_scatter: a reduce within them, an exchange of bundles and a scatter; barrier: a
///          reduce within them, an exchange and a broadcast of a byte
/// Own work peers looked up in groups, which prices take as part of alpha; blocks copied side by side where groups do
///          not hold consecutive ranks
/// Needs    any p, any levels, any root; room for another vector, but of reduce and broadcast
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

  nest const* levels = nullptr;   ///< null: as the communicator knows
  std::size_t at_once = 0;        ///< reduce and broadcast: if not 0, a level joins many groups in one round as well

  static constexpr std::array knobs{knob<leaders_by_level>{"at_once", &leaders_by_level::at_once}};

 private:
  using along = detail::along;

  struct by_leaders : detail::over_levels<leaders_by_level> {
    double cost_of(machine const& m, int p, std::size_t bytes, along which, detail::led what) const {
      return with(p, [&](nest const& its) { return detail::cost_along_leaders(m, its, which, bytes, what); });
    }
    formula exact_for(machine const&, int p, std::size_t) const {
      return with(p, [](nest const& its) { return exact_if(its.even()); });
    }
  };
  struct in_bundles : by_leaders {
    // f(its, places): where blocks are while bundles of them travel.
    template <class F>
    void with_places(int p, blocks const& block, F const& f) const {
      with(p, [&](nest const& its) { f(its, detail::blocks_by_level{its, block, false, its.consecutive()}); });
    }
    static std::size_t scratch(blocks const& vector, std::size_t) { return vector.whole.size(); }
    own_work work(blocks const& vector, std::size_t) const {
      if (in_order(vector.parts)) return {};
      return {vector.parts + 1.0, static_cast<double>(vector.whole.size() + vector.longest())};
    }
  };

  template <class T, bool Outwards>
  struct whole : by_leaders {
    along which() const { return this->tag.at_once ? along::named_levels : along::all_levels; }

    template <steps Step>
    void operator()(Step& step, range all, int root) const {
      this->with(step.size(), [&](nest const& its) {
        if (!Outwards) return detail::fold_along_leaders(its, step, all, root, which());
        detail::pass_along_leaders(its, step, root, true, which(), [all](nest::group) { return all; });
      });
    }
    double cost(machine const& m, int p, std::size_t n) const {
      return this->cost_of(m, p, n * sizeof(T), which(), {.outwards = Outwards, .combined = !Outwards});
    }
  };

  // What each leader has for its part goes to the root, or comes from it.
  template <class T, bool Outwards>
  struct with_root : in_bundles {
    template <steps Step>
    void operator()(Step& step, blocks const& block, int root) const {
      this->with_places(step.size(), block, [&](nest const& its, detail::blocks_by_level const& places) {
        if (!Outwards) places.copy_own(step, false);
        else if (step.rank() == root) places.copy_all(step, false);
        detail::pass_along_leaders(its, step, root, Outwards, along::long_rounds, places);
        if (Outwards) places.copy_own(step, true);
        else if (step.rank() == root) places.copy_all(step, true);
      });
    }

    double cost(machine const& m, int p, std::size_t n) const {
      return this->cost_of(m, p, n * sizeof(T), along::long_rounds, {.outwards = Outwards, .in_bundles = true});
    }
    formula exact_for(machine const& m, int p, std::size_t n) const {
      return divides(p, n) ? by_leaders::exact_for(m, p, n) : formula::estimate;
    }
  };

  // Leaders of the outermost groups exchange bundles, of what is combined before, or distributed behind.
  template <class T, bool Combines>
  struct among_all : in_bundles {
    template <steps Step>
    void operator()(Step& step, blocks const& block) const {
      this->with_places(step.size(), block, [&](nest const& its, detail::blocks_by_level const& places) {
        int const root = its.rank_at(0);
        if (Combines) {
          detail::fold_along_leaders(its, step, block.whole, root, along::below_outermost);
        } else {
          places.copy_own(step, false);
          detail::pass_along_leaders(its, step, root, false, along::below_outermost, places);
        }
        detail::along_leaders(its, step.rank(), root, false, along::outermost,
                              [&](auto own, int others, auto const& peer, auto const& part) {
          if (Combines) places.copy_all(step, false);
          detail::in_order_of_ranks const in_order(its, Combines ? others : 0, peer);
          step(listed{2 * others, [&](int i) -> operand {
                        int const k = i - others;
                        if (k < 0) return send{peer(i), places(Combines ? part(i) : own)};
                        if (!Combines) return recv{peer(k), places(part(k))};
                        return fold{in_order(k), places(own)};
                      }});
        });
        detail::pass_along_leaders(its, step, root, true, along::below_outermost, [&](nest::group some) {
          return places(Combines ? some : nest::group{0, its.size()});
        });
        places.copy_all_or_own(step, !Combines, true);
      });
    }

    double cost(machine const& m, int p, std::size_t n) const {
      std::size_t const bytes = n * sizeof(T);
      auto const part = [&](along which, detail::led what) { return this->cost_of(m, p, bytes, which, what); };
      return part(along::below_outermost, {.in_bundles = !Combines, .combined = Combines}) +
             part(along::outermost, {.in_bundles = true, .combined = Combines}) +
             part(along::below_outermost, {.outwards = true, .in_bundles = Combines});
    }
    formula exact_for(machine const&, int p, std::size_t n) const {
      return this->with(p, [&](nest const& its) { return exact_if(divides(p, n) && its.levels() == 1); });
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
  struct barrier : by_leaders {
    template <steps Step>
    void operator()(Step& step) const {
      this->with(step.size(), [&](nest const& its) {
        int const root = its.rank_at(0);
        range const word{0, 1};
        detail::fold_along_leaders(its, step, word, root, along::below_outermost);
        detail::along_leaders(its, step.rank(), root, false, along::outermost,
                              [&](auto, int others, auto const& peer, auto const&) {
          detail::in_order_of_ranks const in_order(its, others, peer);
          step(listed{2 * others, [&](int i) -> operand {
                        if (i < others) return send{peer(i), word};
                        return fold{in_order(i - others), {1, 2}};
                      }});
        });
        detail::pass_along_leaders(its, step, root, true, along::below_outermost, [=](nest::group) { return word; });
      });
    }
    double cost(machine const& m, int p, std::size_t) const {
      auto const part = [&](along which, detail::led what) { return this->cost_of(m, p, 1, which, what); };
      return part(along::below_outermost, {.combined = true}) + part(along::outermost, {.combined = true}) +
             part(along::below_outermost, {.outwards = true});
    }
  };
  template <class T, class Op>
  struct reduce_scatter : among_all<T, true> {
    static constexpr bool ordered = true;
  };
  template <class T>
  struct all_gatherv : among_all<T, false> {};
};

}  // namespace colligo
