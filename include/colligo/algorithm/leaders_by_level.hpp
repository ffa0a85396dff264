// SPDX-License-Identifier: BSL-1.0
/// @file
/// Leaders by level: a tree in which one rank leads each group: the root, or whose place is that of the leader around
/// it. Leaders of the groups that a level joins exchange whole vectors, or bundles of all blocks of their groups.
/// Picture  levels 2 x 2, root 0   1->0 3->2   2->0: of gather the blocks 2 and 3 as one message
/// Cost     as many messages in a step as the level joins groups, p - 1 in all; each block of gather and scatter enters
///          or leaves a group once. all_gather: a gather within the outermost groups, whose leaders exchange bundles,
///          and a broadcast; reduce_scatter: a reduce within them, an exchange of bundles and a scatter
/// Own work where groups do not hold consecutive ranks: blocks copied side by side
/// Needs    any p, any levels, any root; room for another vector, but of reduce and broadcast
/// Order    kept where the groups hold consecutive ranks, otherwise the functor must commute
/// Prefer   blocks on several hosts, short vectors on many cores.   Avoid: long vectors (see slices_by_level)
/// Source   trees of n levels, as in collectives over shared memory
#pragma once

#include <string_view>

#include "../core/step.hpp"
#include "../shape/blocks_by_level.hpp"
#include "../shape/leaders.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// What all have to the root.
template <steps Step>
void gather_by_level(nest const& its, Step& step, blocks_by_level const& places, int root, along which) {
  along_leaders(its, step.rank(), root, false, which, [&](auto own, int others, auto const& peer, auto const& part) {
    if (others == 0) return step(send{peer(0), places(own)});
    step(listed{others, [&](int k) { return recv{peer(k), places(part(k))}; }});
  });
}

template <steps Step>
void scatter_by_level(nest const& its, Step& step, blocks_by_level const& places, int root, along which) {
  along_leaders(its, step.rank(), root, true, which, [&](auto own, int others, auto const& peer, auto const& part) {
    if (others == 0) return step(recv{peer(0), places(own)});
    step(listed{others, [&](int k) { return send{peer(k), places(part(k))}; }});
  });
}

/// Whole vectors.
template <steps Step>
void fold_by_level(nest const& its, Step& step, range all, int root, along which) {
  along_leaders(its, step.rank(), root, false, which, [&](auto, int others, auto const& peer, auto const&) {
    if (others == 0) return step(send{peer(0), all});
    step(listed{others, [&](int k) { return fold{peer(in_order_of_ranks(its, k, others, peer)), all}; }});
  });
}
template <steps Step>
void broadcast_by_level(nest const& its, Step& step, range all, int root, along which) {
  along_leaders(its, step.rank(), root, true, which, [&](auto, int others, auto const& peer, auto const&) {
    if (others == 0) return step(recv{peer(0), all});
    step(listed{others, [&](int k) { return send{peer(k), all}; }});
  });
}

constexpr double one_way_messages(machine const& at, int messages, double bytes) {
  return at.f_alpha * at.startups(messages) + messages * bytes * at.beta_uni();
}

}  // namespace detail

struct leaders_by_level {
  static constexpr std::string_view name = "leaders_by_level";

  nest const* levels = nullptr;   ///< null: as the communicator knows

