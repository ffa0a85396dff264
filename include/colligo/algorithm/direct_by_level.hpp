// SPDX-License-Identifier: BSL-1.0
/// @file
/// Direct by level: within each cache all ranks read each other, then each rank reads one rank of each other cache of
/// its socket, then one rank of each other socket. All ranks take part on each level.
/// Picture  levels 2 x 2   0-1 2-3   0-2 1-3     levels 3 x 2   0-1-2 3-4-5   0-3 1-4 2-5
/// Cost     the sum over levels of direct's with as many ranks as the level joins groups, each with the whole vector:
///          equal to the recorded schedule where groups of a level have as many parts
/// Own work all_reduce takes 90 p steps where ranks would combine in different orders, and it ignores the levels
/// Needs    any p, any levels: ranks of a larger group read a smaller group's members cyclically; where a host's groups
///          differ in size, other groups replace them (hierarchy::for_whole). Where no levels are known, rounds by rank
///          numbers join 4 to 9 groups each
/// Order    kept where the groups hold consecutive ranks, otherwise the functor must commute; same bits on all ranks
/// Prefer   short vectors on many cores: the latency between distant caches counts once or twice.   Avoid: long vectors
///          (see slices_by_level), all_reduce over a single link out of a host (see hierarchical)
/// Source   a butterfly of mixed radix; levels as in n-level collectives over shared memory
#pragma once

#include <cstddef>
#include <string_view>

#include "../core/policy.hpp"
#include "../shape/level_costs.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// On each level, sends `out` to the ranks of other parts that read this one, and folds `in` from one rank of each of
/// these parts. `same_order`: ignores the levels if ranks would combine in different orders.
template <steps Step>
void exchange_by_level(hierarchy const& groups, Step& step, range out, range in, bool same_order = true) {
  if (same_order && !groups.pairs_off()) [[unlikely]] return exchange_by_level(hierarchy(groups.size()), step, out, in);
  int const me = groups.place_of(step.rank());
  for (int level = 0; level < groups.levels(); ++level) {
    hierarchy::group const all = groups.group_at(level, me), own = groups.group_at(level - 1, me);
    int const parts = groups.parts(level - 1, all), mine = groups.part_of(level - 1, all, me), place = me - own.first;
    auto const part = [&groups, all, level, mine](int i) { return groups.part(level - 1, all, other(i, mine)); };
    // How many members of a part read this rank: every own.size()-th one.
    auto const readers = [own, place](hierarchy::group of) {
      return place < of.size() ? (of.size() - 1 - place) / own.size() + 1 : 0;
    };
    int sends = 0;
    bool alike = true;   // all parts have one size: this rank's readers are the ranks that it reads
    for (int i = 0; i < parts - 1; ++i) sends += readers(part(i)), alike &= part(i).size() == own.size();
    auto const read = [&groups, part, own, me](int i) { return groups.rank_at(hierarchy::partner(part(i), own, me)); };
    in_order_of_ranks const in_order(groups, parts - 1, read);
    step(published_among(alike, listed{sends + parts - 1, [=, &groups, &in_order](int i) -> operand {
                  if (i >= sends) return fold{in_order(i - sends), in};
                  int k = 0;
                  for (; i >= readers(part(k)); ++k) i -= readers(part(k));
                  return send{groups.rank_at(part(k).first + place + i * own.size()), out};
                }}));
  }
}

}  // namespace detail

struct direct_by_level {
  static constexpr std::string_view name = "direct_by_level";

  hierarchy const* levels = nullptr;   ///< null: as the communicator knows

  template <class T, class Op>
  struct all_reduce : detail::over_levels<direct_by_level> {
    static constexpr bool ordered = true, same_bits = true;

    template <steps Step>
    void operator()(Step& step, range all) const {
      this->with(step.size(),
                 [&](hierarchy const& groups) { detail::exchange_by_level(groups.for_whole(), step, all, all); });
    }

    own_work work(blocks const& vector, std::size_t) const {
      bool const without = this->tag.levels && !this->tag.levels->for_whole().pairs_off();
      return {0, 0, without ? 90. * vector.parts : 0};
    }
    double cost(machine const& m, int p, std::size_t n) const {
      return n == 0 ? 0 : this->tag.exchange(m, p, static_cast<double>(n * sizeof(T)));
    }
    formula exact_for(machine const&, int p, std::size_t) const { return this->tag.exact_for(p); }
  };

  struct barrier : detail::over_levels<direct_by_level> {
    template <steps Step>
    void operator()(Step& step) const {
      // Folds, because the ranges of two receives may not overlap.
      this->with(step.size(), [&](hierarchy const& groups) {
        detail::exchange_by_level(groups.for_whole(), step, {0, 1}, {1, 2}, false);
      });
    }

    double cost(machine const& m, int p, std::size_t) const { return this->tag.exchange(m, p, 1); }
    formula exact_for(machine const&, int p, std::size_t) const { return this->tag.exact_for(p); }
  };

 private:
  double exchange(machine const& m, int p, double bytes) const {
    return detail::with_hierarchy(levels, p, [&](hierarchy const& known) {
      hierarchy const& groups = known.for_whole();
      double sum = 0;
      for (int level = 0; level < groups.levels(); ++level)
        sum += detail::messages_of_round(m, known, groups, level, groups.most(level), bytes, true, bytes);
      return sum;
    });
  }
  formula exact_for(int p) const {
    return detail::with_hierarchy(
        levels, p, [](hierarchy const& groups) { return exact_if(groups.even() && groups.pairs_off()); });
  }
};

}  // namespace colligo
