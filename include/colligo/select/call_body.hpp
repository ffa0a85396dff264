// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of call.hpp: refusals.
#pragma once

#include "../transport/port.hpp"
#include "call.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

[[gnu::cold]] COLLIGO_BODY void refuse_size(endpoint const& port, collective what, std::size_t is, std::size_t wanted,
                                            char const* which) {
  throw argument_error(where(port, what) + which + " has " + std::to_string(is) + " elements, expected " +
                       std::to_string(wanted));
}
[[gnu::cold]] COLLIGO_BODY void refuse_root(endpoint const& port, collective what, int root) {
  throw argument_error(where(port, what) + "root " + std::to_string(root) + " is not a rank, ranks are 0 to " +
                       std::to_string(port.size() - 1));
}
[[gnu::cold]] COLLIGO_BODY void refuse_overlap(endpoint const& port, collective what) {
  throw argument_error(where(port, what) + "input and output overlap; in_place(range) is for one range that is both");
}
[[gnu::cold]] COLLIGO_BODY void refuse_count(endpoint const& port, collective what, std::string const& count) {
  throw argument_error(where(port, what) + "a count is negative: " + count);
}

}  // namespace colligo
