// SPDX-License-Identifier: BSL-1.0
/// @file
/// Direct by level: within each cache everybody reads everybody, then each rank reads one of each other cache of its
/// socket, then one of each other socket. All ranks take part on each level.
/// Picture  levels 2 x 2   0-1 2-3   0-2 1-3     levels 3 x 2   0-1-2 3-4-5   0-3 1-4 2-5
/// Cost     the sum over levels of direct's with as many ranks as the level joins groups, each with the whole vector:
///          equal to the recorded schedule where groups of a level have as many parts. reduce and broadcast: a tree in
///          which one rank speaks for each group, with as many messages in a step as the level joins groups; gather
///          and scatter such a tree without short rounds, of bundles, so that each block enters or leaves a group once;
///          all_gather a gather within the outermost groups, whose speakers exchange bundles, and a broadcast
/// Own work of gather, scatter and all_gather, where groups do not hold consecutive ranks: blocks copied side by side
/// Needs    any p, any levels: a rank of a larger group reads a smaller one's members round again. Without levels that
///          are known there are rounds of 4 to 9 by rank numbers
/// Order    kept where the groups hold consecutive ranks, otherwise the functor must commute; same bits on all ranks
/// Prefer   short vectors on many cores: a line's way between distant caches is gone once or twice.
///          Blocks on several hosts. Avoid: long vectors (see slices_by_level), all_reduce over a single way out of a
///          host (see hierarchical)
/// Source   a butterfly of mixed radix; levels as in n-level collectives over shared memory
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "../core/step.hpp"
#include "../shape/blocks_by_level.hpp"
#include "../shape/everybody.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// Level by level: `out` to those who read this rank in other parts of its group, `in` folded from one of each part.
/// Without the levels where not all would combine in the same order.
template <steps Step>
void exchange_by_level(nest const& its, Step& step, range out, range in) {
  if (!its.pairs_off()) [[unlikely]] return exchange_by_level(nest(its.size()), step, out, in);
  int const me = its.place_of(step.rank());
  for (int level = 0; level < its.levels(); ++level) {
    nest::group const all = its.group_at(level, me), own = its.group_at(level - 1, me);
    int const parts = its.parts(level - 1, all), mine = its.part_of(level - 1, all, me), place = me - own.first;
    auto const part = [&its, all, level, mine](int i) { return its.part(level - 1, all, other(i, mine)); };
    // Every own.size()-th member of a part reads this rank.
    auto const readers = [own, place](nest::group of) {
      return place < of.size() ? (of.size() - 1 - place) / own.size() + 1 : 0;
    };
    int sends = 0;
    for (int i = 0; i < parts - 1; ++i) sends += readers(part(i));
    step(listed{sends + parts - 1, [=, &its](int i) -> operand {
                  if (i >= sends) return fold{its.rank_at(nest::partner(part(i - sends), own, me)), in};
                  int k = 0;
                  for (; i >= readers(part(k)); ++k) i -= readers(part(k));
                  return send{its.rank_at(part(k).first + place + i * own.size()), out};
                }});
  }
}

/// Level by level from the root out, or back to it: in each group one rank speaks for all, and exchanges with those who
/// speak for its parts. f(own, others, peer, part): its part; of how many others the speakers are peer(0), peer(1) ...,
/// and which parts; none: it does not speak, peer(0) does.
enum class along { all_levels, long_rounds, below_outermost, outermost };
template <class F>
void along_speakers(nest const& its, int rank, int root, bool outwards, along which, F const& f) {
  bool const every_round = which == along::all_levels;
  int const me = its.place_of(rank), start = its.place_of(root), outermost = its.levels() - 1;
  auto const below = [&its, every_round](int level) { return every_round ? level - 1 : its.long_round_before(level); };
  // Of a place's group of a level, from the outermost on: the root, or who stands where the speaker around it does.
  auto const speaker = [&](int level, int place) {
    int its_speaker = start;
    for (int above = its.levels() - 1; above > level; above = below(above)) {
      nest::group const part = its.group_at(below(above), place), own = its.group_at(below(above), its_speaker);
      if (part.first != own.first) its_speaker = nest::partner(part, own, its_speaker);
    }
    return its_speaker;
  };
  auto const exchange = [&](int level) {
    if (which == (level == outermost ? along::below_outermost : along::outermost)) return;
    if (speaker(below(level), me) != me) return;   // somebody else speaks for its part
    nest::group const all = its.group_at(level, me), own = its.group_at(below(level), me);
    int const first = which == along::outermost ? me : speaker(level, me), mine = its.part_of(below(level), all, me);
    int const others = first == me ? its.parts(below(level), all) - 1 : 0;
    if (first == me && others == 0) return;
    auto const part = [=, &its](int k) { return its.part(below(level), all, other(k, mine)); };
    f(own, others,
      [=, &its](int k) { return its.rank_at(first != me ? first : nest::partner(part(k), own, me)); }, part);
  };
  if (outwards)
    for (int level = its.levels() - 1; level >= 0; level = below(level)) exchange(level);
  else
    for (int level = every_round ? 0 : its.long_round_after(-1); level < its.levels();
         level = every_round ? level + 1 : its.long_round_after(level))
      exchange(level);
}

/// Bundles of blocks to the root, or from it.
template <steps Step>
void gather_by_level(nest const& its, Step& step, blocks_by_level const& places, int root, along which) {
  along_speakers(its, step.rank(), root, false, which, [&](auto own, int others, auto const& peer, auto const& part) {
    if (others == 0) return step(send{peer(0), places(own)});
    step(listed{others, [&](int k) { return recv{peer(k), places(part(k))}; }});
  });
}

