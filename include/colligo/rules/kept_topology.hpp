// SPDX-License-Identifier: BSL-1.0
/// @file
/// What tags leave open, made once for a communicator and kept with it. Templates, so that units whose algorithms leave
/// nothing open need to know neither hierarchies nor trees.
#pragma once

#include "../engine/communicator_state.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

template <class Hierarchy = hierarchy>
struct kept_hierarchies final : kept_with_state {
  owner<Hierarchy> hosts, levels;

  static kept_hierarchies& of(communicator_state& state) {
    if (!state.hierarchies) state.hierarchies = make_owner<kept_hierarchies>();
    return static_cast<kept_hierarchies&>(*state.hierarchies);
  }
  /// Of the state's hosts; null if all ranks are on one.
  static Hierarchy const* hosts_of(communicator_state& state) {
    if (state.hosts.empty()) return nullptr;
    owner<Hierarchy>& kept = of(state).hosts;
    if (!kept) kept = owner<Hierarchy>(new Hierarchy(Hierarchy::without_columns(state.hosts.list())));
    return kept.get();
  }
  /// The levels of the state's ranks.
  static Hierarchy const& levels_of(communicator_state& state) {
    owner<Hierarchy>& kept = of(state).levels;
    if (!kept)
      kept = owner<Hierarchy>(new Hierarchy(
          !state.levels_asked().empty() || state.levels_off()
              ? Hierarchy::of_sizes(state.size(), state.levels_asked(), state.hosts.list())
              : Hierarchy::of_domains(state.size(), state.domains, state.hosts)));
    return *kept;
  }
};

template <class Tree = tree>
struct kept_trees final : kept_with_state {
  Tree reduce, broadcast;

  static kept_trees& of(communicator_state& state) {
    if (!state.trees) state.trees = make_owner<kept_trees>();
    return static_cast<kept_trees&>(*state.trees);
  }
};

}  // namespace colligo
