// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of port.hpp.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <utility>

#include "../core/error.hpp"
#include "../core/lines.hpp"
#include "../core/words.hpp"
#include "../plan/extent.hpp"
#include "requests.hpp"
#include "shared_host.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

[[gnu::cold]] COLLIGO_BODY std::string where(endpoint const& port, collective what) {
  return sentence({name_of(what), " on rank ", port.rank(), " of ", port.size(), ": "});
}

[[gnu::cold]] COLLIGO_BODY std::string too_large_for_memory(std::size_t element_size) {
  return sentence({"elements of ", element_size, " bytes are too large for it"});
}

[[gnu::cold]] COLLIGO_BODY void tell_that_nothing_is_traced() {
  if (wish_of_environment("COLLIGO_TRACE")) tell_once(not_included("COLLIGO_TRACE", "trace.hpp"));
}

struct variable_setting {
  char const* variable;
  std::string settings::*value;
  bool for_tables = false;   // it says what a machine is like
};
inline constexpr std::array variable_settings{
    variable_setting{"COLLIGO_CHECK", &settings::check},
    variable_setting{"COLLIGO_STRICT", &settings::strict},
    variable_setting{"COLLIGO_BITS", &settings::bits},
    variable_setting{"COLLIGO_ADAPTIVE", &settings::adaptive},
    variable_setting{"COLLIGO_EXPLAIN", &settings::explain},
    variable_setting{"COLLIGO_NETWORK", &settings::network, true},
    variable_setting{"COLLIGO_PATIENCE", &settings::patience},
    variable_setting{"COLLIGO_LINES", &settings::lines, true},
    variable_setting{"COLLIGO_CHUNKS", &settings::chunks, true},
    variable_setting{"COLLIGO_READ_MEMORY", &settings::read_memory, true},
};
[[gnu::cold]] COLLIGO_BODY bool is_for_tables(std::string_view variable) {
  return std::ranges::any_of(variable_settings, [variable](variable_setting const& its) {
    return its.for_tables && its.variable == variable;
  });
}
// Rows of the table that set what the environment says nothing of; the first of several holds.
[[gnu::cold]] COLLIGO_BODY void take_rows_that_set(std::string_view table, settings& all) {
  for (text_lines lines{table}; lines.next();) {
    auto row = lines.line;
    if (next_word(row) != "set") continue;
    auto const name = next_word(row), value = next_word(row);
    for (variable_setting const& its : variable_settings)
      if (its.for_tables && its.variable == name && (all.*its.value).empty() && !std::getenv(its.variable))
        all.*its.value = value;
  }
}

[[gnu::cold]] COLLIGO_BODY std::array<std::string*, settings::count> settings::texts() {
  static_assert(count == collectives.size() + variable_settings.size() + 3 * 3);
  std::array<std::string*, count> all;
  auto next = all.begin();
  for (std::string& value : algorithm) *next++ = &value;
  for (variable_setting const& its : variable_settings) *next++ = &(this->*its.value);
  for (file_setting* t : {&reduce_tree, &broadcast_tree, &table})
    for (std::string* text : {&t->where, &t->text, &t->trouble}) *next++ = text;
  return all;
}

[[gnu::cold]] COLLIGO_BODY file_setting file_of(std::string where, char const* path) {
  constexpr std::size_t longest = std::size_t{1} << 26;   // bytes; a tree over a million ranks needs an eighth
  file_text read = read_file(path, longest + 1);
  file_setting t{std::move(where), std::move(read.text), read.trouble ? read.trouble : ""};
  if (t.text.size() > longest) {
    t.trouble = sentence({"is too long, more than ", longest, " bytes"});
    t.text.clear();
  }
  return t;
}

// The file that the first of these variables that is set names.
[[gnu::cold]] COLLIGO_BODY file_setting file_of_environment(std::initializer_list<char const*> variables) {
  for (char const* const variable : variables)
    if (char const* const path = wish_of_environment(variable))
      return file_of(sentence({variable, "=", path}), path);
  return {};
}

struct table_of_program {
  std::mutex mutex;
  file_setting its;

