// SPDX-License-Identifier: BSL-1.0
/// @file
/// Trees over the ranks of a communicator, for configured{tree}: shapes (rules/named_trees.hpp), files
/// (rules/tree_file.hpp), and trees of hosts. ../trees.hpp adds COLLIGO_TREE.
#pragma once

#include <vector>

#include "../algorithm/configured.hpp"
#include "named_trees.hpp"
#include "tree_file.hpp"
#include "decide.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// The host of each rank.
std::vector<int> hosts_of(endpoint const& state);

template <class Lazy>
tree tree_for_state(communicator_state const& state, collective c, file_setting const& setting);   // its bodies
/// Sets make_tree: in units that include ../trees.hpp, name trees, or take algorithms by name.
template <class Lazy>
struct trees_by_setting {
  static void make(communicator_state const& state, collective c, file_setting const& setting, tree& made) {
    made = tree_for_state<void>(state, c, setting);
  }
  static inline bool const can_be_made = (make_tree = &make, true);
};

}  // namespace detail

namespace trees::by_name {

/// trees::by_host over the hosts of comm's ranks, as MPI_COMM_TYPE_SHARED says. Throws as that does. Collective over
/// comm if it has not been used before.
template <communicator Comm>
tree by_host(Comm const& comm, by_host_options const& options = {}) {
  return trees::by_host(colligo::detail::hosts_of(state_of<Comm>::open(comm)), options);
}

}  // namespace trees::by_name
}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include <string>

#include "../engine/communicator_state.hpp"

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
#endif
