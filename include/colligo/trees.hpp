// SPDX-License-Identifier: BSL-1.0
/// @file
/// Trees over the ranks of a communicator, for configured{tree}: shapes (shape/trees.hpp), text (shape/tree_file.hpp),
/// and from the hosts.
#pragma once

#include "algorithm/configured.hpp"
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