  static table_of_program& of_process() {
    static auto& one = *new table_of_program;   // ports may outlive static objects
    return one;
  }
};
[[gnu::cold]] COLLIGO_BODY void set_table_of_program(file_setting its) {
  auto& one = table_of_program::of_process();
  std::lock_guard const lock(one.mutex);
  one.its = std::move(its);
}
[[gnu::cold]] COLLIGO_BODY file_setting measured_table_setting() {
  if (auto its = file_of_environment({"COLLIGO_TABLE"}); its.is_set()) return its;
  auto& one = table_of_program::of_process();
  std::lock_guard const lock(one.mutex);
  return one.its;
}

[[gnu::cold]] COLLIGO_BODY std::shared_ptr<settings> settings_of_environment() {
  using namespace std::string_view_literals;
  auto const made = std::make_shared<settings>();
  settings& all = *made;
  for (collective const c : collectives)
    if (char const* value = wish_of_environment(environment_variable(c).c_str()); value && value != "automatic"sv)
      all.algorithm[static_cast<std::size_t>(c)] = value;
  for (variable_setting const& its : variable_settings)
    if (char const* value = wish_of_environment(its.variable)) all.*its.value = value;
  all.reduce_tree = file_of_environment({"COLLIGO_REDUCE_TREE", "COLLIGO_TREE"});
  all.broadcast_tree = file_of_environment({"COLLIGO_BROADCAST_TREE", "COLLIGO_TREE"});
  all.table = measured_table_setting();
  take_rows_that_set(all.table.text, all);
  bool any = false;
  for (std::string const* const text : all.texts()) any |= !text->empty();
  return any ? made : nullptr;
}

[[gnu::cold]] COLLIGO_BODY settings const& nothing_set() {
  static auto const& none = *new settings;   // ports may outlive static objects
  return none;
}

[[gnu::cold]] COLLIGO_BODY void tell_of_unknown_variables() {
  constexpr std::string_view ours = "COLLIGO_", of_tests = "COLLIGO_TEST_";
  std::vector<std::string> known;   // as a rule none of ours is set, and none is needed
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    std::string_view const its(*each, std::strcspn(*each, "="));
    if (!its.starts_with(ours) || its.starts_with(of_tests)) continue;
    if (known.empty()) {
      for (char const* const one : {"COLLIGO_TREE", "COLLIGO_REDUCE_TREE", "COLLIGO_BROADCAST_TREE", "COLLIGO_TRACE",
                                    "COLLIGO_SHARED_MEMORY", "COLLIGO_TABLE"})
        known.emplace_back(one);
      for (variable_setting const& one : variable_settings) known.push_back(one.variable);
      for (collective const c : collectives) known.push_back(environment_variable(c));
    }
    if (std::ranges::find(known, its) != known.end()) continue;
    tell_once(sentence(
        {its, " is no variable of this library and is ignored; the nearest is ", nearest_to(its, known)}));
  }
}

[[gnu::cold]] COLLIGO_BODY bool port_base::switched(char const* variable, std::string const& value) const {
  if (value.empty()) return false;
  if (auto const its = switch_in(value)) return *its;
  refuse_setting(sentence({variable, "=", value, ": known values are 0 and 1, off and on, no and yes"}),
                 "; it is ignored");
  return false;
}

[[gnu::cold]] COLLIGO_BODY void port_base::set_bytes(char const* variable, std::string const& value, char const* what,
                                                     std::size_t& bytes) const {
  if (value.empty()) return;
  if (auto const its = number_in(value)) bytes = *its;
  else refuse_setting(sentence({variable, "=", value, ": ", what}), "; it is ignored");
}

[[gnu::cold]] COLLIGO_BODY void port_base::refuse_setting(std::string const& trouble, char const* otherwise) const {
  if (strict_) throw argument_error(sentence({"colligo: ", trouble}));
  if (rank() == 0) tell_once(sentence({trouble, otherwise}));
}

