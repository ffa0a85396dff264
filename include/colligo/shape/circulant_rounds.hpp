// SPDX-License-Identifier: BSL-1.0
/// @file
/// The rounds of a reduce_scatter and of an all_gather on the circulant graph, in any radix, their costs, and the
/// gather that follows a reduce_scatter. circulant.hpp has the card.
#pragma once

#include <algorithm>
#include <cstddef>

#include "../core/machine.hpp"
#include "../core/step.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// One round: a window of blocks shrinks to a radix-th, rounded up. Message j travels that distance j times.
struct circulant_round {
  int window, left;

  constexpr circulant_round(int blocks, int radix) : window(blocks), left((blocks + radix - 1) / radix) {}
  constexpr int messages() const { return (window - 1) / left; }
  constexpr int distance(int j) const { return j * left; }
  constexpr int count(int j) const { return std::min(left, window - distance(j)); }
};

/// A step of messages out(1) .. out(many) and in(1) .. in(many).
template <steps Step, class Out, class In>
constexpr void exchange_on_circulant(Step& step, int many, Out out, In in) {
  if (many == 1) return step(out(1), in(1));
  step(listed{2 * many, [&](int i) { return i < many ? operand(out(i + 1)) : operand(in(i - many + 1)); }});
}

template <steps Step>
constexpr void reduce_scatter_on_circulant(Step& step, blocks const& block, int radix = 2) {
  int const p = step.size(), me = step.rank();
  for (int window = p; window > 1;) {
    circulant_round const round(window, radix);
    int const many = round.messages(), below = std::min(many, me / round.left);   // come from lower ranks
    auto const out = [&](int j) {
      int const to = (me + round.distance(j)) % p;
      return send{to, block.cycle(to, round.count(j))};
    };
    // From the lowest rank on.
    auto const in = [&](int i) {
      int const j = (below - i + many) % many + 1;
      return fold{(me - round.distance(j) + p) % p, block.cycle(me, round.count(j))};
    };
    exchange_on_circulant(step, many, out, in);
    window = round.left;
  }
}

template <steps Step>
constexpr void all_gather_on_circulant(Step& step, blocks const& block, int radix, int window) {
  if (window == 1) return;
  circulant_round const round(window, radix);
  all_gather_on_circulant(step, block, radix, round.left);
  int const p = step.size(), me = step.rank();
  exchange_on_circulant(
      step, round.messages(),
      [&](int j) { return send{(me - round.distance(j) + p) % p, block.cycle(me, round.count(j))}; },
      [&](int j) {
        int const from = (me + round.distance(j)) % p;
        return recv{from, block.cycle(from, round.count(j))};
      });
}
template <steps Step>
constexpr void all_gather_on_circulant(Step& step, blocks const& block, int radix = 2) {
  all_gather_on_circulant(step, block, radix, step.size());
}

/// The costs of the rounds, of which only the first message has the full start-up.
constexpr double startups_on_circulant(machine const& m, int p, int radix = 2) {
  double all = 0;
  for (int window = p; window > 1;) {
    circulant_round const round(window, radix);
    all += m.startups(round.messages());
    window = round.left;
  }
  return all;
}

// A gather to one rank over a binomial tree on the ring that begins there: a rank's collected blocks are one cyclic
// range.
template <steps Step>
constexpr void gather_on_ring(Step& step, blocks const& block, int root) {
  int const p = step.size(), me = step.rank(), place = (me - root + p) % p;
  for (int d = 1; d < p; d *= 2) {
    if (place & d) return step(send{(me - d + p) % p, block.cycle(me, std::min(d, p - place))});
    int const from = place + d < p ? (me + d) % p : nobody;
    if (from != nobody) step(recv{from, block.cycle(from, std::min(d, p - place - d))});
  }
}

/// The time of a reduce_scatter or an all_gather of even blocks; `bytes` in all, at a cost for each byte moved.
constexpr double cost_on_circulant(machine const& m, int p, std::size_t bytes, double per_byte, int radix = 2) {
  double const all = static_cast<double>(bytes);
  return bytes == 0 ? 0 : startups_on_circulant(m, p, radix) + (all - all / p) * per_byte;
}

}  // namespace colligo
