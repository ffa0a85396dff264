// SPDX-License-Identifier: BSL-1.0
/// @file
/// Recursive halving and doubling (Rabenseifner's algorithm): reduce_scatter by vector halving and distance doubling,
/// then all_gather (or, for reduce, a gather over a binary tree) the other way. Spare ranks first share the work of
/// their neighbour. After fewer halvings an all_reduce continues with recursive doubling on the rest, which is faster
/// for vectors of medium length.
/// Picture  p = 4, vector ABCD   round 1: 0-1 2-3 swap halves (even ranks keep AB, odd CD)
///          round 2: 0-2 keep A, B   1-3 keep C, D      back: 0-2 1-3 swap quarters, 0-1 2-3 swap halves
///          p = 5: 0 and 1 first reduce a half each, 1 hands its half to 0
/// Cost     p = 2^k      all_reduce  2 lg p alpha + 2 n beta + n gamma - (2 n beta + n gamma) / p
///                       reduce      lg p (alpha + alpha_uni) + n (beta + beta_uni) + n gamma
///                                   - (n (beta + beta_uni) + n gamma) / p
///          else, with p' = 2^floor(lg p), the same of p' and, before it,
///          alpha + alpha_uni + n/2 (beta + beta_uni) + n/2 gamma; all_reduce also hands back: alpha_uni + n beta_uni
///          (the source prices this one alpha + n beta: the same where uni = bi).
///          all_reduce after h < lg p halvings  (lg p + h) alpha + (n - n/2^h) (2 beta + gamma) +
///          (lg p - h) n/2^h (beta + gamma)
///          reduce_scatter  p = 2^k: lg p alpha + (n - n/p) (beta + gamma) and, for p > 2, alpha + n/p beta
///          Equal to the recorded schedule where p' divides n (reduce_scatter: for p = 2^k); else n/p', n/2 ... are
///          rounded to elements
/// Needs    any p, any root (a root among the spare ranks swaps roles with its neighbour)
/// Order    kept (distance doubling merges neighbouring groups); same bits on all ranks
/// Prefer   long vectors, p = 2^k.
///          Avoid: short vectors; p just above a power of two with long vectors (see binary_blocks, ring)
/// Source   Rabenseifner and Adamidis, Collective Reduction Operation on Cray X1, section 3.5;
///          Rabenseifner, ICCS 2004, section 2.5
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "../core/knob.hpp"
#include "../shape/spare_ranks.hpp"
#include "../shape/vector_halving.hpp"

namespace colligo::inline COLLIGO_MODE {

struct halving_doubling {
  static constexpr std::string_view name = "halving_doubling";

  std::size_t halvings = 31;   ///< of an all_reduce, at most lg p; 0 is recursive doubling

  static constexpr std::array knobs{knob<halving_doubling>{"halvings", &halving_doubling::halvings}};

  template <class T, class Op>
  struct all_reduce {
    halving_doubling const& knob;
    static constexpr bool ordered = true, same_bits = true;

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      spare_ranks const ranks{step.size(), 0};
      int const me = step.rank(), neighbour = ranks.neighbour(me);
      ranks.share_with_neighbour(step, all);
      if (ranks.removed(me)) return step(recv{neighbour, all});
      auto inner = ranks.survivors(step);
      int const virtually = inner.rank(), group = knob.group(ranks.q);
      range const mine = segment(all, virtually, group);
      reduce_scatter_by_halving(inner, all, group);
      for (int d = group; d < ranks.q; d *= 2) inner(send{virtually ^ d, mine}, fold{virtually ^ d, mine});
      all_gather_by_doubling(inner, all, group);
      step(send{neighbour, all});
    }

    constexpr double cost(machine const& m, int p, std::size_t n) const {
      if (n == 0) return 0;
      int const q = floor_power_of_two(p), group = knob.group(q), h = floor_lg(group), rest = floor_lg(q) - h;
      double const bytes = static_cast<double>(n * sizeof(T)), left = bytes / group, moved = bytes - left;
      double const inner =
          (rest + 2 * h) * m.alpha + moved * (2 * m.beta + m.gamma) + rest * left * (m.beta + m.gamma);
      return p == q ? inner : spare_ranks::cost(m, bytes) + inner + m.one_way(bytes);
    }
    static constexpr formula exact_for(machine const&, int p, std::size_t n) {
      return exact_if(divides(floor_power_of_two(p), n), formula::rounded);
    }
  };

  template <class T, class Op>
  struct reduce {
    static constexpr bool ordered = true;

    template <steps Step>
    constexpr void operator()(Step& step, range all, int root) const {
      spare_ranks const ranks{step.size(), root};
      ranks.share_with_neighbour(step, all);
      if (ranks.removed(step.rank())) return;
      auto inner = ranks.survivors(step);
      reduce_scatter_by_halving(inner, all);
      gather_by_doubling(inner, all, ranks.virtually(root));
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      if (n == 0) return 0;
      int const q = floor_power_of_two(p);
      double const bytes = static_cast<double>(n * sizeof(T)), moved = bytes - bytes / q;
      double const inner = floor_lg(p) * (m.alpha + m.alpha_uni()) + moved * (m.beta + m.beta_uni() + m.gamma);
      return p == q ? inner : spare_ranks::cost(m, bytes) + inner;
    }
    static constexpr formula exact_for(machine const&, int p, std::size_t n) {
      return exact_if(divides(floor_power_of_two(p), n), formula::rounded);
    }
  };

  // The halving leaves its segments in bit-reversed places: one more exchange puts them in order, which keeps the order
  // of operands.
  template <class T, class Op>
  struct reduce_scatter : detail::exact_for_powers_of_two {
    static constexpr bool ordered = true;

    template <steps Step>
    constexpr void operator()(Step& step, blocks const& block) const {
      spare_ranks const ranks{step.size(), 0};
      int const me = step.rank();
      ranks.share_with_neighbour(step, block.whole);
      if (!ranks.removed(me)) {
        auto inner = ranks.survivors(step);
        int const v = inner.rank();
        int first = 0, count = ranks.q;   // the virtual blocks of this rank
        for (int d = 1; d < ranks.q; d *= 2) {
          count /= 2;
          int const kept = first + (v & d ? count : 0), given = first + (v & d ? 0 : count);
          inner(send{v ^ d, ranks.span(block, given, given + count)},
                fold{v ^ d, ranks.span(block, kept, kept + count)});
          first = kept;
        }
        // The rank that needs this block has, because bits are reversed twice, the block needed here.
        int const owner = first == v ? nobody : first;
        inner(send{owner, ranks.span(block, first, first + 1)}, recv{owner, ranks.span(block, v, v + 1)});
      }
      ranks.give_neighbour_its_block(step, block);
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      if (n == 0) return 0;
      double const bytes = static_cast<double>(n * sizeof(T)), block = bytes / p;
      return floor_lg(p) * m.alpha + (bytes - block) * (m.beta + m.gamma) + (p > 2 ? m.exchange(block) : 0);
    }
  };

 private:
  /// The ranks over which the vector is halved, of p = 2^k.
  constexpr int group(int p) const { return halvings < static_cast<std::size_t>(floor_lg(p)) ? 1 << halvings : p; }
};

}  // namespace colligo
