// SPDX-License-Identifier: BSL-1.0
/// @file
/// The cost model of the Rabenseifner papers (section 3.1), as a value.
#pragma once

#include "mode.hpp"

namespace colligo::inline COLLIGO_MODE {

/// A message of n bytes takes alpha + n beta; combining two operands of n bytes takes n gamma. Where a pair of ranks
/// communicates in one direction only, alpha and beta shrink by f_alpha and f_beta (0.5 simplex .. 1 full duplex).
struct machine {
  double alpha;         ///< seconds per message
  double beta;          ///< seconds per byte sent
  double gamma;         ///< seconds per byte combined
  double f_alpha = 1;   ///< alpha_uni / alpha
  double f_beta = 1;    ///< beta_uni / beta

  constexpr double alpha_uni() const { return f_alpha * alpha; }
  constexpr double beta_uni() const { return f_beta * beta; }

  /// Seconds for one message of so many bytes while both ends send and receive.
  constexpr double exchange(double bytes) const { return alpha + bytes * beta; }
  /// Seconds for one message of so many bytes while its ends do nothing else.
  constexpr double one_way(double bytes) const { return alpha_uni() + bytes * beta_uni(); }
  /// Seconds for combining so many bytes.
  constexpr double combine(double bytes) const { return bytes * gamma; }

  friend constexpr bool operator==(machine const&, machine const&) = default;
};

/// Where nobody has measured: a microsecond per message, 10 GB/s for moving and for combining.
inline constexpr machine typical{1e-6, 1e-10, 1e-10};

}  // namespace colligo
