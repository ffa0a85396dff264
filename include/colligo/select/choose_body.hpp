// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of choose.hpp: the rules.
#pragma once

#include <cmath>
#include <optional>

#include "choose.hpp"
#include "table.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

// Below 32 ranks the papers' figure takes the ring up to p = (size / 256)^(9/16); the text puts p = 15 at 64 KB.
inline bool few_enough_for_ring(situation const& s) {
  return s.p() < 32 && s.p() <= std::pow(static_cast<double>(s.bytes()) / 256, 9.0 / 16) &&
         (s.p() != 15 || s.bytes() >= 65536);
}
inline bool balanced_enough_for_blocks(situation const& s) {
  return s.p() > 32 && s.bytes() >= 16384 &&
         largest_exponent_gap(s.p()) < std::log2(static_cast<double>(s.bytes())) / 2 - 2.5;
}

// The papers: <= 1 KB the vendor's for p = 2^k (where there is none, `otherwise`: they see no big difference), else
// binary tree.
inline any_algorithm choose_short(situation const& s, any_algorithm const& otherwise) {
  if (!s.power_of_two()) return binary_tree{};
  return s.vendor ? vendor{} : otherwise;
}
inline any_algorithm choose_long(situation const& s) {
  if (s.power_of_two()) return halving_doubling{};
  if (s.commutes && few_enough_for_ring(s)) return ring{};
  if (balanced_enough_for_blocks(s)) return binary_blocks{};
  return halving_doubling{};
}

// Census and circulant are younger than the papers: for p not a power of two they need fewer rounds, or move less, than
// all of those.
inline any_algorithm choose_all_reduce(situation const& s) {
  bool const is_short = s.bytes() <= 1024;
  if (s.p() > 2 && !s.power_of_two() && is_short && s.exact) return census{};
  if (s.bytes() <= 32) return recursive_doubling{};
  if (is_short) return choose_short(s, recursive_doubling{});
  return !s.power_of_two() && s.commutes ? circulant{} : choose_long(s);
}

inline any_algorithm choose_broadcast(situation const& s) {
  if (s.p() <= 2 || s.bytes() <= 8192) return binary_tree{};
  return s.bytes() / static_cast<std::size_t>(s.p()) >= 65536 ? any_algorithm{pipelined_chain{}} : scatter_all_gather{};
}

inline any_algorithm choose_reduce_scatter(situation const& s) {
  if (!s.commutes) return halving_doubling{};
  return s.power_of_two() ? any_algorithm{recursive_halving{}} : circulant{};
}

// A tree forwards blocks lg p times, which pays while start-ups count.
inline any_algorithm choose_gather(situation const& s) {
  return s.bytes() / static_cast<std::size_t>(s.p()) <= 2048 ? any_algorithm{binary_tree{}} : linear{};
}

// Ranks of several hosts, some of which share memory: between hosts few messages, long vectors over all of a host's
// ranks.
// Measured on 8 emulated hosts of 4 ranks (README): between few hosts one exchange of everybody with everybody is
// quickest, 22 ms against 47 of recursive doubling.
inline std::optional<any_algorithm> choose_on_hosts(collective what, situation const& s) {
  if (s.hosts.empty()) return std::nullopt;
  host_map const map{s.hosts, s.p(), s.tables};
  int const hosts = map.host_count();
  constexpr int few = 16;
  bool const reduces = what == collective::all_reduce || what == collective::reduce;
  if (hosts == s.p() || !(reduces || what == collective::broadcast) || !(!reduces || s.commutes || map.consecutive()))
    return std::nullopt;
  if (what == collective::all_reduce && s.bytes() >= (hosts <= few ? 1u << 20 : 1u << 15)) return multi_leader{};
  if (what == collective::all_reduce && hosts <= few) return hierarchical<binary_tree, direct>{};
  return hierarchical{};
}

}  // namespace detail

COLLIGO_BODY chosen_algorithm choose(collective what, situation const& s) {
  if (auto const on_hosts = detail::choose_on_hosts(what, s)) return {*on_hosts, transport::shared_memory};
  if (s.shared) return {detail::choose_shared(what, s.p(), s.bytes()), transport::shared_memory};
  using enum collective;
  constexpr std::size_t long_vector = 65536;   // bytes from which on moving them outweighs a few start-ups
  switch (what) {
    case all_reduce: return detail::choose_all_reduce(s);
    case reduce: return s.bytes() <= 1024 ? detail::choose_short(s, binary_tree{}) : detail::choose_long(s);
    case broadcast: return detail::choose_broadcast(s);
    case all_gather:
      return s.bytes() >= 8 * long_vector ? any_algorithm{ring{}}
             : s.power_of_two()           ? any_algorithm{recursive_doubling{}}
                                          : circulant{};
    // Blocks cost start-ups.
    case all_gatherv: return s.bytes() >= 64 * long_vector ? any_algorithm{pipelined_ring{}} : circulant{};
    case gather: case gatherv: case scatter: case scatterv: return detail::choose_gather(s);
    case reduce_scatter: case reduce_scatter_block: return detail::choose_reduce_scatter(s);
    case scan: return s.bytes() >= long_vector ? any_algorithm{pipelined_chain{}} : recursive_doubling{};
    case exclusive_scan: return s.bytes() >= long_vector ? any_algorithm{pipelined_chain{}} : doubling_123{};
    case barrier: return dissemination{};
  }
  return vendor{};
}

}  // namespace colligo