 private:
  // f(its, level, others): of each level, whose leaders exchange messages with so many others.
  template <class F>
  double sum(int p, detail::along which, F const& f) const {
    return detail::with_nest(levels, p, [&](nest const& its) {
      bool const every_round = which == detail::along::all_levels;
      int const end = its.levels() - (which == detail::along::below_outermost);
      double all = 0;
      for (int level = 0; level < end; ++level)
        if (every_round) all += f(its, level, its.most(level) - 1);
        else if (!its.is_short_round(level)) all += f(its, level, its.most_in_long(level) - 1);
      return all;
    });
  }
  double broadcasts(machine const& m, int p, double bytes, detail::along which) const {
    return sum(p, which, [&](nest const& its, int level, int others) {
      machine const& at = m.at(its.how_far(level));
      return detail::one_way_messages(at, at.fetched ? 1 : others, bytes);   // published once
    });
  }
  // Bundles of blocks on each level, to its leaders or from them.
  double bundles(machine const& m, int p, double bytes, detail::along which, bool outwards) const {
    return sum(p, which, [&](nest const& its, int level, int others) {
      machine const& at = m.at(its.how_far(level));
      return detail::one_way_messages(at, outwards && at.fetched ? 1 : others, bytes * share(its, level, p));
    });
  }
  // Of the vector, of the largest part of a level.
  static double share(nest const& its, int level, int p) {
    return 1. * its.largest(its.long_round_before(level)) / p;
  }
  static double exchange(machine const& at, int others, double bundle) {
    int const turns = detail::turns(at, others + 1);
    return at.startups(turns) + turns * bundle * at.beta;
  }
  formula exact_for(int p, bool possible = true) const {
    return detail::with_nest(levels, p, [possible](nest const& its) { return exact_if(possible && its.even()); });
  }
  formula alike_on_one_level(int p, std::size_t n) const {
    return detail::with_nest(levels, p, [&](nest const& its) { return exact_if(divides(p, n) && its.levels() == 1); });
  }

  struct in_bundles : detail::over_levels<leaders_by_level> {
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

 public:
  template <class T, class Op>
  struct reduce : detail::over_levels<leaders_by_level> {
    static constexpr bool ordered = true;

    template <steps Step>
    void operator()(Step& step, range all, int root) const {
      this->with(step.size(), [&](nest const& its) {
        detail::fold_by_level(its, step, all, root, detail::along::all_levels);
      });
    }

    double cost(machine const& m, int p, std::size_t n) const {
      double const bytes = static_cast<double>(n * sizeof(T));
      return n == 0 ? 0 : this->tag.sum(p, detail::along::all_levels, [&](nest const& its, int level, int others) {
        return detail::one_way_messages(m.at(its.how_far(level)), others, bytes) + others * m.combine(bytes);
      });
    }
    formula exact_for(machine const&, int p, std::size_t) const { return this->tag.exact_for(p); }
  };

  template <class T>
  struct broadcast : detail::over_levels<leaders_by_level> {
    template <steps Step>
    void operator()(Step& step, range all, int root) const {
      this->with(step.size(), [&](nest const& its) {
        detail::broadcast_by_level(its, step, all, root, detail::along::all_levels);
      });
    }

    double cost(machine const& m, int p, std::size_t n) const {
      return n == 0 ? 0 : this->tag.broadcasts(m, p, static_cast<double>(n * sizeof(T)), detail::along::all_levels);
    }
    formula exact_for(machine const&, int p, std::size_t) const { return this->tag.exact_for(p); }
  };

  template <class T>
  struct gatherv : in_bundles {
    template <steps Step>
    void operator()(Step& step, blocks const& block, int root) const {
      this->with_places(step.size(), block, [&](nest const& its, detail::blocks_by_level const& places) {
        if (!places.in_place) step(copy{block[step.rank()], places.of_own(step.rank())});
        detail::gather_by_level(its, step, places, root, detail::along::long_rounds);
        if (step.rank() == root) places.copy_all(step, true);
      });
    }

    double cost(machine const& m, int p, std::size_t n) const {
      double const bytes = static_cast<double>(n * sizeof(T));
      return n == 0 ? 0 : this->tag.bundles(m, p, bytes, detail::along::long_rounds, false);
    }
    formula exact_for(machine const&, int p, std::size_t n) const { return this->tag.exact_for(p, divides(p, n)); }
  };

  template <class T, class Op>
  struct reduce_scatter : in_bundles {
    static constexpr bool ordered = true;

