// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of communicator_state.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "../core/error.hpp"
#include "../core/strings.hpp"
#include "../plan/extent.hpp"
#include "requests.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

[[gnu::cold]] COLLIGO_BODY std::string where(endpoint const& state, collective what) {
  return concat({"colligo: ", name_of(what), " on rank ", state.rank(), " of ", state.size(), ": "});
}

[[gnu::cold]] COLLIGO_BODY std::string too_large_for_memory(std::size_t element_size) {
  return concat({"elements of ", element_size, " bytes are too large for it"});
}

[[gnu::cold]] COLLIGO_BODY void throw_in_functor(endpoint const& state) {
  throw error(concat({"colligo: rank ", state.rank(), " of ", state.size(), " is in a functor of a call on this "
                      "communicator, which can neither make nor wait for another call on it"}));
}

[[gnu::cold]] COLLIGO_BODY char const* handled_reason() noexcept try {
  throw;
} catch (std::exception const& e) {
  return e.what();
} catch (...) {
  return "an exception that is no std::exception";
}

[[gnu::cold]] COLLIGO_BODY bool communicator_state::switched(char const* variable, std::string const& value) const {
  if (value.empty()) return false;
  if (auto const on = switch_in(value)) return *on;
  refuse_value(variable, value, "known values are 0 and 1, off and on, no and yes");
  return false;
}

[[gnu::cold]] COLLIGO_BODY void communicator_state::set_bytes(char const* variable, std::string const& value,
                                                              char const* what, std::size_t& bytes) const {
  if (value.empty()) return;
  if (auto const n = number_in(value)) bytes = *n;
  else refuse_value(variable, value, what);
}

[[gnu::cold]] COLLIGO_BODY void communicator_state::refuse_value(char const* variable, std::string const& value,
                                                        char const* wanted, char const* otherwise) const {
  refuse_setting(concat({variable, "=", printable(value), ": ", wanted}), otherwise);
}

[[gnu::cold]] COLLIGO_BODY void communicator_state::refuse_setting(std::string const& trouble,
                                                                   char const* otherwise) const {
  if (strict_) throw argument_error(concat({"colligo: ", trouble}));
  if (rank() == 0) warn_once(concat({trouble, otherwise}));
}

// A rank that has no memory for the watcher waits as the others do, but reports nothing.
[[gnu::cold]] COLLIGO_BODY void communicator_state::lose_patience(shared_host* host, std::string name) try {
  if (watch_waits) on_wait = watch_waits(*this, patience_, host, std::move(name));
  else if (rank() == 0) warn_once(not_included("COLLIGO_PATIENCE", "patience.hpp"));
} catch (std::bad_alloc const&) {
}

