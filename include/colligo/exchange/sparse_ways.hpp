// SPDX-License-Identifier: BSL-1.0
/// @file
/// How a rank learns who sends to it: the ways of sparse_all_to_all, and what ranks tell each other. Arithmetic only.
/// Their prices: sparse_prices.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "../core/mode.hpp"

namespace colligo::inline COLLIGO_MODE {

/// A reduce_scatter of counters tells each rank how many messages it gets; then they go straight, and each rank takes
/// so many, from any source.
/// Cost     ceil(lg p) alpha + 8 p beta, and k messages
/// Needs    8 p bytes
/// Prefer   up to some thousand ranks
struct counters {
  static constexpr std::string_view name = "counters";
};
/// Each message is acknowledged when its receiver takes it. A rank all of whose messages have been taken joins a
/// non-blocking all_reduce; when that is complete, no message is on its way.
/// Cost     ceil(lg p) alpha + 2 alpha, and k messages
/// Needs    memory for its own messages alone
/// Prefer   more ranks
/// Source   Hoefler, Siebert, Lumsdaine, Scalable Communication Protocols for Dynamic Sparse Data Exchange, 2010 (NBX)
struct consensus {
  static constexpr std::string_view name = "consensus";
};
/// An all_to_all of counts, then an all_to_all_v; of a request messages straight.
/// Cost     all_to_all's of 8 bytes a rank, and all_to_all_v's
/// Needs    some 50 p bytes
/// Prefer   most ranks send to most others, few bytes
struct dense {
  static constexpr std::string_view name = "dense";
};

/// Each rank sends each other rank of its host one letter, with what that rank passes on; each pair of hosts exchanges
/// one letter each way, by ranks that take turns; what comes is dealt out within the host in the same way. All letters
/// are sent, so nobody has to learn who sends.
/// Picture  hosts 0-1 2-3 4-5, as bundles_by_level   1 and 3 lead for the first two: 0->1 2->3, 1-3, 1->0 3->2
/// Cost     with h hosts of m ranks: 2 (m - 1) letters within the host, h/m rounded up between hosts, of 8 bytes and of
///          messages, each some 6 bytes longer and sent three times; on one host m - 1 letters
/// Needs    three times the messages that pass a rank; elements that travel as bytes (counters takes others)
/// Prefer   several short messages of a rank, few hosts of several ranks, many senders to few.   Avoid: long messages
/// Source   aggregation by locality, as in MPI Advance: Collom, Li, Bienz, Optimizing Irregular Communication, 2023
struct by_host {
  static constexpr std::string_view name = "by_host";
};

namespace detail {

enum class sparse_way : std::uint8_t { counters, consensus, dense, by_host };
inline constexpr std::array sparse_ways{counters::name, consensus::name, dense::name, by_host::name};
inline constexpr std::string_view names_of_ways = "counters, consensus, dense, by_host";

/// The most messages of a rank and the bytes of the longest one, rounded up to a fourth of a power of two, so that one
/// byte each is enough.
struct exchange_pattern {
  std::uint8_t messages = 0, bytes = 0;
  friend bool operator==(exchange_pattern const&, exchange_pattern const&) = default;
  /// Of both.
  constexpr exchange_pattern with(exchange_pattern const& other) const {
    return {std::max(messages, other.messages), std::max(bytes, other.bytes)};
  }

  static constexpr std::uint8_t code(std::uint64_t n) {
    if (n < 4) return static_cast<std::uint8_t>(n);
    int const shift = static_cast<int>(std::bit_width(n)) - 3;   // leaves three bits
    std::uint64_t const kept = (n >> shift) + ((n & ((std::uint64_t{1} << shift) - 1)) != 0);   // 4 .. 8
    return static_cast<std::uint8_t>(4 * shift + static_cast<int>(kept));
  }
  static constexpr double at_most(std::uint8_t code) {
    if (code < 8) return code;
    int const shift = (code - 4) / 4;
    double value = code - 4 * shift;
    for (int i = 0; i < shift; ++i) value *= 2;
    return value;
  }
};
/// Before the first call, and after one that has failed, in which ranks may have heard of different ones.
inline constexpr exchange_pattern few_messages{8, 0};

/// What a rank tells another one: how many letters come; and all others: its pattern, its way, and that its arguments
/// are refused. In 8 bytes, which are combined by add_counters.
struct sparse_counter {
  std::uint32_t letters = 0;    ///< less than 2^28
  std::uint16_t refusals = 0;   ///< 65535 may be more
  exchange_pattern pattern{};
  std::uint8_t ways = 0;        ///< a bit for each

  std::uint64_t word() const {
    return letters | std::uint64_t{ways} << 28 | std::uint64_t{refusals} << 32 |
           std::uint64_t{pattern.messages} << 48 | std::uint64_t{pattern.bytes} << 56;
  }
  static sparse_counter of(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word) & 0xfff'ffff, static_cast<std::uint16_t>(word >> 32),
            {static_cast<std::uint8_t>(word >> 48), static_cast<std::uint8_t>(word >> 56)},
            static_cast<std::uint8_t>(word >> 28 & 0xf)};
  }
  void set_way(sparse_way way) { ways = static_cast<std::uint8_t>(1 << static_cast<int>(way)); }
};
struct add_counters {
  std::uint64_t operator()(std::uint64_t const& a, std::uint64_t const& b) const {
    auto const x = sparse_counter::of(a), y = sparse_counter::of(b);
    auto const refusals = static_cast<std::uint16_t>(std::min(x.refusals + y.refusals, 0xffff));
    auto const ways = static_cast<std::uint8_t>(x.ways | y.ways);
    return sparse_counter{(x.letters + y.letters) & 0xfff'ffff, refusals, x.pattern.with(y.pattern), ways}.word();
  }
};

}  // namespace detail
}  // namespace colligo
