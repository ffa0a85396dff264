// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of decide.hpp that read the environment's overrides: an algorithm, a tree, a table.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <string>

#include "../core/error.hpp"
#include "../core/strings.hpp"
#include "decide_body.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The tree that the environment sets for this collective; null: none.
inline file_setting const* tree_setting_for(communicator_state const& state, collective c) {
  if (walks_up(c) && state.reduce_tree_setting().is_set()) return &state.reduce_tree_setting();
  return walks_down(c) && state.broadcast_tree_setting().is_set() ? &state.broadcast_tree_setting() : nullptr;
}

// The environment's override of this collective. Warns once of an override that can never be used.
[[gnu::cold]] inline void read_override(communicator_state& state, collective c, policy_table const& policies,
                                        kept_choice& kept) {
  kept.override_is_read = true;
  if (std::string const& setting = state.setting(c); !setting.empty()) {
    kept.override_text = environment_variable(c) + '=' + setting;
    try {
      kept.overriding = parse(policies, setting, "");
    } catch (algorithm_error const& e) {
      kept.why_not_taken = e.what();
      if (state.rank() == 0 && !state.strict())
        warn_once(kept.override_text + " is not used: " + kept.why_not_taken + "; the library chooses");
    }
  } else if (file_setting const* const tree = tree_setting_for(state, c)) {
    kept.override_text = tree->where;
    kept.overriding = along_trees{};
  }
}

// Once for each variable: a program may have many calls for which it can not be used.
[[gnu::cold]] inline void warn_of_override(collective c, kept_choice const& kept) {
  static std::array<std::atomic<bool>, collective_count> warned{};
  if (!warned[static_cast<std::size_t>(c)].exchange(true))
    warn_once(concat({kept.override_text, " is not used for some calls: ", kept.why_not_taken,
                      "; the library chooses for them, and COLLIGO_EXPLAIN=1 tells which"}));
}

// An override is used if it is legal: it never breaks a program, unless COLLIGO_STRICT=1 makes it an error.
[[gnu::cold]] inline bool takes_override(communicator_state& state, call const& call, policy_table const& policies,
                                         kept_choice& kept) {
  if (kept.overriding) {
    kept.by = bound(*kept.overriding, policies,
                    state.setting(call.what).empty() ? decided_by::tree_file : decided_by::environment);
    try {
      kept.why_not_taken = why_not(state, call, kept.by).why;
      if (kept.why_not_taken.empty()) return true;
      kept.why_not_taken.insert(0, kept.by.policy->name);
      if (kept.by.who == decided_by::environment && state.rank() == 0 && !state.strict())
        warn_of_override(call.what, kept);
    } catch (argument_error const& e) {   // no tree
      if (state.strict()) throw;
      kept.overriding.reset();
      kept.why_not_taken = e.what();
      if (state.rank() == 0) warn_once(kept.why_not_taken + "; it is not used, the library chooses");
    }
  }
  if (!state.strict()) return false;
  throw argument_error(concat({where(state, call.what), kept.override_text, " can not be used: ", kept.why_not_taken,
                               "; unset the variable, or COLLIGO_STRICT, which makes this an error"}));
}

// Null: there is no table, or it has no rows for the call's elements.
[[gnu::cold]] inline owner<kept_with_state> read_user_table(communicator_state& state, call const& call,
                                                           policy_table const& policies) {
  if (read_tables.read) return read_tables.read(state, call, policies);
  std::string const trouble = not_included(state.table_setting().where, "table.hpp");
  if (state.strict()) throw argument_error("colligo: " + trouble);
  if (state.rank() == 0) warn_once(trouble + ", the library chooses");
  return nullptr;
}

}  // namespace colligo
