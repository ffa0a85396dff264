// SPDX-License-Identifier: BSL-1.0
/// @file
/// Trees over the ranks of a communicator, for configured{tree}: shapes (shape/named_trees.hpp), files
/// (shape/tree_file.hpp), and trees of hosts. ../trees.hpp adds COLLIGO_TREE.
#pragma once

#include <string>
#include <vector>

#include "../algorithm/configured.hpp"
#include "../engine/port.hpp"
#include "../shape/named_trees.hpp"
#include "../shape/tree_file.hpp"
#include "decide.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace trees {

/// trees::by_host over the hosts of comm's ranks, as MPI_COMM_TYPE_SHARED says. Throws as that does. Collective over
/// comm if it has not been used before.
template <communicator Comm>
tree by_host(Comm const& comm, by_host_options const& options = {}) {
  auto const& port = colligo::detail::port_at(port_of<Comm>::open(comm));
  if (!port.hosts.empty()) return by_host(port.hosts, options);
  return by_host(std::vector<int>(static_cast<std::size_t>(port.size())), options);
}

}  // namespace trees

namespace detail {

template <class Lazy>
[[gnu::cold]] tree tree_for_port(port_base const& port, collective c, file_setting const& setting) {
  if (!setting.is_set()) return trees::by_host(port.hosts);
  std::string const from = where(port, c) + setting.where;
  if (!setting.trouble.empty()) throw argument_error(from + ": " + setting.trouble);
  return parse_tree(setting.text, port.size(), from);
}

}  // namespace detail
}  // namespace colligo
