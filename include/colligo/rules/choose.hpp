// SPDX-License-Identifier: BSL-1.0
/// @file
/// The choice of `automatic`: by a table of measurements if few ranks share memory, or ranks share cores; otherwise the
/// cheapest possible algorithm by closed formulas on a machine (benchmarks/model/bounds prices the choices).
#pragma once

#include <bit>
#include <cstddef>

#include "../topology/hierarchy.hpp"
#include "chosen.hpp"
#include "exchange_lengths.hpp"

namespace colligo::inline COLLIGO_MODE {

/// The arguments of a decision, which are the same on all ranks.
struct situation {
  blocks vector;              ///< the whole vector, in the ranks' blocks
  std::size_t element_size;   ///< bytes
  bool commutes = true;       ///< the functor is known to commute
  bool exact = false;         ///< any order of operands is known to give the same bits
  bool stable = false;        ///< the same bits for every length, root, host and transport (COLLIGO_BITS=stable)
  bool shared = false;        ///< all ranks share memory, and the elements can travel through it
  bool cores = false;         ///< and each has a core of its own
  hierarchy const* hosts = nullptr;    ///< hierarchy::of_hosts; null: all ranks are on one, or each on its own
  hierarchy const* levels = nullptr;   ///< hosts included; on one host: of ranks with a core each, or as COLLIGO_LEVELS
                                  ///< says; null: not known
  line_latencies latencies{};   ///< of cores of one host
  machine network = typical;   ///< the costs of messages, combining and own work
  int root = 0;                ///< matters if blocks are uneven
  exchange_lengths exchanged{};   ///< all_to_all_v: what its ranks agree on

  constexpr int p() const { return vector.parts; }
  constexpr std::size_t bytes() const { return vector.whole.size() * element_size; }
  /// The ranks are so many that rounds between pairs are cheaper than `direct`, where all read from all. If ranks share
  /// cores, each round costs context switches: with 16 ranks on 2 cores `direct` took two thirds of the time.
  bool on_many_cores() const {
    bool const several_caches = levels && levels->levels() > 1;
    return !hosts && (levels || (shared && cores)) && p() > (several_caches ? few_without_cache : few_on_host);
  }
  static constexpr int few_without_cache = 4, few_on_host = 8;
  constexpr bool power_of_two() const { return std::has_single_bit(static_cast<unsigned>(p())); }
};

namespace detail {
inline constexpr int few_for_direct = 64;   ///< at most so many ranks should send to one at a time
}

/// The algorithm that `automatic` takes. Optional code is a template: units that do not use it do not compile it.
template <class Lazy = void>
chosen_algorithm choose(collective what, situation const& s);

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "choose_body.hpp"
#endif
