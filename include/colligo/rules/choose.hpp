// SPDX-License-Identifier: BSL-1.0
/// @file
/// The choice of `automatic`: by a table of measurements if few ranks share memory, or ranks share cores; otherwise the
/// cheapest possible algorithm by closed formulas on a machine (benchmarks/model/bounds prices the choices).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>

#include "../core/range.hpp"
#include "../topology/hierarchy.hpp"
#include "chosen.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Lengths of blocks, in elements, and numbers of messages: each the largest of any rank, so that the ranks agree on
/// them in one all_reduce.
struct exchange_lengths {
  std::size_t longest = 0;    ///< block; 0: not known
  std::size_t usual = 0;      ///< what nine tenths of a rank's blocks do not exceed
  std::size_t longer = 0;     ///< blocks that exceed it, at most a tenth
  std::size_t messages = 0;   ///< blocks for others that are not empty, or from others; 0: not known

  /// All blocks are of that length, as far as is known.
  static constexpr exchange_lengths of_all(std::size_t length) { return {length, length, 0, 0}; }
};

namespace detail {

/// Those of one rank's blocks for the other ranks, `in`, and from them. Looks at all blocks twice.
constexpr exchange_lengths lengths_of(blocks const& in, blocks const& out, int rank) {
  std::array<std::size_t, std::numeric_limits<std::size_t>::digits + 1> of_width{};   // blocks, by bits of the length
  std::size_t sent = 0, received = 0;
  for (int r = 0; r < in.parts; ++r) {
    if (r == rank) continue;
    ++of_width[static_cast<std::size_t>(std::bit_width(in[r].size()))];
    sent += !in[r].empty(), received += !out[r].empty();
  }
  exchange_lengths lengths{.messages = std::max(sent, received)};
  std::size_t const most_longer = static_cast<std::size_t>(in.parts - 1) / 10;
  std::size_t width = of_width.size() - 1;
  for (; width > 0 && lengths.longer + of_width[width] <= most_longer; --width) lengths.longer += of_width[width];
  for (int r = 0; r < in.parts; ++r) {
    if (r == rank) continue;
    std::size_t const n = in[r].size();
    lengths.longest = std::max(lengths.longest, n);
    if (static_cast<std::size_t>(std::bit_width(n)) <= width) lengths.usual = std::max(lengths.usual, n);
  }
  return lengths;
}

}  // namespace detail

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
