// SPDX-License-Identifier: BSL-1.0
/// @file
/// What it costs to read from other ranks of a host, one rank per core.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "../core/machine.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The numbers in the prices within a host; where no unit is said, seconds. "Model": in benchmarks/model/many_cores, of
/// the EPYC; its README.md says what was fitted to published medians of other libraries. This library has not been
/// measured on such hosts, nor with lines of more than 64 bytes, which bring more at a time.
namespace fitted {
inline constexpr double instructions = 8e-9;      ///< for a message received. Model: o
inline constexpr double lines_at_once = 10;       ///< that a core fetches. Model: m
inline constexpr double lines_ahead = 20;         ///< with the help of prefetchers, of long messages. Model: m_stream
inline constexpr double byte_received = 0.04e-9;  ///< at least: 25 GB/s. Model: core_most
inline constexpr double byte_combined = 0.05e-9;  ///< Model: gamma
inline constexpr double byte_copied = 0.05e-9;    ///< into memory that others read: 20 GB/s. Model: 12; of Grace 40
inline constexpr int readers_of_socket = 20;      ///< at full rate. Model: a link of 100 GB/s, some 5 for each core
inline constexpr double further_reader = 6e-9;    ///< of a line: readers get it one after the other. Model: c
inline constexpr double byte_of_further_reader = 0.054e-9;   ///< 3 ns for the 56 bytes of a line. Not in the model
inline constexpr double line_of_further_rank = 50e-9;        ///< 110 in a socket, two or three at a time. Model: m_now
inline constexpr double further_on_network = 1.0 / 6;   ///< machine::f_further between hosts. Assumed: most is latency
/// A host on which each rank has a core, and it is not known which cores are near. Copies are in cache. Assumed.
inline constexpr machine many_cores{0.25e-6, 0.2e-9, byte_combined, 1, 1, 1, {3e-9, 0.05e-9, 0.2e-9}};
}  // namespace fitted

/// A message costs a cache line's way there and back. `ways`: see machine.
constexpr machine memory_of(double latency, std::size_t line, int ways) {
  double const read = fitted::instructions + latency / fitted::lines_at_once;
  double const of_byte = std::max(fitted::byte_received, latency / (fitted::lines_ahead * static_cast<double>(line)));
  machine m{2 * latency + read, of_byte, fitted::byte_combined, 1, 1, read / (2 * latency + read)};
  m.own.copied = fitted::byte_copied;
  m.ways = ways, m.fetched = true;
  return m;
}
/// By distance. `cached`: ranks that share a cache; half of them read from other caches at full rate at once. Of a
/// socket's ranks, readers_of_socket read from each other socket at full rate.
constexpr std::array<machine, 3> memory_by_distance(line_latencies const& of, int cached, int sockets) {
  return {memory_of(of.cache, of.line, 0), memory_of(of.socket, of.line, std::max(2, cached / 2)),
          memory_of(of.host, of.line, fitted::readers_of_socket * std::max(1, sockets - 1))};
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

}  // namespace colligo