[[gnu::cold]] COLLIGO_BODY void communicator_state::take(std::shared_ptr<settings const> all) {
  if (!all) return;
  settings const& asked_for = *all;
  settings_ = std::move(all);
  strict_ = switched("COLLIGO_STRICT", asked_for.strict);
  if (!asked_for.unknown.empty()) refuse_setting(asked_for.unknown, "; it is ignored");
  if (!asked_for.network.empty()) {
    if (auto const network = network_in(asked_for.network)) network_ = *network;
    else refuse_value("COLLIGO_NETWORK", asked_for.network,
                      "a message's latency and bandwidth are expected, as 30us,1.25GB/s, then the bandwidth of "
                      "combining, the latency of further messages of a step and the time of a step of own work, as "
                      "30us,1.25GB/s,4GB/s,5us,1ns");
  }
  if (!asked_for.latencies.empty()) {
    if (auto measured = latencies_in(asked_for.latencies)) measured->line = latencies_.line, latencies_ = *measured;
    else refuse_value("COLLIGO_LATENCIES", asked_for.latencies,
                      "the time of a cache line between cores that share a cache, a socket, a host is expected, none "
                      "shorter than the one before, as 25ns,110ns,220ns");
  }
  if (!asked_for.patience.empty()) {
    if (auto const asked = patience_in(asked_for.patience)) patience_ = *asked;
    else refuse_value("COLLIGO_PATIENCE", asked_for.patience,
                      "a time is expected, as 30s, 500ms or 2min, with ,throw behind it for an exception");
  }
  levels_off_ = asked_for.levels == "off";
  if (!asked_for.levels.empty() && !levels_off_) {
    levels_asked_ = levels_in(asked_for.levels);
    std::int64_t together = 1;
    for (int const n : levels_asked_) together = std::min<std::int64_t>(together * n, size());
    if (levels_asked_.empty())
      refuse_value("COLLIGO_LEVELS", asked_for.levels,
                   "the ranks of a cache, caches of a socket and so on are expected, as 4x16x2, or off");
    else if (together < size())
      refuse_setting(concat({"COLLIGO_LEVELS=", asked_for.levels, " is for fewer than the ", size(), " ranks"}),
                     "; it is ignored");
    if (together < size()) levels_asked_.clear();
  }
  set_bytes("COLLIGO_LINES", asked_for.lines, "the most bytes of a message in lines are expected, as 1k",
            limits_.lines);
  set_bytes("COLLIGO_CHUNKS", asked_for.chunks, "the bytes of a chunk are expected, as 16k", limits_.chunks);
  if (asked_for.read_memory == "off") limits_.read_from = memory_limits::by_ring - 1;   // longer than any message
  else set_bytes("COLLIGO_READ_MEMORY", asked_for.read_memory,
                 "the least bytes of a message are expected, as 768k, or off", limits_.read_from);
  if (asked_for.stores == "cached") limits_.stores = stores_setting::cached;
  else if (asked_for.stores == "streaming") limits_.stores = stores_setting::streaming;
  else if (!asked_for.stores.empty() && asked_for.stores != "measured")
    refuse_value("COLLIGO_STORES", asked_for.stores, "cached, streaming or measured is expected");
  if (switched("COLLIGO_CHECK", asked_for.check)) before_ |= agreement;
  stable_bits_ = asked_for.bits == "stable";
  if (!stable_bits_ && !asked_for.bits.empty())
    refuse_value("COLLIGO_BITS", asked_for.bits, "the known value is stable", "; bits may differ");
  if (asked_for.sum == "exact") {
    if (sum_exactly) before_ |= exactness;
    else refuse_setting("COLLIGO_SUM: this program does not include <colligo/environment.hpp>",
                        "; sums are rounded on the way");
  } else if (!asked_for.sum.empty()) {
    refuse_value("COLLIGO_SUM", asked_for.sum, "the known value is exact", "; sums are rounded on the way");
  }
  if (switched("COLLIGO_ADAPTIVE", asked_for.adaptive)) before_ |= adaptation;
  if (switched("COLLIGO_EXPLAIN", asked_for.explain) && rank() == 0) {
    before_ |= explanation;
    if (!explain_call) warn_once(not_included("COLLIGO_EXPLAIN", "explain.hpp"));
  }
}

inline bool communicator_state::play(call const& call, choice const* by, bool& records) {
  if (!prepares_ || trace || on_wait || requests().busy()) return false;
  prepared_call const* const prepared = prepared_.find(call, by, distribution_of(call), records);
  if (!prepared) return false;
  in_call const inside(*this);
  std::uint32_t const number = next_call();
  bool succeeds;
  try {
    succeeds = prepared->play(*prepared, call, memory, number);
  } catch (...) {
    abandon_call_now(number);
    throw;
  }
  if (!succeeds) [[unlikely]] std::rethrow_exception(std::exchange(memory.failure, nullptr));
  return true;
}

