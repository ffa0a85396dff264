// SPDX-License-Identifier: BSL-1.0
/// @file
/// The cost model of the Rabenseifner papers (section 3.1), as a value.
#pragma once

#include "mode.hpp"

namespace colligo::inline COLLIGO_MODE {

/// What a rank does for itself before it can send: what its algorithm copies, merges and works out. What is a few steps
/// for each message is part of alpha.
struct own_work {
  double moves = 0;    ///< copies and merges that it says
  double copied = 0;   ///< elements; those that it merges are combined as others are
  double steps = 0;    ///< of arithmetic: so many additions
};

/// And what that costs.
struct own_costs {
  double move = 0;     ///< seconds for a copy or a merge, whatever its length
  double copied = 0;   ///< seconds per byte copied
  double step = 0;     ///< seconds per step of arithmetic
  friend constexpr bool operator==(own_costs const&, own_costs const&) = default;
};

/// A message of n bytes takes alpha + n beta; combining two operands of n bytes takes n gamma. Where a pair of ranks
/// communicates in one direction only, alpha and beta shrink by f_alpha and f_beta (0.5 simplex .. 1 full duplex).
/// Where a rank sends or receives several messages in one step, start-ups of all but the first shrink by f_further: o
/// of the LogP models over alpha; 1, as the papers have it, where they do not overlap.
struct machine {
  double alpha;         ///< seconds per message
  double beta;          ///< seconds per byte sent
  double gamma;         ///< seconds per byte combined
  double f_alpha = 1;   ///< alpha_uni / alpha
  double f_beta = 1;    ///< beta_uni / beta
  double f_further = 1;   ///< alpha_further / alpha
  own_costs own{};        ///< nothing, unless it is said: as_in_papers()

  constexpr double alpha_uni() const { return f_alpha * alpha; }
  constexpr double beta_uni() const { return f_beta * beta; }
  constexpr double alpha_further() const { return f_further * alpha; }

  /// Seconds for the start-ups of so many messages in one step.
  constexpr double startups(int messages) const { return messages == 0 ? 0 : alpha + (messages - 1) * alpha_further(); }

  /// Seconds for one message of so many bytes while both ends send and receive; `further`: not the first of its step.
  constexpr double exchange(double bytes, bool further = false) const {
    return (further ? alpha_further() : alpha) + bytes * beta;
  }
  /// Seconds for one message of so many bytes while its ends do nothing else.
  constexpr double one_way(double bytes, bool further = false) const {
    return (further ? f_further : 1) * alpha_uni() + bytes * beta_uni();
  }
  /// Seconds for combining so many bytes.
  constexpr double combine(double bytes) const { return bytes * gamma; }

  /// Seconds for what a rank does for itself.
  constexpr double alone(own_work const& its, double bytes_per_element) const {
    return its.moves * own.move + its.copied * bytes_per_element * own.copied + its.steps * own.step;
  }

  /// As the papers have it, where a rank's own work costs nothing.
  constexpr machine as_in_papers() const {
    machine its = *this;
    its.own = {};
    return its;
  }
  /// A pair communicates in one direction for what both cost: half duplex.
  constexpr bool one_way_as_exchange() const { return f_alpha == 1 && f_beta == 1; }

  friend constexpr bool operator==(machine const&, machine const&) = default;
};

/// Where nobody has measured: a microsecond per message, 10 GB/s for moving, copying and combining, 10 ns for a copy or
/// merge, 1 ns for a step of arithmetic.
inline constexpr machine typical{1e-6, 1e-10, 1e-10, 1, 1, 1, {10e-9, 1e-10, 1e-9}};

/// What a policy's closed formula is to the price of its recorded schedule: equal; equal but for parts that are rounded
/// to elements, so that the price lies between those of the sizes around that divide; at least that; about that.
enum class formula { exact, rounded, bound, estimate };

constexpr formula exact_if(bool condition, formula otherwise = formula::estimate) {
  return condition ? formula::exact : otherwise;
}

}  // namespace colligo
