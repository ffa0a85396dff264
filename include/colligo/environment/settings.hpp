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
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "../core/lines.hpp"
#include "../core/mutex.hpp"
#include "../core/small_vector.hpp"
#include "../core/strings.hpp"
#include "../core/view.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

[[gnu::cold]] COLLIGO_BODY void warn_that_nothing_is_traced() {
  if (environment_value("COLLIGO_TRACE")) warn_once(not_included("COLLIGO_TRACE", "trace.hpp"));
}

struct variable_setting {
  char const* variable;
  std::string settings::*value;
  bool for_tables = false;   // the variable describes a machine
};
inline constexpr std::array variable_settings{
    variable_setting{"COLLIGO_SPARSE_ALL_TO_ALL", &settings::sparse_all_to_all},
    variable_setting{"COLLIGO_CHECK", &settings::check},
    variable_setting{"COLLIGO_STRICT", &settings::strict},
    variable_setting{"COLLIGO_BITS", &settings::bits},
    variable_setting{"COLLIGO_ADAPTIVE", &settings::adaptive},
    variable_setting{"COLLIGO_EXPLAIN", &settings::explain},
    variable_setting{"COLLIGO_NETWORK", &settings::network, true},
    variable_setting{"COLLIGO_LATENCIES", &settings::latencies, true},
    variable_setting{"COLLIGO_PATIENCE", &settings::patience},
    variable_setting{"COLLIGO_SUM", &settings::sum},
    variable_setting{"COLLIGO_LEVELS", &settings::levels},
    variable_setting{"COLLIGO_LINES", &settings::lines, true},
    variable_setting{"COLLIGO_CHUNKS", &settings::chunks, true},
    variable_setting{"COLLIGO_READ_MEMORY", &settings::read_memory, true},
    variable_setting{"COLLIGO_STORES", &settings::stores, true},
};
[[gnu::cold]] COLLIGO_BODY bool is_for_tables(std::string_view variable) {
  return is_any(variable_settings, [variable](variable_setting const& setting) {
    return setting.for_tables && setting.variable == variable;
  });
}
// Applies rows of the table for variables that the environment does not set; the first of several wins.
[[gnu::cold]] COLLIGO_BODY void take_rows_that_set(std::string_view table, settings& all) {
  for (text_lines lines{table}; lines.next();) {
    auto row = lines.line;
    if (next_token(row) != "set") continue;
    auto const name = next_token(row), value = next_token(row);
    for (variable_setting const& setting : variable_settings)
      if (setting.for_tables && setting.variable == name && (all.*setting.value).empty() &&
          !std::getenv(setting.variable))
        all.*setting.value = value;
  }
}

[[gnu::cold]] COLLIGO_BODY settings::settings() = default;
[[gnu::cold]] COLLIGO_BODY settings::~settings() = default;

[[gnu::cold]] COLLIGO_BODY std::array<std::string*, settings::count> settings::texts() {
  static_assert(count == collective_count + variable_settings.size() + 1 + 3 * 3);
  std::array<std::string*, count> all;
  auto next = all.begin();
  for (std::string& value : algorithm) *next++ = &value;
  for (variable_setting const& setting : variable_settings) *next++ = &(this->*setting.value);
  *next++ = &unknown;
  for (file_setting* t : {&reduce_tree, &broadcast_tree, &table})
    for (std::string* text : {&t->where, &t->text, &t->trouble}) *next++ = text;
  return all;
}

[[gnu::cold]] COLLIGO_BODY file_setting file_of(std::string where, char const* path) {
  constexpr std::size_t longest = std::size_t{1} << 26;   // bytes; a tree over a million ranks needs an eighth
  file_text read = read_file(path, longest + 1);
  file_setting t{std::move(where), std::move(read.text), read.trouble ? read.trouble : ""};
  if (t.text.size() > longest) {
    t.trouble = concat({"is too long, more than ", longest, " bytes"});
    t.text.clear();
  }
  return t;
}

