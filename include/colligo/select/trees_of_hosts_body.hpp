// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of trees_of_hosts.hpp.
#pragma once

#include <string>

#include "../engine/port.hpp"
#include "trees_of_hosts.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

[[gnu::cold]] COLLIGO_BODY std::vector<int> hosts_of(endpoint const& port) {
  auto const& known = static_cast<port_base const&>(port).hosts;
  return known.empty() ? std::vector<int>(static_cast<std::size_t>(port.size())) : known.list();
}

template <class Lazy>
[[gnu::cold]] tree tree_for_port(port_base const& port, collective c, file_setting const& setting) {
  if (!setting.is_set()) return trees::by_host(port.hosts.list());
  std::string const from = where(port, c) + setting.where;
  if (!setting.trouble.empty()) throw argument_error(from + ": " + setting.trouble);
  return tree_parser<Lazy>(setting.text, port.size(), from).parse();
}

}  // namespace colligo
