// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of trees_of_hosts.hpp.
#pragma once

#include <string>

#include "../engine/communicator_state.hpp"
#include "trees_of_hosts.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

[[gnu::cold]] COLLIGO_BODY std::vector<int> hosts_of(endpoint const& state) {
  auto const& known = static_cast<communicator_state const&>(state).hosts;
  return known.empty() ? std::vector<int>(static_cast<std::size_t>(state.size())) : known.list();
}

template <class Lazy>
[[gnu::cold]] tree tree_for_state(communicator_state const& state, collective c, file_setting const& setting) {
  if (!setting.is_set()) return trees::by_host(state.hosts.list());
  std::string const from = where(state, c) + setting.where;
  if (!setting.trouble.empty()) throw argument_error(from + ": " + setting.trouble);
  return tree_parser<Lazy>(setting.text, state.size(), from).parse();
}

}  // namespace colligo
