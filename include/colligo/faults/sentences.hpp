// SPDX-License-Identifier: BSL-1.0
/// @file
/// What a rank is told whose call another rank spoils: each sentence once, for every transport. `at` begins it with
/// call and rank: "colligo: all_reduce of 8 double (64 bytes), ring on rank 0: ".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "../core/mode.hpp"
#include "../core/strings.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// In an error these words stand before the rank that was the first to abandon the call, and its reason. A rank that
/// abandons a call because of such an error passes on what stands behind them.
inline constexpr std::string_view abandoned_by = " was abandoned by ";

/// "colligo: rank 0 in call number 7 on this communicator: ", or "colligo: all_to_all on rank 0 in call ...".
std::string at_call(int rank, std::uint32_t number, std::string_view what = {});

/// The peer's functor has thrown, or it has no memory: of a failed_elsewhere.
std::string failed_there(std::string_view at, int peer);
/// The peer has refused or left the call, and sends nothing more: of a failed_elsewhere. `why`: empty if not known.
std::string abandoned_there(std::string_view at, int peer, std::string_view why = {});
/// The peer does not make the call: of an error or a rank_lost.
std::string left_before(std::string_view at, int peer);
/// The peer sends other elements than this rank expects of it: of a mismatch_error.
std::string other_elements(std::string_view at, int peer, std::string_view expected, std::string_view sent);

#if COLLIGO_HAS_BODIES
[[gnu::cold]] COLLIGO_BODY std::string at_call(int rank, std::uint32_t number, std::string_view what) {
  return concat({"colligo: ", what, what.empty() ? "" : " on ", "rank ", rank, " in call number ", number,
                 " on this communicator: "});
}
[[gnu::cold]] COLLIGO_BODY std::string failed_there(std::string_view at, int peer) {
  return concat({at, "rank ", peer, " has failed in this call, so this rank's result is invalid"});
}
[[gnu::cold]] COLLIGO_BODY std::string abandoned_there(std::string_view at, int peer, std::string_view why) {
  return concat({at, "rank ", peer, " has abandoned the call", why.empty() ? "" : ": ", why});
}
[[gnu::cold]] COLLIGO_BODY std::string left_before(std::string_view at, int peer) {
  return concat({at, "rank ", peer, " has left: not all ranks made this call"});
}
[[gnu::cold]] COLLIGO_BODY std::string other_elements(std::string_view at, int peer, std::string_view expected,
                                                      std::string_view sent) {
  return concat({at, "ranks make different calls: ", expected, " are expected of rank ", peer, ", it sends ", sent});
}
#endif

}  // namespace colligo
