// SPDX-License-Identifier: BSL-1.0
/// @file
/// Circulant: on any number of ranks, reduce_scatter and all_gather in ceil(lg p) rounds with no element sent twice.
/// Distances are p halved, rounded up, again and again; rank r works on the blocks r, r + 1 ...
/// (round the end of the vector). With a larger radix than 2 there are fewer rounds of several messages each.
/// Picture  p = 5, distances 3 2 1   round 1: r sends blocks r+3 r+4 to r+3   round 2: r+2 to r+2   round 3: r+1 to r+1
///          every time it folds what it receives into its first blocks; block r is done. Backwards it is an all_gather.
///          radix 3, distances 2 1   round 1: r sends blocks r+2 r+3 to r+2, r+4 to r+4   round 2: r+1 to r+1
/// Cost     with q = ceil(lg p): reduce_scatter  q alpha + (n - n/p) (beta + gamma)
///          all_gather  q alpha + (n - n/p) beta
///          all_reduce  2 q alpha + (n - n/p) (2 beta + gamma)
///          reduce  q (alpha + alpha_uni) + (n - n/p) (beta + beta_uni + gamma): a gather over a binomial tree follows
///          equal to the recorded schedule where p divides n; with a radix k the rounds are those of windows p, p/k,
///          p/k^2 ..., rounded up, and one that begins with w and leaves d costs alpha and, for each of its messages
///          but the first, of which there are ceil(w/d) - 2, alpha_further
/// Needs    any p, any root; for reductions a commutative functor
/// Order    not kept; same bits on all ranks (each block is reduced by one rank)
/// Prefer   long vectors on any number of ranks; all_gather of short ones. A radix above 2: where the start-ups of
///          messages to several ranks overlap, alpha_further below half of alpha.
///          Avoid: reductions of very short vectors (see census)
/// Source   J. L. Traff, Optimal, non-pipelined reduce-scatter and allreduce algorithms, 2024; radices after Bruck, Ho,
///          Kipnis, Upfal, Weathersby, Efficient Algorithms for All-to-All Communications in Multiport Message-Passing
///          Systems, 1997
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "../core/knob.hpp"
#include "../shape/circulant.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// One round: the blocks that are left of a window become a radix-th, rounded up. Message j goes that distance j times.
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

/// What the rounds cost where the start-ups of one are not alpha, but that of the first of its messages.
constexpr double startups_on_circulant(machine const& m, int p, int radix = 2) {
  double all = 0;
  for (int window = p; window > 1;) {
    circulant_round const round(window, radix);
    all += m.startups(round.messages());
    window = round.left;
  }
  return all;
}

// To one rank, over a binomial tree on the ring that begins there: what a rank has collected is one cyclic range.
template <steps Step>
constexpr void gather_on_ring(Step& step, blocks const& block, int root) {
  int const p = step.size(), me = step.rank(), place = (me - root + p) % p;
  for (int d = 1; d < p; d *= 2) {
    if (place & d) return step(send{(me - d + p) % p, block.cycle(me, std::min(d, p - place))});
    int const from = place + d < p ? (me + d) % p : nobody;
    if (from != nobody) step(recv{from, block.cycle(from, std::min(d, p - place - d))});
  }
}

}  // namespace detail

struct circulant {
  static constexpr std::string_view name = "circulant";

  std::size_t radix = 2;   ///< at least 2; from p on everybody exchanges with everybody at once

  static constexpr std::array knobs{knob<circulant>{"radix", &circulant::radix}};

  template <class T, class Op>
  struct reduce_scatter {
    static constexpr bool ordered = false;
    circulant const& knob;

    template <steps Step>
    constexpr void operator()(Step& step, blocks const& block) const {
      detail::reduce_scatter_on_circulant(step, block, knob.for_ranks(step.size()));
    }

    constexpr double cost(machine const& m, int p, std::size_t n) const {
      return knob.rounds(m, p, n * sizeof(T), m.beta + m.gamma);
    }
  };

  template <class T, class Op>
  struct reduce {
    static constexpr bool ordered = false;
    circulant const& knob;

    template <steps Step>
    constexpr void operator()(Step& step, range all, int root) const {
      blocks const block{all, step.size()};
      detail::reduce_scatter_on_circulant(step, block, knob.for_ranks(step.size()));
      detail::gather_on_ring(step, block, root);
    }

    constexpr double cost(machine const& m, int p, std::size_t n) const {
      double const bytes = static_cast<double>(n * sizeof(T)), moved = bytes - bytes / p;
      return knob.rounds(m, p, n * sizeof(T), m.beta + m.gamma) +
             (n == 0 ? 0 : ceil_lg(p) * m.alpha_uni() + moved * m.beta_uni());
    }
  };

  template <class T>
  struct all_gatherv {
    circulant const& knob;

    template <steps Step>
    constexpr void operator()(Step& step, blocks const& block) const {
      detail::all_gather_on_circulant(step, block, knob.for_ranks(step.size()));
    }

    constexpr double cost(machine const& m, int p, std::size_t n) const {
      return knob.rounds(m, p, n * sizeof(T), m.beta);
    }
  };

  template <class T, class Op>
  struct all_reduce {
    static constexpr bool ordered = false;
    static constexpr bool same_bits = true;
    circulant const& knob;

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      blocks const block{all, step.size()};
      int const base = knob.for_ranks(step.size());
      detail::reduce_scatter_on_circulant(step, block, base);
      detail::all_gather_on_circulant(step, block, base);
    }

    constexpr double cost(machine const& m, int p, std::size_t n) const {
      std::size_t const bytes = n * sizeof(T);
      return knob.rounds(m, p, bytes, m.beta + m.gamma) + knob.rounds(m, p, bytes, m.beta);
    }
  };

 private:
  constexpr int for_ranks(int p) const {
    return static_cast<int>(std::clamp<std::size_t>(radix, 2, static_cast<std::size_t>(std::max(2, p))));
  }
  /// Those of a reduce_scatter or all_gather that moves a byte for so many seconds.
  constexpr double rounds(machine const& m, int p, std::size_t bytes, double per_byte) const {
    double const all = static_cast<double>(bytes);
    return bytes == 0 ? 0 : detail::startups_on_circulant(m, p, for_ranks(p)) + (all - all / p) * per_byte;
  }
};

}  // namespace colligo
