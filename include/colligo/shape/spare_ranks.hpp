// SPDX-License-Identifier: BSL-1.0
/// @file
/// The first step of Rabenseifner's algorithm for p not a power of two: of the first 2 r ranks, pairs exchange halves
/// of the vector and reduce them; the even one (or the root) then has both, and goes on as one of p' = 2^floor(lg p) =
/// p - r virtual ranks.
#pragma once

#include "../core/renumbered.hpp"

namespace colligo::inline COLLIGO_MODE {

struct spare_ranks {
  int p, root = 0;
  int q = floor_power_of_two(p);
  int spare = p - q;

  constexpr bool paired(int r) const { return r < 2 * spare; }
  constexpr int neighbour(int r) const { return paired(r) ? r ^ 1 : nobody; }
  constexpr bool removed(int r) const { return paired(r) && r != survivor(r / 2); }
  constexpr int virtually(int r) const { return paired(r) ? r / 2 : r - spare; }
  constexpr int really(int v) const { return v < spare ? survivor(v) : v + spare; }

  /// The blocks of all real ranks behind virtual ranks v .. w - 1, which are neighbours.
  constexpr range span(blocks const& block, int v, int w) const { return block.span(first_of(v), first_of(w)); }

  /// Costs alpha + alpha_uni + n/2 (beta + beta_uni) + n/2 gamma.
  template <steps Step>
  constexpr void share_with_neighbour(Step& step, range all) const {
    int const me = step.rank(), peer = neighbour(me);
    bool const upper = me % 2 != 0;
    range const mine = upper ? high_half(all) : low_half(all), theirs = upper ? low_half(all) : high_half(all);
    step(send{peer, theirs}, fold{peer, mine});
    if (removed(me)) step(send{peer, mine});
    else step(recv{peer, theirs});
  }

  /// The other end: the removed rank gets its block.
  template <steps Step>
  constexpr void give_neighbour_its_block(Step& step, blocks const& block) const {
    int const me = step.rank(), peer = neighbour(me);
    if (removed(me)) step(recv{peer, block[me]});
    else if (peer != nobody) step(send{peer, block[peer]});
  }

  template <steps Step>
  constexpr auto survivors(Step& step) const {
    return renumbered(step, virtually(step.rank()), q, [*this](int v) { return really(v); });
  }

  static constexpr double cost(machine const& m, double bytes) {
    return m.exchange(bytes / 2) + m.combine(bytes / 2) + m.one_way(bytes / 2);
  }

 private:
  constexpr int survivor(int pair) const { return root / 2 == pair ? root : 2 * pair; }
  constexpr int first_of(int v) const { return v < spare ? 2 * v : v + spare; }
};

}  // namespace colligo
