// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of sentences.hpp.
#pragma once

#include "../core/strings.hpp"
#include "sentences.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

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

}  // namespace colligo