// The file of the first of these variables that is set.
[[gnu::cold]] COLLIGO_BODY file_setting file_of_environment(std::initializer_list<char const*> variables) {
  for (char const* const variable : variables)
    if (char const* const path = environment_value(variable))
      return file_of(concat({variable, "=", path}), path);
  return {};
}

struct table_of_program {
  detail::mutex mutex;
  file_setting setting;

  static table_of_program& of_process() {
    static auto& one = *new table_of_program;   // states may outlive static objects
    return one;
  }
};
[[gnu::cold]] COLLIGO_BODY void set_table_of_program(file_setting setting) {
  auto& one = table_of_program::of_process();
  locked const lock(one.mutex);
  one.setting = std::move(setting);
}
[[gnu::cold]] COLLIGO_BODY file_setting measured_table_setting() {
  if (auto setting = file_of_environment({"COLLIGO_TABLE"}); setting.is_set()) return setting;
  auto& one = table_of_program::of_process();
  locked const lock(one.mutex);
  return one.setting;
}

[[gnu::cold]] COLLIGO_BODY std::vector<std::string> names_of_variables() {
  std::vector<std::string> names{"COLLIGO_TREE",  "COLLIGO_REDUCE_TREE",   "COLLIGO_BROADCAST_TREE",
                                 "COLLIGO_TRACE", "COLLIGO_SHARED_MEMORY", "COLLIGO_TABLE"};
  for (variable_setting const& setting : variable_settings) names.push_back(setting.variable);
  for (std::size_t c = 0; c < collective_count; ++c)
    names.push_back(environment_variable(static_cast<collective>(c)));
  return names;
}

// "COLLIGO_CHEQUE is no variable of this library; the nearest is COLLIGO_CHECK"; empty if there is no such name.
[[gnu::cold]] COLLIGO_BODY std::string unknown_variables() {
  std::string all;
  std::vector<std::string> known;   // only where a variable may be none of them
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    std::string_view const name(*each, std::strcspn(*each, "="));
    if (!name.starts_with("COLLIGO_") || name.starts_with("COLLIGO_TEST_") || name.starts_with("COLLIGO_DROP_IN") ||
        name == "COLLIGO_ROOT") continue;   // where CMake finds the library
    if (known.empty()) known = names_of_variables();
    std::string_view const nearest = nearest_to(name, known);
    std::size_t const apart = edit_distance(name, nearest);
    if (apart == 0) continue;
    all += concat({all.empty() ? "" : "; ", name, " is no variable of this library"});
    if (apart <= name.size() / 4) all += concat({"; the nearest is ", nearest});   // others are not what was meant
  }
  return all;
}

[[gnu::cold]] COLLIGO_BODY std::shared_ptr<settings> settings_of_environment() {
  using namespace std::string_view_literals;
  auto const made = std::shared_ptr<settings>(new settings);
  settings& all = *made;
  for (std::size_t c = 0; c < collective_count; ++c) {
    auto const variable = environment_variable(static_cast<collective>(c));
    if (char const* value = environment_value(variable.c_str()); value && value != "automatic"sv)
      all.algorithm[c] = value;
  }
  for (variable_setting const& setting : variable_settings)
    if (char const* value = environment_value(setting.variable)) all.*setting.value = value;
  for (auto const& [variable, value] : {std::pair{"COLLIGO_LEVELS", &all.levels},   // of which off is a value
                                        std::pair{"COLLIGO_READ_MEMORY", &all.read_memory}})
    if (char const* const given = std::getenv(variable); given && switch_in(given) == false) *value = "off";
  all.reduce_tree = file_of_environment({"COLLIGO_REDUCE_TREE", "COLLIGO_TREE"});
  all.broadcast_tree = file_of_environment({"COLLIGO_BROADCAST_TREE", "COLLIGO_TREE"});
  all.table = measured_table_setting();
  take_rows_that_set(all.table.text, all);
  all.unknown = unknown_variables();
  bool any = false;
  for (std::string const* const text : all.texts()) any |= !text->empty();
  return any ? made : nullptr;
}

[[gnu::cold]] COLLIGO_BODY settings const& nothing_set() {
  static auto const& none = *new settings;   // states may outlive static objects
  return none;
}

