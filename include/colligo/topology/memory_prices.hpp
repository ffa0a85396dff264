// SPDX-License-Identifier: BSL-1.0
/// @file
/// What it costs to read from other ranks of a host, one rank per core.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "../core/machine.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// A message costs a cache line's way there and back. The constants are calibrated on published medians of other
/// libraries; this library has not been measured on such hosts, nor with lines of more than 64 bytes, which bring more
/// at a time. `ways`: see machine.
constexpr machine memory_of(double latency, std::size_t line, int ways) {
  double const read = 8e-9 + latency / 10;   // instructions; ten lines are fetched at once
  double const of_byte = std::max(0.04e-9, latency / (20.0 * static_cast<double>(line)));
  machine m{2 * latency + read, of_byte, 0.05e-9, 1, 1, read / (2 * latency + read)};
  m.own.copied = 0.05e-9;   // into memory that others read
  m.ways = ways, m.fetched = true;
  return m;
}
/// By distance. `cached`: ranks that share a cache; half of them read from other caches at full rate at once. Of a
/// socket's ranks, 20 read from each other socket at full rate.
constexpr std::array<machine, 3> memory_by_distance(line_latencies const& of, int cached, int sockets) {
  return {memory_of(of.cache, of.line, 0), memory_of(of.socket, of.line, std::max(2, cached / 2)),
          memory_of(of.host, of.line, 20 * std::max(1, sockets - 1))};
}

/// What a rank reads in a round, by distance: the number of messages, and of the ranks, itself included, that share the
/// link into its group and read as many.
struct reads {
  std::array<int, 3> messages{}, sharing{};
  bool none() const { return messages == std::array<int, 3>{}; }
  friend bool operator==(reads const&, reads const&) = default;
};
/// Seconds, `gamma` per byte combined. The link is busy with other ranks' lines while a core waits for its own.
template <class Levels>
double wait_for(Levels const& at, reads const& reads, double bytes, double gamma) {
  double way = 0, own = 0, shared = 0;
  for (std::size_t far = 0; far < reads.messages.size(); ++far) {
    if (reads.messages[far] == 0) continue;
    machine const& from = at[far];
    double const all = reads.messages[far] * bytes;
    way = from.alpha - from.alpha_further();
    own += reads.messages[far] * from.alpha_further() + all * (from.beta + gamma);
    shared += all * from.beta * from.turns(reads.sharing[far]);
  }
  return way + std::max(own, shared);
}

}  // namespace colligo::detail
