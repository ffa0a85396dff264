// SPDX-License-Identifier: BSL-1.0
/// @file
/// Choices that are kept with a state, because programs repeat calls.
#pragma once

#include <array>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "../core/latest_used.hpp"
#include "../engine/communicator_state.hpp"
#include "../topology/hierarchy.hpp"
#include "../topology/host_map.hpp"
#include "choose.hpp"
#include "kept_topology.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The elements and the vector that a choice was made for.
struct decided_for {
  element const* of = nullptr;
  void const* wire = nullptr;
  std::size_t n = 0;
  std::uint64_t distribution = 0;   ///< of its blocks; 0: they are even
  int root = 0;                     ///< where they are uneven

  decided_for() = default;
  decided_for(communicator_state const& state, call const& call)
      : of(call.of), wire(call.wire), n(call.vector.whole.size()) {
    if (call.vector.offsets) [[unlikely]] distribution = state.distribution, root = call.root;
  }
  friend bool operator==(decided_for const&, decided_for const&) = default;
};

/// The latest choices for a collective, kept with the state, because programs repeat calls.
struct kept_choice {
  decided_for latest;
  bool automatic = false;   ///< `by` is for automatic
  std::string name;
  choice by{};
  // The elements for which an override was last considered: it holds for vectors of any length, or the rules do.
  element const* of = nullptr;
  void const* wire = nullptr;
  bool rules = false;
  situation known{};
  choice overridden{};   ///< if not the rules
  // The latest choices for other calls.
  struct earlier_choice {
    decided_for wanted;
    choice by{};
    earlier_choice* next = nullptr;

    static constexpr std::size_t bytes() { return 1; }   // so `earlier` has room for 8
  };
  latest_used<earlier_choice> earlier{8};
  // The environment's override, read once.
  bool override_is_read = false;
  std::optional<choice> overriding;
  std::string override_text;   ///< "COLLIGO_ALL_REDUCE=ring"
  std::string why_not_taken;   ///< why it can never be taken, or could not be the last time; empty: it was
  // The rows of COLLIGO_TABLE for these elements.
  element const* measured_of = nullptr;
  owner<kept_with_state> measured;
  std::size_t measured_line = 0;   ///< of the row that was taken last

  /// Kept for automatic and calls like this one, on vectors of any length.
  bool is_like(call const& call) const { return automatic && of == call.of && wire == call.wire; }

  /// Takes the earlier choice for an equal call; false if there is none.
  bool take_earlier(decided_for const& wanted) {
    auto const* found = earlier.find([&](earlier_choice const& one) { return one.wanted == wanted; });
    if (found) by = found->by;
    return found;
  }
  void keep(decided_for const& wanted) {
    try {
      auto one = earlier.make_room(1);   // a warm call allocates nothing
      if (!one) one = make_owner<earlier_choice>();
      one->wanted = wanted, one->by = by;
      earlier.add(std::move(one));
    } catch (std::bad_alloc const&) {   // decided again the next time
    }
  }
};

/// Everything that rules/ keeps with a communicator.
struct kept_choices final : kept_with_state {
  struct explained_call {
    collective what;
    element const* of;
    int size_class;
    erased_policy const* policy;   ///< null: candidates in turn
    transport over;
    decided_by who;
    bool operator==(explained_call const&) const = default;
  };

  std::array<owner<kept_choice>, collective_count> of_collective;   // null: not called yet
  std::vector<explained_call> explained;   ///< on stderr
  owner<kept_with_state> required, adapted, measured;   ///< kept by require, adaptive and predict

  static kept_choices& of(communicator_state& state) {
    if (!state.selection) state.selection = make_owner<kept_choices>();
    return static_cast<kept_choices&>(*state.selection);
  }
  // A rank without memory to keep the choice decides all the same, because others wait for it.
  static kept_choice& of(communicator_state& state, collective c) {
    try {
      auto& kept = of(state).of_collective[static_cast<std::size_t>(c)];
      if (!kept) [[unlikely]] kept = make_owner<kept_choice>();
      return *kept;
    } catch (std::bad_alloc const&) {
      static thread_local std::optional<kept_choice> spare;
      return spare.emplace();
    }
  }
  static int host_count(communicator_state& state) {
    hierarchy const* const known = kept_hierarchies<>::hosts_of(state);
    return known ? host_map{{}, state.size(), known}.host_count() : 1;
  }
  /// The choice of automatic for the latest call, if this call is the same; null otherwise.
  static choice const* same(communicator_state& state, call const& call) {
    if (!state.selection) [[unlikely]] return nullptr;
    kept_choice const* const kept =
        static_cast<kept_choices&>(*state.selection).of_collective[static_cast<std::size_t>(call.what)].get();
    return kept && kept->automatic && kept->latest == decided_for(state, call) ? &kept->by : nullptr;
  }
};

}  // namespace colligo
