// SPDX-License-Identifier: BSL-1.0
/// @file
/// Trees over the ranks of a communicator, for configured{tree}: shapes (shape/trees.hpp), text (shape/tree_file.hpp),
/// and from the hosts. Whoever includes this, or colligo.hpp, may name a tree by COLLIGO_TREE.
#pragma once

#include "algorithm/configured.hpp"
#include "select/decide.hpp"
#include "transport/models.hpp"
#include "transport/port.hpp"
#include "shape/tree_file.hpp"
#include "shape/trees.hpp"

namespace colligo::inline COLLIGO_MODE::trees {

/// trees::by_host over the hosts of comm's ranks, as MPI_COMM_TYPE_SHARED tells them apart. Throws as that does.
/// Collective over comm where it has not been used before.
template <communicator Comm>
tree by_host(Comm const& comm, by_host_options const& options = {}) {
  auto const& port = colligo::detail::port_at(port_of<Comm>::open(comm));
  if (!port.hosts.empty()) return by_host(port.hosts, options);
  return by_host(std::vector<int>(static_cast<std::size_t>(port.size())), options);
}

}  // namespace colligo::trees

namespace colligo::inline COLLIGO_MODE {
namespace detail {

tree tree_for_port(port_base const& port, collective c, file_setting const& setting);
/// Whoever includes this may have COLLIGO_TREE, and trees by hosts.
inline bool const trees_can_be_made = (make_tree = &tree_for_port, true);

}  // namespace detail
}  // namespace colligo

#if COLLIGO_HAS_BODIES
namespace colligo::inline COLLIGO_MODE {
namespace detail {

[[gnu::cold]] COLLIGO_BODY tree tree_for_port(port_base const& port, collective c, file_setting const& setting) {
  if (!setting.is_set()) return trees::by_host(port.hosts);
  std::string const from = where(port, c) + setting.where;
  if (!setting.trouble.empty()) throw argument_error(from + ": " + setting.trouble);
  return parse_tree(setting.text, port.size(), from);
}

}  // namespace detail
}  // namespace colligo
#endif