inline void communicator_state::execute(call const& call, choice const& by, bool records) {
  bool const in_place = call.in.data == call.out.data, two = has_two_vectors(call.what);
  bool const output_is_enough = call.out.covers == call.vector.whole || by.policy->writes_output_alone;
  known.hosts = hosts.kept();
  policy_run const run{call, by, known, next_call()};
  if (records) [[unlikely]] return execute_recorded(run);
  if (!output_is_enough || by.policy->runs_beside || (by.policy->keeps_input && in_place) ||
      (two && call.of->objects) || requests().busy()) [[unlikely]]
    return execute_otherwise(run);
  in_call const inside(*this);
  working_vector data(call, memory);
  try {
    if (two) copy_own_block(call, rank(), call.out.data);
    perform(data, run);
  } catch (...) {
    abandon_call_now(run.number);
    throw;
  }
  data.complete();
  data.rethrow();
}

[[gnu::cold]] COLLIGO_BODY void communicator_state::abandon_call_now(std::uint32_t number) noexcept {
  abandon_call(number, handled_reason());
}

COLLIGO_BODY void communicator_state::execute_vendor(call const& call, choice const& by) {
  next_call();
  in_call const inside(*this);
  std::size_t const began = trace ? trace->begin(call, by.policy->name, calls) : 0;
  if (on_wait) on_wait->enter(call, *by.policy, calls);
  stay_in_call const stay{on_wait.get()};
  run_vendor(call, by.who == decided_by::pinned);
  if (trace) trace->end(began, 0);
}

// Only elements that the algorithm touches outside of `out` need memory beside the user's.
COLLIGO_BODY void communicator_state::execute_otherwise(policy_run const& run) {
  // The requests make progress while this call waits.
  if (requests().busy()) return requests().run_among.load(std::memory_order_relaxed)(*this, run);
  in_call const inside(*this);
  std::exception_ptr failed;
  try {
    failed = run_beside(run);
  } catch (...) {
    abandon_call_now(run.number);
    throw;
  }
  if (failed) std::rethrow_exception(failed);
}

[[gnu::cold]] COLLIGO_BODY void communicator_state::execute_recorded(policy_run const& run) {
  run_record record(run.call, prepared_.actions());
  policy_run recorded = run;
  recorded.record = &record;
  execute_otherwise(recorded);
  prepared_.keep(record, identity_of(run.call, *run.by.policy));
}

// All messages are through, so the functor's exception may be thrown.
COLLIGO_BODY std::exception_ptr communicator_state::run_beside(policy_run const& run) {
  call const& call = run.call;
  element const& of = *call.of;
  erased_policy const& what = *run.by.policy;
  range holds = call.out.covers;
  kept_plan const* const kept = plan_of(*this, run);
  if (kept) {
    holds = kept->holds;
  } else if (holds != call.vector.whole && !what.writes_output_alone) {
    extent needed(rank(), size(), of.size, memory.operands);
    run(needed);
    holds = needed.holds();
  } else if (what.scratch) {
    holds.last += what.scratch(run.by.tag(), call.vector, of.size);
  }
  bool const two = has_two_vectors(call.what);
  if (two) holds = joined(call.out.covers, holds);
  working_place const place(call, holds);
  bool const copy = what.keeps_input && call.in.data == call.out.data;
  room result, input;
  values<std::byte const> in = call.in;
  std::exception_ptr missing;
  try {
    result.make(memory.result, of, place.beside.size());
    input.make(memory.input, of, copy ? call.in.covers.size() : 0);
    if (copy) copy_values(of, in.data, in.covers.size(), input.data(), run.record);
    if (two) copy_own_block(call, rank(), place.out(call, result.data()).data, run.record);
  } catch (...) {
    if (!goes_on_without_memory(call, run.by.over)) throw;
    missing = std::current_exception();
  }
  if (copy) in.data = input.data();
  values<std::byte> const out = place.out(call, result.data()), beyond = place.beyond(call, result.data());
  working_vector data(call, in, out, beyond, memory);
  if (run.record) data.record(run.record);
  if (missing) data.fail(missing);
  perform(data, {call, run.by, run.known, run.number, kept && kept->play ? kept : nullptr, run.record});
  if (missing) std::rethrow_exception(missing);
  if (place.direct) data.complete();
  else copy_values(of, data.read(call.out.covers), call.out.covers.size(), call.out.data, run.record);
  return data.failure();
}

}  // namespace colligo
