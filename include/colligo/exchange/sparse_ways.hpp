// SPDX-License-Identifier: BSL-1.0
/// @file
/// How a rank learns who sends to it: the ways of sparse_all_to_all, their prices, and what ranks tell each other.
/// Arithmetic only.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "../core/machine.hpp"

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
/// Cost     with h hosts of m ranks: 2 (m - 1) messages within the host, h/m rounded up between hosts, each message 16
///          bytes longer and sent three times; on one host m - 1 messages
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

/// What a rank tells another one: how many letters come; and all others: its pattern, and that its arguments are
/// refused. In 8 bytes, which are combined by add_counters.
struct sparse_counter {
  std::uint32_t letters = 0;
  std::uint16_t refusals = 0;   ///< 65535 may be more
  exchange_pattern pattern{};

  std::uint64_t word() const {
    return letters | std::uint64_t{refusals} << 32 | std::uint64_t{pattern.messages} << 48 |
           std::uint64_t{pattern.bytes} << 56;
  }
  static sparse_counter of(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word), static_cast<std::uint16_t>(word >> 32),
            {static_cast<std::uint8_t>(word >> 48), static_cast<std::uint8_t>(word >> 56)}};
  }
};
struct add_counters {
  std::uint64_t operator()(std::uint64_t const& a, std::uint64_t const& b) const {
    auto const x = sparse_counter::of(a), y = sparse_counter::of(b);
    auto const refusals = static_cast<std::uint16_t>(std::min(x.refusals + y.refusals, 0xffff));
    return sparse_counter{x.letters + y.letters, refusals,
                          {std::max(x.pattern.messages, y.pattern.messages),
                           std::max(x.pattern.bytes, y.pattern.bytes)}}
        .word();
  }
};

/// p ranks on some hosts, at most `most` on each; costs of messages `within` a host, null: as between hosts.
struct ranks_on_hosts {
  int p, hosts = 1, most = p;
  machine const* within = nullptr;
};

/// Seconds of each way, in the order of sparse_ways, for ranks that send up to `messages` messages of up to `bytes`
/// bytes. `padded`: messages of a dense exchange may travel together with others.
inline std::array<double, sparse_ways.size()> prices_of_ways(machine const& m, ranks_on_hosts const& ranks,
                                                             double messages, double bytes, bool padded) {
  machine const& near = ranks.within ? *ranks.within : m;
  auto const rounds_of = [](int n) {
    double rounds = 0;
    for (int d = 1; d < n; d *= 2) ++rounds;
    return rounds;
  };
  auto const startups = [&](double n) { return n == 0 ? 0 : m.alpha + (n - 1) * m.alpha_further(); };
  int const p = ranks.p;
  double const rounds = rounds_of(p), others = p - 1, straight = startups(messages) + messages * bytes * m.beta;
  double const halving = rounds_of(ranks.hosts) * m.alpha + rounds_of(ranks.most) * near.alpha;
  auto const bruck = [&](double length) {   // each block in half of the rounds
    double const together = rounds * (m.alpha + p / 2. * length * (m.beta + 2 * m.own.copied)) + 2 * p * m.own.move;
    return std::min(together, others * (m.alpha + length * m.beta));
  };
  double const counted = halving + 8 * others * (m.beta + m.gamma);
  double const agreed = 2 * m.alpha + halving;
  double const asking = rounds * m.alpha;
  double const exchanged = bruck(8) + (padded ? std::min(straight, asking + bruck(bytes)) : straight);
  // Letters are probed for, and taken one after the other. A byte is copied into one, and out of it, on each way.
  double const ways_within = ranks.most == 1 ? 0 : ranks.hosts == 1 ? 1 : 2, between = ranks.hosts > 1;
  double const per_byte = ways_within * near.beta + between * m.beta + 2 * (ways_within + between) * m.own.copied;
  double const bundled = ways_within * (ranks.most - 1) * near.alpha +
                         std::ceil((ranks.hosts - 1.) / ranks.most) * m.alpha + messages * (bytes + 16) * per_byte;
  return {counted + straight, agreed + straight, exchanged, bundled};
}

}  // namespace detail
}  // namespace colligo
