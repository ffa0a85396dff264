// SPDX-License-Identifier: BSL-1.0
/// @file
/// Binary blocks: splits the ranks into blocks of powers of two. Each block reduces and scatters on its own; from the
/// smallest block up each adds its segments to the next larger one; the results go back down and every block gathers on
/// its own.
/// Picture  p = 7 = 4 + 2 + 1, vector ABCD   blocks 0-3, 4-5, 6   within: 0:A 1:C 2:B 3:D   4:AB 5:CD   6:ABCD
///          up: 6->4 AB, 6->5 CD   4->0 A, 4->2 B, 5->1 C, 5->3 D      down: the same messages the other way
/// Cost     p = 2^k: as halving_doubling, equal to the recorded schedule. The sources give no formula for other p. A
///          bound: a block of b ranks waits for its own halving, lg b alpha + (n - n/b) (beta + gamma), and for the
///          segments of the next smaller block, of s ranks, and adds these in b/s (alpha_uni + n/b beta_uni) +
///          n/b gamma. The way back costs as in halving_doubling on the largest block, of p' = 2^floor(lg p) ranks,
///          and for all_reduce b/s (alpha_uni + n/b beta_uni) for each block; a reduce to a root outside of the largest
///          block adds alpha_uni + n/p' beta_uni
/// Needs    any p, any root
/// Order    kept (blocks are neighbours); same bits on all ranks
/// Prefer   long vectors, p not a power of two, where largest_exponent_gap(p) is small.
///          Avoid: short vectors; p = 2^k + 1
/// Source   Rabenseifner and Adamidis, Collective Reduction Operation on Cray X1, section 3.6;
///          Rabenseifner, ICCS 2004, section 2.6
#pragma once

#include <algorithm>
#include <string_view>

#include "../shape/blocks_of_ranks.hpp"
#include "../shape/vector_halving.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <steps Step>
constexpr auto within(Step& step, binary_block block) {
  return renumbered(step, step.rank() - block.first, block.size, [first = block.first](int v) { return first + v; });
}

// Calls pass(peer, segment) for the ranks of the next larger block whose segments are parts of this rank's: rank v of
// the smaller block meets the ranks w of the larger one with w mod size = v.
template <class Pass>
constexpr void meet_larger(binary_block mine, int me, range all, Pass pass) {
  auto const larger = mine.larger();
  for (int w = me - mine.first; w < larger.size; w += mine.size) pass(larger.first + w, segment(all, w, larger.size));
}
constexpr int partner_in_smaller(binary_block mine, int me) {
  auto const smaller = mine.smaller();
  return smaller.size == 0 ? nobody : smaller.first + (me - mine.first) % smaller.size;
}

// Afterwards each rank of the largest block has its segment of the result.
template <steps Step>
constexpr void reduce_scatter_by_blocks(Step& step, range all) {
  int const me = step.rank();
  auto const mine = binary_block::of(me, step.size());
  auto block = within(step, mine);
  reduce_scatter_by_halving(block, all);
  step(fold{partner_in_smaller(mine, me), segment(all, block.rank(), mine.size)});
  meet_larger(mine, me, all, [&](int peer, range r) { step(send{peer, r}); });
}

// The time until this block has its segments. A rank of the smaller block sends to one partner after the other.
constexpr double cost_of_reduce_scatter_by_blocks(machine const& m, binary_block block, double bytes) {
  double const part = bytes / block.size, within = floor_lg(block.size) * m.alpha + (bytes - part) * (m.beta + m.gamma);
  auto const smaller = block.smaller();
  if (smaller.size == 0) return within;
  return std::max(within, cost_of_reduce_scatter_by_blocks(m, smaller, bytes)) +
         block.size / smaller.size * m.one_way(part) + m.combine(part);
}

}  // namespace detail

struct binary_blocks {
  static constexpr std::string_view name = "binary_blocks";

  template <class T, class Op>
  struct all_reduce {
    static constexpr bool ordered = true, same_bits = true;

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      int const me = step.rank();
      auto const mine = binary_block::of(me, step.size());
      auto block = detail::within(step, mine);
      detail::reduce_scatter_by_blocks(step, all);
      detail::meet_larger(mine, me, all, [&](int peer, range r) { step(recv{peer, r}); });
      step(send{detail::partner_in_smaller(mine, me), segment(all, block.rank(), mine.size)});
      all_gather_by_doubling(block, all);
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      if (n == 0) return 0;
      double const bytes = static_cast<double>(n * sizeof(T));
      auto block = binary_block::largest(p);
      double all = detail::cost_of_reduce_scatter_by_blocks(m, block, bytes) + floor_lg(p) * m.alpha +
                   (bytes - bytes / block.size) * m.beta;
      for (; block.smaller().size != 0; block = block.smaller())
        all += block.size / block.smaller().size * m.one_way(bytes / block.size);
      return all;
    }
    static constexpr formula exact_for(machine const&, int p, std::size_t n) {
      if (!divides(floor_power_of_two(p), n)) return formula::rounded;
      return exact_if(is_power_of_two(p), formula::bound);
    }
  };

  template <class T, class Op>
  struct reduce {
    static constexpr bool ordered = true;

    template <steps Step>
    constexpr void operator()(Step& step, range all, int root) const {
      int const me = step.rank(), q = floor_power_of_two(step.size());
      detail::reduce_scatter_by_blocks(step, all);
      bool const substitute = root >= q;   // the root takes the role and the segment of rank 0
      if (substitute && me == 0) return step(send{root, segment(all, 0, q)});
      if (substitute && me == root) step(recv{0, segment(all, 0, q)});
      if (me >= q && me != root) return;
      renumbered gatherers(step, me < q ? me : 0, q, [=](int v) { return substitute && v == 0 ? root : v; });
      gather_by_doubling(gatherers, all, substitute ? 0 : root);
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      if (n == 0) return 0;
      int const q = floor_power_of_two(p);
      double const bytes = static_cast<double>(n * sizeof(T));
      return detail::cost_of_reduce_scatter_by_blocks(m, binary_block::largest(p), bytes) +
             floor_lg(p) * m.alpha_uni() + (bytes - bytes / q) * m.beta_uni() + (p == q ? 0 : m.one_way(bytes / q));
    }
    static constexpr formula exact_for(machine const&, int p, std::size_t n) {
      if (!divides(floor_power_of_two(p), n)) return formula::rounded;
      return exact_if(is_power_of_two(p), formula::bound);
    }
  };
};

}  // namespace colligo
