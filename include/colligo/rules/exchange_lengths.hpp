// SPDX-License-Identifier: BSL-1.0
/// @file
/// What the ranks of an all_to_all_v agree on before they choose an algorithm: each knows only its own counts.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>

#include "../core/range.hpp"

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
}  // namespace colligo