template <steps Step>
void broadcast_by_level(nest const& its, Step& step, range all, int root, along which) {
  along_speakers(its, step.rank(), root, true, which, [&](nest::group, int others, auto const& peer, auto const&) {
    if (others == 0) return step(recv{peer(0), all});
    step(listed{others, [&](int k) { return send{peer(k), all}; }});
  });
}

}  // namespace detail

struct direct_by_level {
  static constexpr std::string_view name = "direct_by_level";

  nest const* levels = nullptr;   ///< null: as the communicator knows

 private:
  struct bundled : detail::over_levels<direct_by_level> {
    static std::size_t scratch(blocks const& vector, std::size_t) { return vector.whole.size(); }
    own_work work(blocks const& vector, std::size_t) const {
      if (in_order(vector.parts)) return {};
      return {vector.parts + 1.0, static_cast<double>(vector.whole.size() + vector.longest())};
    }
  };

 public:
  template <class T, class Op>
  struct all_reduce : detail::over_levels<direct_by_level> {
    static constexpr bool ordered = true;
    static constexpr bool same_bits = true;

    template <steps Step>
    void operator()(Step& step, range all) const {
      this->with(step.size(), [&](nest const& its) { detail::exchange_by_level(its, step, all, all); });
    }

    double cost(machine const& m, int p, std::size_t n) const {
      return this->with(p, [&](nest const& its) {
        double sum = 0, bytes = static_cast<double>(n * sizeof(T));
        for (int level = 0; level < its.levels() && n != 0; ++level) {
          int const parts = its.fewest_and_most(level, level - 1).second, turns = detail::turns(parts);
          sum += m.startups(turns) + turns * bytes * m.beta + (parts - 1) * m.combine(bytes);
        }
        return sum;
      });
    }
    formula exact_for(machine const&, int p, std::size_t) const {
      return exact_if(this->with(p, [](nest const& its) { return its.even() && its.pairs_off(); }));
    }
  };

  template <class T, class Op>
  struct reduce : detail::over_levels<direct_by_level> {
    static constexpr bool ordered = true;

    template <steps Step>
    void operator()(Step& step, range all, int root) const {
      this->with(step.size(), [&](nest const& its) {
        detail::along_speakers(its, step.rank(), root, false, detail::along::all_levels,
                               [&](auto, int others, auto const& peer, auto const&) {
          if (others == 0) return step(send{peer(0), all});
          step(listed{others, [&](int k) { return fold{peer(detail::in_order_of_ranks(its, k, others, peer)), all}; }});
        });
      });
    }
  };

  template <class T>
  struct broadcast : detail::over_levels<direct_by_level> {
    template <steps Step>
    void operator()(Step& step, range all, int root) const {
      this->with(step.size(), [&](nest const& its) {
        detail::broadcast_by_level(its, step, all, root, detail::along::all_levels);
      });
    }
  };

  struct barrier : detail::over_levels<direct_by_level> {
    template <steps Step>
    void operator()(Step& step) const {
      // A fold, for all of them come to the same place.
      this->with(step.size(), [&](nest const& its) { detail::exchange_by_level(its, step, {0, 1}, {1, 2}); });
    }
  };

  template <class T>
  struct gatherv : bundled {
    template <steps Step>
    void operator()(Step& step, blocks const& block, int root) const {
      this->with(step.size(), [&](nest const& its) {
        detail::blocks_by_level const places{its, block, false, its.consecutive()};
        if (!places.in_place) step(copy{block[step.rank()], places.of(its.place_of(step.rank()))});
        detail::gather_by_level(its, step, places, root, detail::along::long_rounds);
        if (step.rank() == root) places.copy_all(step, true);
      });
    }
  };

  template <class T>
  struct all_gatherv : bundled {
    template <steps Step>
    void operator()(Step& step, blocks const& block) const {
      using detail::along;
      this->with(step.size(), [&](nest const& its) {
        detail::blocks_by_level const places{its, block, false, its.consecutive()};
        int const root = its.rank_at(0);
        range const all = places({0, step.size()});
        if (!places.in_place) step(copy{block[step.rank()], places.of(its.place_of(step.rank()))});
        detail::gather_by_level(its, step, places, root, along::below_outermost);
        detail::along_speakers(its, step.rank(), root, false, along::outermost,
                               [&](auto own, int others, auto const& peer, auto const& part) {
          step(listed{2 * others, [&](int i) {
                        return i < others ? operand(send{peer(i), places(own)})
                                          : operand(recv{peer(i - others), places(part(i - others))});
                      }});
        });
        detail::broadcast_by_level(its, step, all, root, along::below_outermost);
        places.copy_all(step, true);
      });
    }
  };

  template <class T>
  struct scatterv : bundled {
    template <steps Step>
    void operator()(Step& step, blocks const& block, int root) const {
      this->with(step.size(), [&](nest const& its) {
        detail::blocks_by_level const places{its, block, false, its.consecutive()};
        if (step.rank() == root) places.copy_all(step, false);
        detail::along_speakers(its, step.rank(), root, true, detail::along::long_rounds,
                               [&](auto own, int others, auto const& peer, auto const& part) {
          if (others == 0) return step(recv{peer(0), places(own)});
          step(listed{others, [&](int k) { return send{peer(k), places(part(k))}; }});
        });
        if (!places.in_place) step(copy{places.of(its.place_of(step.rank())), block[step.rank()]});
      });
    }
  };
};

}  // namespace colligo
