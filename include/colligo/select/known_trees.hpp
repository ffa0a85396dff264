// SPDX-License-Identifier: BSL-1.0
/// @file
/// The trees that a communicator knows: those of the files that COLLIGO_TREE, COLLIGO_REDUCE_TREE and COLLIGO_BROADCAST_TREE name, otherwise
/// trees::by_host of its hosts. Made when they are first asked for, kept with the communicator.
#pragma once

#include <memory>
#include <string>

#include "../algorithm/configured.hpp"
#include "../core/policy.hpp"
#include "../transport/port.hpp"
#include "../shape/tree_file.hpp"
#include "../shape/trees.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

struct known_trees {
  tree reduce_tree, broadcast_tree;
};

constexpr bool walks_up(collective c) { return c == collective::reduce || c == collective::all_reduce; }
constexpr bool walks_down(collective c) { return c == collective::broadcast || c == collective::all_reduce; }

/// The environment gives this collective a tree.
inline bool has_tree_setting(port_base const& port, collective c) {
  return (walks_up(c) && port.reduce_tree_setting().is_set()) || (walks_down(c) && port.broadcast_tree_setting().is_set());
}

/// Fills in the trees that the collective needs and `trees` does not name. Throws argument_error, beginning with explain(), if a file holds none.
template <class Explain>
along_trees with_known_trees(along_trees trees, port_base& port, collective c, Explain explain) {
  auto const known = [&](tree const* given, tree_setting const& setting, tree known_trees::*member) -> tree const* {
    if (given != nullptr || (!setting.is_set() && port.hosts.empty())) return given;
    if (!port.trees) port.trees = std::make_shared<known_trees>();
    tree& kept = static_cast<known_trees*>(port.trees.get())->*member;
    if (kept.size() == 0) {
      if (!setting.trouble.empty()) throw argument_error(explain() + setting.where + ": " + setting.trouble);
      kept = setting.is_set() ? parse_tree(setting.text, port.size(), explain() + setting.where) : trees::by_host(port.hosts);
    }
    return &kept;
  };
  if (walks_up(c)) trees.reduce_tree = known(trees.reduce_tree, port.reduce_tree_setting(), &known_trees::reduce_tree);
  if (walks_down(c)) trees.broadcast_tree = known(trees.broadcast_tree, port.broadcast_tree_setting(), &known_trees::broadcast_tree);
  return trees;
}

}  // namespace colligo::detail