// Reads up to units.size() numbers, each followed by its unit. Returns how many there are; 0: the text is invalid.
[[gnu::cold]] inline std::size_t numbers_in(std::string_view words, view<std::string_view const> units,
                                            std::span<double> numbers) {
  std::size_t count = 0;
  for (bool more = true; more; ++count) {
    auto const comma = words.find(',');
    auto word = words.substr(0, comma);
    if (count == units.size() || !word.ends_with(units[count])) return 0;
    word.remove_suffix(units[count].size());
    auto const number = decimal_in(word);
    if (!number) return 0;
    numbers[count] = *number;
    more = comma != words.npos;
    if (more) words.remove_prefix(comma + 1);
  }
  return count;
}

// "30us,1.25GB/s,4GB/s,5us,1ns": the cost of a message, of a byte, of a byte that is combined, of a message that is not
// the first of its step, and of a step of own work. The last three may be left out.
[[gnu::cold]] COLLIGO_BODY std::optional<machine> network_in(std::string_view words) {
  std::array<double, 5> numbers{};
  std::array<std::string_view, 5> const units{"us", "GB/s", "GB/s", "us", "ns"};
  std::size_t const count = numbers_in(words, units, numbers);
  if (count < 2) return std::nullopt;
  auto const [latency, bandwidth, third, fourth, fifth] = numbers;
  double const combining = count > 2 ? third : 1e-9 / typical.gamma, further = count > 3 ? fourth : latency;
  auto const positive = [](double x) { return x > 0 && x < 1e9; };
  if (!positive(latency) || !positive(bandwidth) || !positive(combining) || !(further >= 0 && further <= latency) ||
      !(fifth >= 0 && fifth < 1e9))
    return std::nullopt;
  machine m = typical;
  m.alpha = latency * 1e-6;
  m.beta = 1e-9 / bandwidth;
  m.gamma = 1e-9 / combining;
  m.f_further = further / latency;
  if (count > 4)
    for (double* const cost : {&m.own.move, &m.own.copied, &m.own.step}) *cost *= fifth;   // typical: 1 ns
  return m;
}

[[gnu::cold]] COLLIGO_BODY std::optional<line_latencies> latencies_in(std::string_view words) {
  std::array<double, 3> ns{};
  bool const all = numbers_in(words, std::array<std::string_view, 3>{"ns", "ns", "ns"}, ns) == ns.size();
  if (!all || !(ns[0] > 0 && ns[0] <= ns[1] && ns[1] <= ns[2] && ns[2] < 1e6)) return std::nullopt;
  return line_latencies{ns[0] * 1e-9, ns[1] * 1e-9, ns[2] * 1e-9};
}

[[gnu::cold]] COLLIGO_BODY std::vector<int> levels_in(std::string_view words) {
  std::vector<int> sizes;
  for (;;) {
    auto const n = digits_in(words);
    if (!n || *n < 1 || *n > INT_MAX) return {};
    sizes.push_back(static_cast<int>(*n));
    if (words.empty()) return sizes;
    if (words.front() != 'x') return {};
    words.remove_prefix(1);
  }
}

[[gnu::cold]] COLLIGO_BODY std::optional<patience_setting> patience_in(std::string_view words) {
  std::string_view time = words.substr(0, words.find(','));
  bool const throws = time.size() != words.size();
  if (throws && words.substr(time.size()) != ",throw") return std::nullopt;
  auto const number = digits_in(time);   // leaves the unit
  unsigned const factor = time == "ms" ? 1 : time == "s" ? 1000 : time == "min" ? 60000 : 0;
  if (!number || *number == 0 || factor == 0 || *number > UINT_MAX / factor) return std::nullopt;   // in ns it fits too
  return patience_setting{static_cast<std::int64_t>(*number * factor), throws};
}
[[gnu::cold]] COLLIGO_BODY std::string patience_text(patience_setting setting) {
  std::int64_t const n = setting.after;
  return n % 1000 == 0 ? concat({n / 1000, " s"}) : concat({n, " ms"});
}

}  // namespace colligo
#endif
