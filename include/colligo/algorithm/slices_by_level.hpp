// SPDX-License-Identifier: BSL-1.0
/// @file
/// Slices by level: each cache cuts the vector into one slice per rank, each of which combines its slice from all; then
/// those who have the same slice in the caches of a socket cut it further, and so on up to the last level: hosts, or
/// what joins them. On the way back each rank collects from the same ranks what it has given away. Pieces are small
/// before they go far, and each goes there once.
/// Picture  levels 2 x 2, vector ABCD   0-1 2-3: 0 and 2 get AB   0-2 1-3: A B C D   back
///          all_gather, ranks 0-1 and 2-3 on hosts: 0-2 1-3, then 0 has blocks 0 and 2, and 0-1 2-3
/// Cost     all_reduce: twice reduce_scatter by direct on each level, of what is left of the vector there: with f
///          groups joined by a level 2 (f-1)/f of that are read, (f-1)/f combined. reduce_scatter and all_gather: half
///          of it. Equal to the recorded schedule where p divides n and every f is at most 4 or a power of two
/// Own work of all_gather and reduce_scatter: all blocks copied into or out of columns, in which slices are whole
/// Needs    any p, any levels. On each level there are as many slices as its smallest group has parts; other ranks lead
///          none: their blocks go through a rank of their group. Without levels that are known there are rounds by rank
///          numbers. Room for another vector, but of all_reduce
/// Order    kept where the groups hold consecutive ranks, otherwise the functor must commute; same bits on all ranks
/// Prefer   longer vectors on many cores, blocks on several hosts.   Avoid: short vectors (see direct_by_level)
/// Source   reduce_scatter and all_gather of Rabenseifner's halving and doubling, in any radix and along levels
#pragma once

#include <string_view>

#include "../core/policy.hpp"
#include "../shape/blocks_by_level.hpp"
#include "../shape/everybody.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// One rank's part: the slices of a level, then what is left of its own on the levels above, then back. `Blocks`: of
/// blocks, which stand in columns.
template <bool Blocks, steps Step>
class slices_by_level_of {
 public:
  slices_by_level_of(nest const& its, Step& step) : its_(its), step_(step), me_(its.place_of(step.rank())) {}

  void all_reduce(range all) { run(collective::all_reduce, all, its_.long_round_after(-1)); }

  void all_gather(blocks const& block) {
    blocks_by_level const columns{its_, block, true};
    columns_ = &columns;
    step_(copy{block[step_.rank()], columns(its_.column_within(-1, me_))});
    run(collective::all_gather, {}, its_.long_round_after(-1));
    columns.copy_all(step_, true);
  }

  void reduce_scatter(blocks const& block) {
    blocks_by_level const columns{its_, block, true};
    columns_ = &columns;
    columns.copy_all(step_, false);
    run(collective::reduce_scatter, {}, its_.long_round_after(-1));
    step_(copy{columns(its_.column_within(-1, me_)), block[step_.rank()]});
  }

 private:
  // `left`: of the vector on this level; columns say that for themselves.
  void run(collective what, range left, int level) {
    if (level == its_.levels()) return;
    int const below = its_.long_round_before(level), slices = its_.fewest(level);
    nest::group const all = its_.group_at(level, me_), own = its_.group_at(below, me_);
    int const parts = its_.parts(below, all), mine = its_.part_of(below, all, me_);
    bool const leads = mine < slices;
    auto const place = [=, this](int part) { return same_slice(its_.part(below, all, part), own, below); };
    auto const peer = [=, this](int part) { return its_.rank_at(place(part)); };
    auto const others = [=](int i) { return peer(other(i, mine)); };
    auto const slice = [&](int part) {
      if constexpr (Blocks) return (*columns_)(its_.share(level, place(part)));
      else return blocks{left, slices}[part];
    };
    // Blocks of those who lead none go through a part that does.
    auto const through_leader = [&](auto const& kept, auto const& led) {
      if (!leads) return step_(kept(peer(mine % slices), (*columns_)(its_.column_within(below, me_))));
      for (int part = mine + slices; part < parts; part += slices)
        step_(led(peer(part), (*columns_)(its_.column_within(below, place(part)))));
    };
    auto const give = [](int to, range some) { return send{to, some}; };
    auto const take = [](int from, range some) { return recv{from, some}; };
    int const theirs = slices - leads, of_mine = leads ? parts - 1 : 0;   // messages
    if (Blocks && what == collective::all_gather) {
      if constexpr (Blocks) through_leader(give, take);
    } else
      step_(listed{theirs + of_mine, [=, this](int i) -> operand {
                     if (int const part = other(i, mine); i < theirs) return send{peer(part), slice(part)};
                     return fold{peer(other(in_order_of_ranks(its_, i - theirs, of_mine, others), mine)), slice(mine)};
                   }});
    if (leads) run(what, Blocks ? left : slice(mine), its_.long_round_after(level));
    if constexpr (Blocks)
      if (what == collective::reduce_scatter) return through_leader(take, give);
    step_(listed{theirs + of_mine, [=](int i) -> operand {
                   int const part = other(i < of_mine ? i : i - of_mine, mine);
                   if (i < of_mine) return send{peer(part), slice(mine)};
                   return recv{peer(part), slice(part)};
                 }});
  }

