// SPDX-License-Identifier: BSL-1.0
/// @file
/// Settings for the communicators of a process, from the environment and from the program before its first call:
/// variables, files that they name, and their meaning.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../core/machine.hpp"
#include "../core/policy.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The value of COLLIGO_PATIENCE.
struct patience_setting {
  std::int64_t after = 0;   ///< milliseconds; 0: off
  bool throws = false;
};

/// A file that the environment names: "variable=path", and the contents or the reason why the file can not be read. All
/// are empty if the variable is not set.
struct file_setting {
  std::string where, text, trouble;

  bool is_set() const { return !where.empty(); }
};

/// The values of the variables, empty if a variable is not set or off; and the files that they name.
struct settings {
  settings();    // out of line, because there are fifty members
  ~settings();
  std::array<std::string, collective_count> algorithm;   ///< COLLIGO_ALL_REDUCE ...; empty for automatic too
  std::string sparse_all_to_all;   ///< COLLIGO_SPARSE_ALL_TO_ALL
  std::string check;    ///< COLLIGO_CHECK
  std::string strict;   ///< COLLIGO_STRICT
  std::string bits;           ///< COLLIGO_BITS
  std::string adaptive;       ///< COLLIGO_ADAPTIVE
  std::string explain;        ///< COLLIGO_EXPLAIN
  std::string network;        ///< COLLIGO_NETWORK
  std::string latencies;      ///< COLLIGO_LATENCIES
  std::string patience;       ///< COLLIGO_PATIENCE
  std::string sum;            ///< COLLIGO_SUM
  std::string levels;         ///< COLLIGO_LEVELS
  std::string lines, chunks, read_memory;   ///< COLLIGO_LINES, COLLIGO_CHUNKS, COLLIGO_READ_MEMORY
  std::string stores;         ///< COLLIGO_STORES
  std::string unknown;        ///< what is wrong with variables that begin as the library's do, and are none of them
  file_setting reduce_tree, broadcast_tree;
  file_setting table;         ///< COLLIGO_TABLE

  static constexpr std::size_t count = collective_count + 16 + 3 * 3;   ///< strings
  /// All strings, to be copied or sent.
  std::array<std::string*, count> texts();
};
/// The settings of this process; null if nothing is set.
std::shared_ptr<settings> settings_of_environment();
/// The settings of an environment that sets nothing.
settings const& nothing_set();
file_setting file_of(std::string where, char const* path);
/// Sets the program's table, for communicators whose first use comes later.
void set_table_of_program(file_setting setting);

/// Whether a table may have a row for this variable: "set COLLIGO_LINES 2k".
bool is_for_tables(std::string_view variable);

/// For programs that can not be traced: warns if COLLIGO_TRACE is set.
void warn_that_nothing_is_traced();

/// "30us,1.25GB/s,4GB/s,5us,1ns": see COLLIGO_NETWORK. None if the text is invalid.
std::optional<machine> network_in(std::string_view words);
/// "25ns,110ns,220ns": see COLLIGO_LATENCIES.
std::optional<line_latencies> latencies_in(std::string_view words);
/// "4x16x2", numbers above 0: see COLLIGO_LEVELS. Empty if the text is invalid.
std::vector<int> levels_in(std::string_view words);
/// Reads "30s", "500ms", "2min", also with ",throw"; none if the text is invalid.
std::optional<patience_setting> patience_in(std::string_view words);
/// "30 s", "500 ms".
std::string patience_text(patience_setting setting);

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "settings_body.hpp"
#endif