    template <steps Step>
    void operator()(Step& step, blocks const& block) const {
      using detail::along;
      this->with_places(step.size(), block, [&](nest const& its, detail::blocks_by_level const& places) {
        int const root = its.rank_at(0);
        detail::fold_by_level(its, step, block.whole, root, along::below_outermost);
        detail::along_leaders(its, step.rank(), root, false, along::outermost,
                               [&](auto own, int others, auto const& peer, auto const& part) {
          places.copy_all(step, false);
          step(listed{2 * others, [&](int i) -> operand {
                        if (i < others) return send{peer(i), places(part(i))};
                        return fold{peer(detail::in_order_of_ranks(its, i - others, others, peer)), places(own)};
                      }});
        });
        detail::scatter_by_level(its, step, places, root, along::below_outermost);
        if (!places.in_place) step(copy{places.of_own(step.rank()), block[step.rank()]});
      });
    }

    double cost(machine const& m, int p, std::size_t n) const {
      double const bytes = static_cast<double>(n * sizeof(T));
      if (n == 0) return 0;
      return this->tag.sum(p, detail::along::long_rounds, [&](nest const& its, int level, int others) {
               machine const& at = m.at(its.how_far(level));
               if (level < its.levels() - 1)
                 return detail::one_way_messages(at, others, bytes) + others * m.combine(bytes);
               double const bundle = bytes * share(its, level, p);
               return exchange(at, others, bundle) + others * m.combine(bundle);
             }) + this->tag.bundles(m, p, bytes, detail::along::below_outermost, true);
    }
    formula exact_for(machine const&, int p, std::size_t n) const { return this->tag.alike_on_one_level(p, n); }
  };

  template <class T>
  struct all_gatherv : in_bundles {
    template <steps Step>
    void operator()(Step& step, blocks const& block) const {
      using detail::along;
      this->with_places(step.size(), block, [&](nest const& its, detail::blocks_by_level const& places) {
        int const root = its.rank_at(0);
        if (!places.in_place) step(copy{block[step.rank()], places.of_own(step.rank())});
        detail::gather_by_level(its, step, places, root, along::below_outermost);
        detail::along_leaders(its, step.rank(), root, false, along::outermost,
                               [&](auto own, int others, auto const& peer, auto const& part) {
          step(listed{2 * others, [&](int i) {
                        return i < others ? operand(send{peer(i), places(own)})
                                          : operand(recv{peer(i - others), places(part(i - others))});
                      }});
        });
        detail::broadcast_by_level(its, step, places({0, step.size()}), root, along::below_outermost);
        places.copy_all(step, true);
      });
    }

    double cost(machine const& m, int p, std::size_t n) const {
      double const bytes = static_cast<double>(n * sizeof(T));
      if (n == 0) return 0;
      return this->tag.broadcasts(m, p, bytes, detail::along::below_outermost) +
             this->tag.sum(p, detail::along::long_rounds, [&](nest const& its, int level, int others) {
               machine const& at = m.at(its.how_far(level));
               double const bundle = bytes * share(its, level, p);
               if (level < its.levels() - 1) return detail::one_way_messages(at, others, bundle);
               return exchange(at, others, bundle);
             });
    }
    formula exact_for(machine const&, int p, std::size_t n) const { return this->tag.alike_on_one_level(p, n); }
  };

  template <class T>
  struct scatterv : in_bundles {
    template <steps Step>
    void operator()(Step& step, blocks const& block, int root) const {
      this->with_places(step.size(), block, [&](nest const& its, detail::blocks_by_level const& places) {
        if (step.rank() == root) places.copy_all(step, false);
        detail::scatter_by_level(its, step, places, root, detail::along::long_rounds);
        if (!places.in_place) step(copy{places.of_own(step.rank()), block[step.rank()]});
      });
    }

    double cost(machine const& m, int p, std::size_t n) const {
      double const bytes = static_cast<double>(n * sizeof(T));
      return n == 0 ? 0 : this->tag.bundles(m, p, bytes, detail::along::long_rounds, true);
    }
    formula exact_for(machine const&, int p, std::size_t n) const { return this->tag.exact_for(p, divides(p, n)); }
  };
};

}  // namespace colligo