// "30us,1.25GB/s": what a message costs, and a byte; ",4GB/s": and a byte that is combined; ",5us": and a message that
// is not the first of its step.
[[gnu::cold]] COLLIGO_BODY std::optional<machine> network_in(std::string_view words) {
  constexpr std::array<std::string_view, 4> units{"us", "GB/s", "GB/s", "us"};
  std::array<double, units.size()> its_numbers{};
  std::size_t count = 0;
  for (bool more = true; more; ++count) {
    auto const comma = words.find(',');
    auto its_word = words.substr(0, comma);
    if (count == units.size() || !its_word.ends_with(units[count])) return std::nullopt;
    its_word.remove_suffix(units[count].size());
    auto const number = decimal_in(its_word);
    if (!number) return std::nullopt;
    its_numbers[count] = *number;
    more = comma != words.npos;
    if (more) words.remove_prefix(comma + 1);
  }
  if (count < 2) return std::nullopt;
  auto const [latency, bandwidth, third, fourth] = its_numbers;
  double const combining = count > 2 ? third : 1e-9 / typical.gamma, further = count > 3 ? fourth : latency;
  auto const positive = [](double x) { return x > 0 && x < 1e9; };
  if (!positive(latency) || !positive(bandwidth) || !positive(combining) || !(further >= 0 && further <= latency))
    return std::nullopt;
  machine its = typical;
  its.alpha = latency * 1e-6;
  its.beta = 1e-9 / bandwidth;
  its.gamma = 1e-9 / combining;
  its.f_further = further / latency;
  return its;
}

[[gnu::cold]] COLLIGO_BODY std::optional<patience_wish> patience_in(std::string_view words) {
  std::string_view const time = words.substr(0, words.find(','));
  bool const throws = time.size() != words.size();
  if (throws && words.substr(time.size()) != ",throw") return std::nullopt;
  unsigned number = 0;
  auto const [end, error] = std::from_chars(time.data(), time.data() + time.size(), number);
  std::string_view const unit = time.substr(static_cast<std::size_t>(end - time.data()));
  unsigned const factor = unit == "ms" ? 1 : unit == "s" ? 1000 : unit == "min" ? 60000 : 0;
  if (error != std::errc{} || number == 0 || factor == 0) return std::nullopt;
  return patience_wish{std::chrono::milliseconds(std::uint64_t{number} * factor), throws};
}
[[gnu::cold]] COLLIGO_BODY std::string in_words(patience_wish its) {
  auto const n = its.after.count();
  return n % 1000 == 0 ? sentence({n / 1000, " s"}) : sentence({n, " ms"});
}

// Without memory for it this rank says nothing, and waits as the others do.
[[gnu::cold]] COLLIGO_BODY void port_base::lose_patience(shared_host* host, std::string name) try {
  if (watch_waits) on_wait = watch_waits(*this, patience_, host, std::move(name));
  else if (rank() == 0) tell_once(not_included("COLLIGO_PATIENCE", "patience.hpp"));
  if (host) host->tell_of_waits(on_wait.get());
} catch (std::bad_alloc const&) {
}

[[gnu::cold]] COLLIGO_BODY void port_base::take(std::shared_ptr<settings const> all) {
  if (!all) return;
  settings const& its = *all;
  settings_ = std::move(all);
  strict_ = switched("COLLIGO_STRICT", its.strict);
  if (!its.network.empty()) {
    if (auto const network = network_in(its.network)) network_ = *network;
    else refuse_setting(
        sentence({"COLLIGO_NETWORK=", its.network, ": a message's latency and bandwidth are expected, as "
                  "30us,1.25GB/s, then the bandwidth of combining and the latency of further messages of a step, as "
                  "30us,1.25GB/s,4GB/s,5us"}), "; it is ignored");
  }
  if (!its.patience.empty()) {
    if (auto const wish = patience_in(its.patience)) patience_ = *wish;
    else refuse_setting(
        sentence({"COLLIGO_PATIENCE=", its.patience,
                  ": a time is expected, as 30s, 500ms or 2min, with ,throw behind it for an exception"}),
        "; it is ignored");
  }
  set_bytes("COLLIGO_LINES", its.lines, "the most bytes of a message in lines are expected, as 1k", limits_.lines);
  set_bytes("COLLIGO_CHUNKS", its.chunks, "the bytes of a chunk are expected, as 16k", limits_.chunks);
  set_bytes("COLLIGO_READ_MEMORY", its.read_memory, "the least bytes of a message are expected, as 768k, or off",
            limits_.read_from);
  before_ = switched("COLLIGO_CHECK", its.check) ? agreement : 0;
  stable_bits_ = its.bits == "stable";
  if (!stable_bits_ && !its.bits.empty())
    refuse_setting(sentence({"COLLIGO_BITS=", its.bits, ": the known value is stable"}), "; bits may differ");
  if (switched("COLLIGO_ADAPTIVE", its.adaptive)) before_ |= adaptation;
  if (switched("COLLIGO_EXPLAIN", its.explain) && rank() == 0) {
    before_ |= explanation;
    if (!explain_call) tell_once(not_included("COLLIGO_EXPLAIN", "explain.hpp"));
  }
}

