// SPDX-License-Identifier: BSL-1.0
/// @file
/// Slices by level: each cache cuts the vector into one slice per rank, each of which combines its slice from all; then
/// those who have the same slice in the caches of a socket cut it further, and so on up to the last level. On the way
/// back each rank collects from the same ranks what it has given away. Pieces are small before they go far.
/// Picture  levels 2 x 2, vector ABCD   0-1 2-3: 0 and 2 get AB   0-2 1-3: A B C D   back
/// Cost     twice reduce_scatter by direct on each level, of what is left of the vector there: with f groups joined by
///          a level 2 (f-1)/f of that are read, (f-1)/f combined. Equal to the recorded schedule where p divides n and
///          every f is at most 4 or a power of two
/// Needs    any p, any levels. On each level there are as many slices as its smallest group has parts; other ranks lead
///          none. Without levels that are known there are rounds by rank numbers
/// Order    kept where the groups hold consecutive ranks, otherwise the functor must commute; same bits on all ranks
/// Prefer   longer vectors on many cores.   Avoid: short ones (see direct_by_level)
/// Source   reduce_scatter and all_gather of Rabenseifner's halving and doubling, in any radix and along levels
#pragma once

#include <string_view>

#include "../core/step.hpp"
#include "../shape/everybody.hpp"
#include "../shape/nest.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// One rank's part: the slices of a level, then what is left of its own on the levels above, then back.
template <steps Step>
class slices_by_level_of {
 public:
  slices_by_level_of(nest const& its, Step& step) : its_(its), step_(step), me_(its.place_of(step.rank())) {}

  void all_reduce(range left, int level) {
    if (level == its_.levels()) return;
    int const below = its_.long_round_before(level), slices = its_.fewest(level);
    nest::group const all = its_.group_at(level, me_), own = its_.group_at(below, me_);
    int const parts = its_.parts(below, all), mine = its_.part_of(below, all, me_);
    bool const leads = mine < slices;
    blocks const slice{left, slices};
    auto const peer = [=, this](int part) { return its_.rank_at(same_slice(its_.part(below, all, part), own, below)); };
    int const theirs = slices - leads, of_mine = leads ? parts - 1 : 0;   // messages
    step_(listed{theirs + of_mine, [=](int i) -> operand {
                   int const part = other(i < theirs ? i : i - theirs, mine);
                   if (i < theirs) return send{peer(part), slice[part]};
                   return fold{peer(part), slice[mine]};
                 }});
    if (leads) all_reduce(slice[mine], its_.long_round_after(level));
    step_(listed{theirs + of_mine, [=](int i) -> operand {
                   int const part = other(i < of_mine ? i : i - of_mine, mine);
                   if (i < of_mine) return send{peer(part), slice[mine]};
                   return recv{peer(part), slice[part]};
                 }});
  }

 private:
  // The place in a group of level `level` that leads the slices which this one leads in `own`.
  int same_slice(nest::group of, nest::group own, int level) const {
    if (level < 0) return of.first;
    int const below = its_.long_round_before(level), mine = its_.part_of(below, own, me_);
    return same_slice(its_.part(below, of, mine), its_.part(below, own, mine), below);
  }

  nest const& its_;
  Step& step_;
  int me_;
};

}  // namespace detail

struct slices_by_level {
  static constexpr std::string_view name = "slices_by_level";

  nest const* levels = nullptr;   ///< null: as the communicator knows

  template <class T, class Op>
  struct all_reduce {
    slices_by_level const& tag;
    static constexpr bool ordered = true;
    static constexpr bool same_bits = true;

    int made_for(int p) const { return tag.levels ? tag.levels->size() : p; }
    bool in_order(int) const { return !tag.levels || tag.levels->consecutive(); }

    template <steps Step>
    void operator()(Step& step, range all) const {
      detail::with_nest(tag.levels, step.size(), [&](nest const& its) {
        detail::slices_by_level_of(its, step).all_reduce(all, its.long_round_after(-1));
      });
    }

    double cost(machine const& m, int p, std::size_t n) const {
      return detail::with_nest(tag.levels, p, [&](nest const& its) {
        double sum = 0, left = static_cast<double>(n * sizeof(T));
        for (int level = its.long_round_after(-1); level < its.levels() && n != 0;
             level = its.long_round_after(level)) {
          int const parts = its.fewest(level), turns = detail::turns(parts);
          sum += 2 * (m.startups(turns) + turns * left / parts * m.beta) + m.combine(left - left / parts);
          left /= parts;
        }
        return sum;
      });
    }
    formula exact_for(machine const&, int p, std::size_t n) const {
      if (!divides(p, n)) return formula::estimate;
      return detail::with_nest(tag.levels, p, [](nest const& its) {
        if (!its.even()) return formula::estimate;
        bool pairs_off = true;   // messages of a step do, so that no turn is left out
        for (int level = its.long_round_after(-1); level < its.levels(); level = its.long_round_after(level))
          pairs_off = pairs_off && (its.fewest(level) <= 4 || is_power_of_two(its.fewest(level)));
        return exact_if(pairs_off);
      });
    }
  };
};

}  // namespace colligo
