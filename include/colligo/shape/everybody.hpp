// SPDX-License-Identifier: BSL-1.0
/// @file
/// Steps in which every rank exchanges messages with every other one.
#pragma once

#include "../core/renumbered.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The i-th of the ranks that are not this one.
constexpr int other(int i, int me) { return i < me ? i : i + 1; }

/// Each rank sends `out` to all others, and takes what take(r) says from each rank r.
template <steps Step, class Take>
constexpr void publish_to_others(Step& step, range out, Take take) {
  int const p = step.size(), me = step.rank();
  step(published{listed{2 * (p - 1), [=](int i) {
    return i < p - 1 ? operand(send{other(i, me), out}) : operand(take(other(i - (p - 1), me)));
  }}});
}

/// Each rank gets its slice from all others and combines it.
template <steps Step>
constexpr void exchange_slices(Step& step, blocks const& slice) {
  int const p = step.size(), me = step.rank();
  step(listed{2 * (p - 1), [=](int i) {
                int const r = other(i % (p - 1), me);
                return i < p - 1 ? operand(send{r, slice[r]}) : operand(fold{r, slice[me]});
              }});
}

/// All list their peers in the same order, so with one way in and out per rank they pair off as on a hypercube.
constexpr int turns(int p) { return (1 << ceil_lg(p)) - 1; }
/// A message of so many bytes to each, in so many steps.
constexpr double cost_of_all(machine const& m, int p, double bytes, int steps = 1) {
  return steps * m.startups(turns(p)) + turns(p) * bytes * m.beta;
}
/// Where what is received is fetched, nobody waits for another's turn.
constexpr int turns(machine const& m, int p) { return m.fetched ? p - 1 : turns(p); }

}  // namespace colligo