inline void port_base::execute(call const& its, text const& what, void const* tag, known_ranks const& known,
                               transport over) {
  bool const in_place = its.in.data == its.out.data, whole = its.out.covers == its.vector.whole;
  std::uint32_t const number = ++calls;
  if (!whole || what.scratch || (what.keeps_input && in_place) || requests().busy()) [[unlikely]]
    return execute_otherwise(its, what, tag, known, over, number);
  working_vector data(its, memory);
  try {
    perform(data, its, {what, tag, known, its.vector, its.root, number}, over);
  } catch (...) {
    give_up_now(number);
    throw;
  }
  data.complete();
  data.rethrow();
}

[[gnu::cold]] COLLIGO_BODY void port_base::give_up_now(std::uint32_t number) noexcept {
  try {
    throw;
  } catch (std::exception const& e) {
    give_up(number, e.what());
  } catch (...) {
    give_up(number, "an exception that is no std::exception");
  }
}

COLLIGO_BODY void port_base::execute_vendor(call const& its, text const& what, bool blocking) {
  ++calls;
  std::size_t const began = trace ? trace->begin(its, what.name, calls) : 0;
  if (on_wait) on_wait->enter(its, what, calls);
  stay_in_call const stay{on_wait.get()};
  run_vendor(its, blocking);
  if (trace) trace->end(began, 0);
}

// Memory beside the user's is needed only for what the text touches outside of `out`.
COLLIGO_BODY void port_base::execute_otherwise(call const& its, text const& what, void const* tag,
                                               known_ranks const& known, transport over,
                                               std::uint32_t number) {
  // They go on while this call waits.
  if (requests().busy()) return requests().run_among(*this, its, what, tag, known, over, number);
  text_run const run{what, tag, known, its.vector, its.root, number};
  std::exception_ptr failed;
  try {
    failed = run_beside(its, run, over);
  } catch (...) {
    give_up_now(number);
    throw;
  }
  if (failed) std::rethrow_exception(failed);
}

// What the functor threw: all messages are through.
COLLIGO_BODY std::exception_ptr port_base::run_beside(call const& its, text_run const& run, transport over) {
  element const& of = *its.of;
  text const& what = run.what;
  range holds = its.out.covers;
  if (holds != its.vector.whole) {
    extent needed(rank(), size(), of.size, memory.operands);
    run(needed);
    holds = needed.holds();
  } else if (what.scratch) {
    holds.last += what.scratch(run.tag, its.vector, of.size);
  }
  bool const two = has_two_vectors(its.what);
  if (two) holds = joined(its.out.covers, holds);
  working_place const place(its, holds);
  bool const copy = what.keeps_input && its.in.data == its.out.data;
  room result, input;
  values<std::byte const> in = its.in;
  std::exception_ptr missing;
  try {
    result.make(memory.result, of, place.beside.size());
    input.make(memory.input, of, copy ? its.in.covers.size() : 0);
    if (copy) of.copy(in.data, in.covers.size(), input.data());
    if (two) copy_own_block(its, rank(), place.out(its, result.data()).data);
  } catch (...) {
    if (!goes_on_without_memory(its, over)) throw;
    missing = std::current_exception();
  }
  if (copy) in.data = input.data();
  values<std::byte> const out = place.out(its, result.data()), beyond = place.beyond(result.data());
  working_vector data(its, in, out, beyond, memory);
  if (missing) data.fail(missing);
  perform(data, its, run, over);
  if (missing) std::rethrow_exception(missing);
  if (place.direct) data.complete();
  else of.copy(data.read(its.out.covers), its.out.covers.size(), its.out.data);
  return data.failure();
}

}  // namespace colligo
