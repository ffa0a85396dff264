// SPDX-License-Identifier: BSL-1.0
/// @file
/// The cost model of the Rabenseifner papers (section 3.1), as a value.
#pragma once

#include <limits>

#include "mode.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {
/// More seconds or bytes than any: what minima begin with. Not infinity, because compilers take comparisons with it for
/// false under -ffast-math and -ffinite-math-only.
inline constexpr double beyond_all = std::numeric_limits<double>::max();
}  // namespace detail

/// A rank's own work before it can send: what its algorithm copies, merges and computes. Some 20 steps of arithmetic
/// per message are part of alpha; those of a copy or merge are part of a move.
struct own_work {
  double moves = 0;    ///< calls of copy and merge
  double copied = 0;   ///< elements; merged ones count as combined
  double steps = 0;    ///< of arithmetic: basic blocks of the code, up to the next branch
};

/// The costs of own work.
struct own_costs {
  double move = 0;     ///< seconds for a copy or a merge, whatever its length
  double copied = 0;   ///< seconds per byte copied
  double step = 0;     ///< seconds per step of arithmetic
  friend constexpr bool operator==(own_costs const&, own_costs const&) = default;
};

/// The nearest that two ranks share: a cache, a socket, a host; otherwise a message goes over the network.
enum class distance : unsigned char { cache, socket, host, network };
inline constexpr int distances = 4;

/// A message of n bytes takes alpha + n beta; combining two operands of n bytes takes n gamma. Where a pair of ranks
/// communicates in one direction only, alpha and beta shrink by f_alpha and f_beta (0.5 simplex .. 1 full duplex). If a
/// rank sends or receives several messages in one step, the start-ups of all but the first shrink by f_further: o of
/// the LogP models over alpha; 1, as in the papers, if they do not overlap.
struct machine {
  double alpha;         ///< seconds per message
  double beta;          ///< seconds per byte sent
  double gamma;         ///< seconds per byte combined
  double f_alpha = 1;   ///< alpha_uni / alpha
  double f_beta = 1;    ///< beta_uni / beta
  double f_further = 1;   ///< alpha_further / alpha
  own_costs own{};        ///< by default nothing: as_in_papers()
  int ways = 0;           ///< messages at once over the link that a group of ranks shares; 0: each rank has its own
  bool fetched = false;   ///< the receiver reads the sender's memory: the link's other direction stays free
  machine const* levels = nullptr;   ///< costs by distance, `distances` of them; null: the same at any distance

  constexpr machine const& at(distance how_far) const {
    return levels ? levels[static_cast<int>(how_far)] : *this;
  }
  /// How many times as long messages take if `ranks` ranks of a group share its link.
  constexpr double turns(int ranks) const { return ways == 0 || ranks <= ways ? 1 : static_cast<double>(ranks) / ways; }
  /// The costs while `ranks` ranks of a group send equally many messages. Of fetched ones only bytes share the link.
  constexpr machine shared_by(int ranks) const {
    machine m = *this;
    double const by = turns(ranks);
    m.beta *= by;
    if (by == 1 || fetched) return m;
    m.alpha += (by - 1) * alpha_further();
    m.f_further = by * alpha_further() / m.alpha;
    return m;
  }

  constexpr double alpha_uni() const { return f_alpha * alpha; }
  constexpr double beta_uni() const { return f_beta * beta; }
  constexpr double alpha_further() const { return f_further * alpha; }

  /// Seconds for the start-ups of `messages` messages in one step.
  constexpr double startups(int messages) const { return messages == 0 ? 0 : alpha + (messages - 1) * alpha_further(); }

  /// Seconds for one message while both ends send and receive; `further`: not the first of its step.
  constexpr double exchange(double bytes, bool further = false) const {
    return (further ? alpha_further() : alpha) + bytes * beta;
  }
  /// Seconds for one message while its ends do nothing else.
  constexpr double one_way(double bytes, bool further = false) const {
    return (further ? f_further : 1) * alpha_uni() + bytes * beta_uni();
  }
  /// Seconds for combining.
  constexpr double combine(double bytes) const { return bytes * gamma; }

  /// Seconds for a rank's own work.
  constexpr double alone(own_work const& work, double bytes_per_element) const {
    return work.moves * own.move + work.copied * bytes_per_element * own.copied + work.steps * own.step;
  }

  /// As in the papers, where a rank's own work costs nothing.
  constexpr machine as_in_papers() const {
    machine m = *this;
    m.own = {};
    return m;
  }
  /// One direction costs as much as both: half duplex.
  constexpr bool one_way_as_exchange() const { return f_alpha == 1 && f_beta == 1; }

  friend constexpr bool operator==(machine const&, machine const&) = default;
};

/// Seconds that a cache line takes between cores that share a cache, a socket, a host.
struct line_latencies {
  double cache = 45e-9, socket = 110e-9, host = 275e-9;
  std::size_t line = 64;   ///< its bytes
};

/// A machine that nobody has measured: a microsecond per message, 10 GB/s for moving, copying and combining, 10 ns for
/// a copy or merge, 1 ns for a step of arithmetic.
inline constexpr machine typical{1e-6, 1e-10, 1e-10, 1, 1, 1, {10e-9, 1e-10, 1e-9}};

/// How a policy's closed formula compares with the price of its recorded schedule: equal; equal but for rounding to
/// elements, so that the price lies between those of the nearest sizes that divide; at least the price; about the
/// price.
enum class formula { exact, rounded, bound, estimate };

constexpr formula exact_if(bool condition, formula otherwise = formula::estimate) {
  return condition ? formula::exact : otherwise;
}

}  // namespace colligo
