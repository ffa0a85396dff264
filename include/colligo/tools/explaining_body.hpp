// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of explaining.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "../core/machine.hpp"
#include "../engine/communicator_state.hpp"
#include "candidates_body.hpp"
#include "explaining.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

// Seconds on a machine of messages; none if computing it would take long.
template <class Lazy = void>
[[gnu::cold]] std::optional<double> price_of(communicator_state const& state, call const& call, choice const& by) {
  constexpr int most_ranks = 32;
  return state.size() <= most_ranks ? seconds_by_schedule(state, call, by, typical) : std::nullopt;
}

template <class Lazy = void>
[[gnu::cold]] std::string microseconds(double seconds) {
  return in_digits(seconds * 1e6, 4) + " us";
}

// The automatic choice, or the tag, asks for memory.
inline bool asks_for_memory(communicator_state& state, element const& of, transport over) {
  return over == transport::shared_memory || (over == transport::best && state.automatic_memory(of) != nullptr);
}

// "over shared memory"
template <class Lazy = void>
[[gnu::cold]] std::string transport_text(communicator_state& state, call const& call, choice const& by) {
  if (by.policy->is_vendor) return "by the MPI library";
  int const p = state.size();
  if (p > 1 && asks_for_memory(state, *call.of, by.over)) {
    int const hosts = kept_choices::host_count(state);
    if (hosts == 1) return "over shared memory";
    if (hosts < p) return "over shared memory within hosts and messages between them";
  }
  return "over messages";
}

template <class Lazy = void>
[[gnu::cold]] std::string levels_text(communicator_state& state) {
  return ", levels " + kept_hierarchies<>::levels_of(state).text() +
         (state.levels_asked().empty() ? "" : ", as COLLIGO_LEVELS says");
}

template <class Lazy = void>
[[gnu::cold]] std::string decider_text(communicator_state& state, call const& call, choice const& by) {
  auto const& kept = kept_choices::of(state, call.what);
  bool const stable = kept.known.stable && !kept.known.exact && combines(call.what);
  switch (by.who) {
    case decided_by::pinned: return "pinned by the program";
    case decided_by::named: return "named by the program";
    case decided_by::environment: case decided_by::tree_file:
      return "set by " + kept.override_text;
    case decided_by::table:
      if (stable) break;
      return "chosen by the library's table";
    case decided_by::many_cores:
      if (stable) break;
      return "chosen by the rules for ranks with a core each" + levels_text(state);
    case decided_by::measured_table: {
      constexpr std::string_view variable = "COLLIGO_TABLE=";
      std::string_view from = state.table_setting().where;
      if (from.starts_with(variable)) from.remove_prefix(variable.size());
      return "chosen by table " + std::string(from) + ':' + std::to_string(kept.measured_line);
    }
    case decided_by::required: return "chosen among those that have the required property";
    case decided_by::tried: return "one of the candidates that are being measured in turn";
    case decided_by::measured: return "chosen by measurement in earlier calls";
    case decided_by::rules: break;
  }
  if (stable) return "chosen for COLLIGO_BITS=stable";
  return "chosen by the papers' rules" + (kept.known.hosts ? levels_text(state) : "");
}

// "COLLIGO_ALL_REDUCE=ring is not used: ...", or nothing.
template <class Lazy = void>
[[gnu::cold]] std::string unused_override_text(communicator_state& state, call const& call, choice const& by) {
  auto const& kept = kept_choices::of(state, call.what);
  bool const is_ours = by.who == decided_by::table || by.who == decided_by::many_cores ||
                       by.who == decided_by::rules || by.who == decided_by::measured_table;
  if (!is_ours || kept.override_text.empty()) return {};
  return kept.override_text + " is not used: " + kept.why_not_taken;
}

// The effect of COLLIGO_SUM, or nothing.
template <class Lazy = void>
[[gnu::cold]] std::string exactness_text(communicator_state& state, call const& call, choice const& by) {
  return (state.before() & exactness) != 0 && sum_exactly->holds_for(state, call, by)
             ? ", exact because of COLLIGO_SUM" : "";
}

template <class Lazy>
[[gnu::cold]] std::string explaining<Lazy>::latest_choice(endpoint& at, collective what) {
  communicator_state& state = state_at(at);
  auto const& kept = kept_choices::of(state, what);
  if (!kept.automatic) return {};
  std::string const name(kept.by.policy->name);
  if (kept.by.policy->is_vendor) return name;
  bool const in_memory = asks_for_memory(state, *kept.of, kept.by.over);
  return name + '@' + std::string(name_of(in_memory ? transport::shared_memory : transport::messages));
}

template <class Lazy>
[[gnu::cold]] void explaining<Lazy>::explain_if_new(communicator_state& state, call const& call, choice const& by) {
  auto& printed = kept_choices::of(state).explained;
  std::size_t const bytes = call.of->bytes(call.vector.whole.size());
  kept_choices::explained_call const now{call.what, call.of, static_cast<int>(std::bit_width(bytes)),
                                         by.who == decided_by::tried ? nullptr : by.policy, by.over, by.who};
  if (std::find(printed.begin(), printed.end(), now) != printed.end()) return;
  printed.push_back(now);
  std::string line = "colligo: " + std::string(described(call, by, made::at_once).text()) + ": " +
                     transport_text(state, call, by) + ", " + decider_text(state, call, by) +
                     exactness_text(state, call, by);
  if (std::string const unused = unused_override_text(state, call, by); !unused.empty()) line += "; " + unused;
  std::fprintf(stderr, "%s\n", line.c_str());
}

template <class Lazy>
[[gnu::cold]] std::string explaining<Lazy>::explained(endpoint& at, call const& call, choice const* by,
                                                 std::string const& trouble, policy_table const& policies) {
  communicator_state& state = state_at(at);
  std::string text = trouble + '\n';
  erased_policy const* taken = nullptr;
  if (by != nullptr) {
    taken = by->policy;
    text = std::string(described(call, *by, made::at_once).text()) + ", on " + std::to_string(state.size()) +
           (state.size() == 1 ? " rank\n  " : " ranks\n  ");
    if (auto const refused = why_not(state, call, *by).why; !refused.empty())
      return text + "refused: " + std::string(taken->name) + refused + '\n';
    text += std::string(taken->name) + ' ' + transport_text(state, call, *by) + ", ";
    text += decider_text(state, call, *by) + exactness_text(state, call, *by) + '\n';
    if (std::string const unused = unused_override_text(state, call, *by); !unused.empty())
      text += "  " + unused + '\n';
    if (auto const price = price_of(state, call, *by))
      text += "  predicted: " + microseconds(*price) + " on a machine of messages, 1 us each and 10 GB/s\n";
  }
  std::vector<std::pair<double, std::string>> priced;
  std::string unpriced, excluded;
  for_each_candidate(state, call, policies, [&](choice const& one, std::string const& refused) {
    std::string const name(one.policy->name);
    if (one.policy == taken) return;
    if (!refused.empty()) excluded += "  excluded: " + name + refused + '\n';
    else if (auto const price = price_of(state, call, one)) priced.emplace_back(*price, name);
    else unpriced += (unpriced.empty() ? "" : ", ") + name;
  });
  std::sort(priced.begin(), priced.end());
  std::string alternatives;
  for (auto const& [price, name] : priced)
    alternatives += (alternatives.empty() ? "" : ", ") + name + ' ' + microseconds(price);
  if (!alternatives.empty()) text += "  alternatives: " + alternatives + '\n';
  if (!unpriced.empty()) text += "  without a price: " + unpriced + '\n';
  return text + excluded;
}

}  // namespace colligo
