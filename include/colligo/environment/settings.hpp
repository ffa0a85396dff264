// SPDX-License-Identifier: BSL-1.0
/// @file
/// What the environment, and the program before its first call, set for the communicators of a process: variables,
/// files that they name, and what those words mean.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "../core/machine.hpp"
#include "../core/policy.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// What COLLIGO_PATIENCE asks.
struct patience_setting {
  std::int64_t after = 0;   ///< so many milliseconds; 0: nothing
  bool throws = false;
};

/// A file that the environment names: who named it, what it holds or why it can not be read. Not set: all empty.
struct file_setting {
  std::string where, text, trouble;

  bool is_set() const { return !where.empty(); }
};

/// What the environment sets: the value of each collective's variable, empty where it is not set, off or automatic, the
/// trees of reductions and broadcasts, and what was measured.
struct settings {
  settings();    // out of line: fifty members
  ~settings();
  std::array<std::string, collectives.size()> algorithm;
  std::string check;    ///< COLLIGO_CHECK
  std::string strict;   ///< COLLIGO_STRICT
  std::string bits;           ///< COLLIGO_BITS
  std::string adaptive;       ///< COLLIGO_ADAPTIVE
  std::string explain;        ///< COLLIGO_EXPLAIN
  std::string network;        ///< COLLIGO_NETWORK
  std::string patience;       ///< COLLIGO_PATIENCE
  std::string sum;            ///< COLLIGO_SUM
  std::string levels;         ///< COLLIGO_LEVELS
  std::string lines, chunks, read_memory;   ///< COLLIGO_LINES, COLLIGO_CHUNKS, COLLIGO_READ_MEMORY
  std::string stores;         ///< COLLIGO_STORES
  file_setting reduce_tree, broadcast_tree;
  file_setting table;         ///< COLLIGO_TABLE

  static constexpr std::size_t count = collectives.size() + 13 + 3 * 3;
  /// All of it, for those who hand it on.
  std::array<std::string*, count> texts();
};
/// Null: nothing is set.
std::shared_ptr<settings> settings_of_environment();
/// What an environment asks that sets nothing.
settings const& nothing_set();
file_setting file_of(std::string where, char const* path);
/// The table of the program, for communicators that are used later.
void set_table_of_program(file_setting its);

/// A table may have a row for this variable: "set COLLIGO_LINES 2k".
bool is_for_tables(std::string_view variable);

/// Tells of variables that look like the library's and are none, once.
void warn_of_unknown_variables();

/// For programs that can not be traced: a warning if that was asked for.
void warn_that_nothing_is_traced();

/// "30us,1.25GB/s,4GB/s,5us": see COLLIGO_NETWORK. None where that is not what it says.
std::optional<machine> network_in(std::string_view words);
/// "30s", "500ms", "2min", ",throw" behind it; none: it is nothing of the kind.
std::optional<patience_setting> patience_in(std::string_view words);
/// "30 s", "500 ms".
std::string patience_text(patience_setting its);

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "settings_body.hpp"
#endif