  // The place in a group of level `level` that leads the slices which this one leads in `own`.
  int same_slice(nest::group of, nest::group own, int level) const {
    if (level < 0) return of.first;
    int const below = its_.long_round_before(level), mine = its_.part_of(below, own, me_);
    return same_slice(its_.part(below, of, mine), its_.part(below, own, mine), below);
  }

  nest const& its_;
  Step& step_;
  int me_;
  blocks_by_level const* columns_ = nullptr;
};

}   // namespace detail

struct slices_by_level {
  static constexpr std::string_view name = "slices_by_level";

  nest const* levels = nullptr;   ///< null: as the communicator knows

 private:
  struct blocks_in_columns : detail::over_levels<slices_by_level> {
    static std::size_t scratch(blocks const& vector, std::size_t) { return vector.whole.size(); }
    static own_work work(blocks const& vector, std::size_t) {
      return {vector.parts + 1.0, static_cast<double>(vector.whole.size() + vector.longest())};
    }
    formula exact_for(machine const&, int p, std::size_t n) const { return tag.exact_for(p, n); }
  };

  // Of so many bytes, on the way there or back; f(parts, bytes): of a level that cuts so many.
  template <class F>
  double sum(int p, double left, F const& f) const {
    return detail::with_nest(levels, p, [&](nest const& its) {
      double all = 0;
      for (int level = its.long_round_after(-1); level < its.levels() && left > 0;
           level = its.long_round_after(level)) {
        int const parts = its.fewest(level);
        all += f(parts, left);
        left /= parts;
      }
      return all;
    });
  }
  static double moved(machine const& m, int parts, double left) {
    return m.startups(detail::turns(parts)) + detail::turns(parts) * left / parts * m.beta;
  }
  formula exact_for(int p, std::size_t n) const {
    if (!divides(p, n)) return formula::estimate;
    return detail::with_nest(levels, p, [](nest const& its) {
      if (!its.even() || !its.pairs_off()) return formula::estimate;
      bool pairs_off = true;   // messages of a step do, so that no turn is left out
      for (int level = its.long_round_after(-1); level < its.levels(); level = its.long_round_after(level))
        pairs_off = pairs_off && (its.fewest(level) <= 4 || is_power_of_two(its.fewest(level)));
      return exact_if(pairs_off);
    });
  }

 public:
  template <class T, class Op>
  struct all_reduce : detail::over_levels<slices_by_level> {
    static constexpr bool ordered = true;
    static constexpr bool same_bits = true;

    template <steps Step>
    void operator()(Step& step, range all) const {
      this->with(step.size(),
                 [&](nest const& its) { detail::slices_by_level_of<false, Step>(its, step).all_reduce(all); });
    }

    double cost(machine const& m, int p, std::size_t n) const {
      return this->tag.sum(p, static_cast<double>(n * sizeof(T)), [&](int parts, double left) {
        return 2 * moved(m, parts, left) + m.combine(left - left / parts);
      });
    }
    formula exact_for(machine const&, int p, std::size_t n) const { return this->tag.exact_for(p, n); }
  };

  template <class T, class Op>
  struct reduce_scatter : blocks_in_columns {
    static constexpr bool ordered = true;

    template <steps Step>
    void operator()(Step& step, blocks const& block) const {
      this->with(step.size(),
                 [&](nest const& its) { detail::slices_by_level_of<true, Step>(its, step).reduce_scatter(block); });
    }

    double cost(machine const& m, int p, std::size_t n) const {
      return this->tag.sum(p, static_cast<double>(n * sizeof(T)), [&](int parts, double left) {
        return moved(m, parts, left) + m.combine(left - left / parts);
      });
    }
  };

  template <class T>
  struct all_gatherv : blocks_in_columns {
    template <steps Step>
    void operator()(Step& step, blocks const& block) const {
      this->with(step.size(),
                 [&](nest const& its) { detail::slices_by_level_of<true, Step>(its, step).all_gather(block); });
    }

    double cost(machine const& m, int p, std::size_t n) const {
      return this->tag.sum(p, static_cast<double>(n * sizeof(T)),
                           [&](int parts, double left) { return moved(m, parts, left); });
    }
  };
};

}   // namespace colligo
