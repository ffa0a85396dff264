// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of call.hpp: refusals.
#pragma once

#include "../transport/port.hpp"
#include "call.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

// Those who make this call wait for this rank.
[[noreturn]] inline void refuse_call(endpoint& port, collective what, std::string const& why) {
  argument_error const error(where(port, what) + why);
  port_at(port).refuse(error.what());
  throw error;
}

[[gnu::cold]] COLLIGO_BODY void refuse_size(endpoint& port, collective what, std::size_t is, std::size_t wanted,
                                            char const* which) {
  refuse_call(port, what, which + (" has " + std::to_string(is)) + " elements, expected " + std::to_string(wanted));
}
[[gnu::cold]] COLLIGO_BODY void refuse_root(endpoint& port, collective what, int root) {
  refuse_call(port, what,
              "root " + std::to_string(root) + " is not a rank, ranks are 0 to " + std::to_string(port.size() - 1));
}
[[gnu::cold]] COLLIGO_BODY void refuse_overlap(endpoint& port, collective what) {
  refuse_call(port, what, "input and output overlap; in_place(range) is for one range that is both");
}
[[gnu::cold]] COLLIGO_BODY void refuse_count(endpoint& port, collective what, std::string const& count) {
  refuse_call(port, what, "a count is negative: " + count);
}

}  // namespace colligo
