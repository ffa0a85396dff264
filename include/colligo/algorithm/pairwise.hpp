// SPDX-License-Identifier: BSL-1.0
/// @file
/// Pairwise exchange: in round i a rank sends to the rank i places above it and receives from the rank i places below.
/// A window of rounds runs at once.
/// Picture  p = 4   round 1: 0<->1, 2<->3   round 2: 0<->2, 1<->3   round 3: 0<->3, 1<->2
///          p = 3   round 1: 0->1, 1->2, 2->0   round 2: 0->2, 1->0, 2->1
/// Cost     (p-1) (alpha + n/p beta) for even blocks, n all that a rank sends, equal to the recorded schedule where p
///          divides n; start-ups of a window but the first are alpha_further where they overlap
/// Needs    any p, any counts; a rank needs only its own
/// Order    nothing is combined
/// Prefer   long blocks, uneven ones.   Avoid: blocks of a few bytes on many ranks, p - 1 start-ups
/// Source   folklore; Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, 2005,
///          section 3.2
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cstddef>
#include <string_view>

#include "../core/knob.hpp"
#include "../core/renumbered.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// With `window` peers at a time; if p is a power of two, a rank sends to the same ranks that it receives from. The
/// ranges for and from a rank are in[rank] and out[rank].
template <steps Step, class Blocks>
constexpr void exchange_pairs(Step& step, Blocks const& in, Blocks const& out, int window) {
  int const p = step.size(), me = step.rank();
  bool const mutual = std::has_single_bit(static_cast<unsigned>(p));
  for (int first = 1; first < p; first += std::max(1, std::min(window, p))) {
    int const count = std::max(1, std::min(window, p - first));
    step(listed{2 * count, [=](int k) {
                  int const i = first + (k < count ? k : k - count), to = mutual ? me ^ i : (me + i) % p;
                  int const from = mutual ? to : (me + p - i) % p;
                  return k < count ? operand(send{to, in[to]}) : operand(recv{from, out[from]});
                }});
  }
}

constexpr double cost_of_pairs(machine const& m, int p, double bytes, int window) {
  double all = (bytes - bytes / p) * m.beta;
  for (int first = 1; first < p; first += std::max(1, std::min(window, p)))
    all += m.startups(std::max(1, std::min(window, p - first)));
  return bytes == 0 ? 0 : all;
}

template <class T>
struct in_pairs {
  int window;
  static constexpr bool writes_output_alone = true;

  template <steps Step>
  constexpr void operator()(Step& step, blocks const& in, blocks const& out) const {
    exchange_pairs(step, in, out, window);
  }

  constexpr double cost(machine const& m, int p, std::size_t n) const {
    return cost_of_pairs(m, p, static_cast<double>(n * sizeof(T)), window);
  }
  static constexpr formula exact_for(machine const&, int p, std::size_t n) { return exact_if(divides(p, n)); }
};

}  // namespace detail

struct pairwise {
  static constexpr std::string_view name = "pairwise";

  std::size_t window = 8;   ///< peers at a time each way; 0 counts as 1

  static constexpr std::array knobs{knob<pairwise>{"window", &pairwise::window}};

  template <class T>
  struct all_to_all_v : detail::in_pairs<T> {
    constexpr explicit all_to_all_v(pairwise const& tag)
        : detail::in_pairs<T>{static_cast<int>(std::min<std::size_t>(tag.window, INT_MAX))} {}
  };
};

}  // namespace colligo
