// SPDX-License-Identifier: BSL-1.0
/// @file
/// What `automatic` takes. For reductions the papers' own decision rules (Rabenseifner and Adamidis, section 4;
/// Rabenseifner, ICCS 2004, section 3), which were measured on a Cray T3E 900, and what came after them; for the rest
/// of the family the cost formulas' verdict.
#pragma once

#include <bit>
#include <cstddef>
#include <span>

#include "chosen.hpp"

namespace colligo::inline COLLIGO_MODE {

/// What a decision may depend on: nothing that could differ between ranks.
struct situation {
  blocks vector;              ///< the whole vector, in the ranks' blocks
  std::size_t element_size;   ///< bytes
  bool commutes = true;       ///< the functor is known to
  bool exact = false;         ///< any order of operands is known to give the same bits
  bool shared = false;        ///< all ranks share memory, and the elements go through it
  std::span<int const> hosts{};   ///< the host of each rank; empty: all on one, or nothing to be gained from knowing
  host_tables const* tables = nullptr;   ///< of these hosts; null: to be worked out
  machine network = typical;      ///< what messages and combining cost

  constexpr int p() const { return vector.parts; }
  constexpr std::size_t bytes() const { return vector.whole.size() * element_size; }
  constexpr bool power_of_two() const { return std::has_single_bit(static_cast<unsigned>(p())); }
};

/// The algorithm that `automatic` takes.
chosen_algorithm choose(collective what, situation const& s);

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "choose_body.hpp"
#endif
