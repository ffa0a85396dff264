// SPDX-License-Identifier: BSL-1.0
/// @file
/// Slices by level: the ranks of each cache cut the vector into one slice per rank, and each combines its slice from
/// all of them. The ranks with the same slice in a socket's caches cut it further, and so on up to the outermost level.
/// On the way back each rank collects the other slices from the same ranks. Slices are small before they go far, and
/// each goes there once.
/// Picture  levels 2 x 2, vector ABCD   0-1 2-3: 0 and 2 get AB   0-2 1-3: A B C D   back
///          all_gather, ranks 0-1 and 2-3 on hosts: 0-2 1-3, then 0 has blocks 0 and 2, and 0-1 2-3
/// Cost     all_reduce: twice reduce_scatter by direct on each level, of what is left of the vector there: with f
///          groups joined by a level 2 (f-1)/f of that are read, (f-1)/f combined. reduce_scatter and all_gather: half
///          of it. Equal to the recorded schedule where p divides n and every f is at most 4 or a power of two
/// Own work finding peers in groups, which prices count as part of alpha; all_gather and reduce_scatter: all blocks
///          copied into or out of columns, in which slices are contiguous
/// Needs    any p, any levels. On each level there are as many slices as its smallest group has parts; further ranks
///          lead none, and pass their blocks to a rank of their group. Where a host's groups differ in size, others
///          replace them (hierarchy::for_slices). Where no levels are known, rounds go by rank numbers. Memory for
///          another vector, except for all_reduce
/// Order    kept where the groups hold consecutive ranks, otherwise the functor must commute; same bits on all ranks
/// Prefer   longer vectors on many cores, blocks on several hosts.   Avoid: short vectors (see direct_by_level)
/// Source   reduce_scatter and all_gather of Rabenseifner's halving and doubling, in any radix and along levels
#pragma once

#include <string_view>

#include "../core/policy.hpp"
#include "../shape/level_costs.hpp"
#include "../shape/slices_of_level.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// Reduces the slice `left`, from `level` outwards.
template <steps Step>
void all_reduce_in_slices(hierarchy const& groups, Step& step, range left, int level) {
  if (level == groups.levels()) return;
  slices_of_level const here{groups, step, level};
  auto const slice = [cut = blocks{left, here.slices}](int part) { return cut[part]; };
  here.combine(slice);
  if (here.leads()) all_reduce_in_slices(groups, step, slice(here.mine), groups.long_round_after(level));
  here.collect(slice);
}

/// Blocks are combined on the way out, or collected on the way back.
template <steps Step>
void blocks_in_slices(blocks_by_level const& columns, Step& step, int level, bool combines) {
  if (level == columns.groups.levels()) return;
  slices_of_level const here{columns.groups, step, level};
  if (combines) here.combine(here.shares_of(columns));
  else here.lend(columns, false);
  if (here.leads()) blocks_in_slices(columns, step, columns.groups.long_round_after(level), combines);
  if (combines) here.lend(columns, true);
  else here.collect(here.shares_of(columns));
}

}  // namespace detail

struct slices_by_level {
  static constexpr std::string_view name = "slices_by_level";

  hierarchy const* levels = nullptr;   ///< null: as the communicator knows

 private:
  struct in_slices : detail::over_levels<slices_by_level> {
    template <class T, class F>
    auto with(int p, std::size_t n, F const& f) const {
      return over_levels::with(
          p, [&](hierarchy const& groups) { return f(groups.for_slices(static_cast<double>(n * sizeof(T)))); });
    }
    // Combined on the way out, collected on the way back.
    double cost_of(machine const& m, int p, double bytes, bool out, bool back) const {
      return over_levels::with(p, [&](hierarchy const& known) {
        hierarchy const& groups = known.for_slices(bytes);
        double all = 0, left = bytes;
        for (int level = groups.long_round_after(-1); level < groups.levels() && left > 0;
             level = groups.long_round_after(level)) {
          double const before = left;
          left /= groups.fewest_in_long(level);
          for (bool const combines : {true, false})
            if (combines ? out : back)
              all += detail::messages_of_round(m, known, groups, level, groups.most_in_long(level), left, combines,
                                               combines ? before : left);
        }
        return all;
      });
    }
    formula exact_for(machine const&, int p, std::size_t n) const {
      return over_levels::with(p, [&](hierarchy const& groups) {
        bool possible = divides(p, n) && groups.even() && groups.pairs_off();
        for (int level = groups.long_round_after(-1); level < groups.levels(); level = groups.long_round_after(level))
          possible = possible && (groups.most_in_long(level) <= 4 || is_power_of_two(groups.most_in_long(level)));
        return exact_if(possible);
      });
    }
  };
  template <class T, bool Combines>
  struct blocks_in_columns : in_slices {
    static std::size_t scratch(blocks const& vector, std::size_t) { return vector.whole.size(); }
    static own_work work(blocks const& vector, std::size_t) {
      return {vector.parts + 1.0, static_cast<double>(vector.whole.size() + vector.longest())};
    }

    template <steps Step>
    void operator()(Step& step, blocks const& block) const {
      this->template with<T>(step.size(), block.whole.size(), [&](hierarchy const& groups) {
        detail::blocks_by_level const columns{groups, block, true};
        columns.copy_all_or_own(step, Combines, false);
        detail::blocks_in_slices(columns, step, groups.long_round_after(-1), Combines);
        columns.copy_all_or_own(step, !Combines, true);
      });
    }

    double cost(machine const& m, int p, std::size_t n) const {
      return this->cost_of(m, p, static_cast<double>(n * sizeof(T)), Combines, !Combines);
    }
  };

 public:
  template <class T, class Op>
  struct all_reduce : in_slices {
    static constexpr bool ordered = true, same_bits = true;

    template <steps Step>
    void operator()(Step& step, range all) const {
      this->template with<T>(step.size(), all.size(), [&](hierarchy const& groups) {
        detail::all_reduce_in_slices(groups, step, all, groups.long_round_after(-1));
      });
    }

    double cost(machine const& m, int p, std::size_t n) const {
      return this->cost_of(m, p, static_cast<double>(n * sizeof(T)), true, true);
    }
  };

  template <class T, class Op>
  struct reduce_scatter : blocks_in_columns<T, true> {
    static constexpr bool ordered = true;
  };
  template <class T>
  struct all_gatherv : blocks_in_columns<T, false> {};
};

}  // namespace colligo
