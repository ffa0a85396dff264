// SPDX-License-Identifier: BSL-1.0
/// @file
/// explain: the algorithm that a call would take, its transport, who decided that, and why not another one.
/// ../explain.hpp adds COLLIGO_EXPLAIN.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>

#include "../rules/chosen.hpp"
#include "../communicators/communicators.hpp"
#include "../arguments/call_arguments.hpp"
#include "../rules/policies.hpp"
#include "../rules/recorded.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// Descriptions of choices.
template <class Lazy = void>
struct explaining {
  /// The text of explain(); or why there is no choice, if `trouble` has a reason.
  static std::string explained(endpoint& at, call const& call, choice const* by, std::string const& trouble,
                               policy_table const& policies);
  static std::string latest_choice(endpoint& at, collective what);
  /// Prints a line on stderr, unless there was one for such a call with this algorithm, chosen in this way.
  static void explain_if_new(communicator_state& state, call const& call, choice const& by);
};

}  // namespace detail

namespace by_name {

/// Describes a call of this collective with n elements of type T: the algorithm, its transport, who decided (the
/// program, the environment, a table, the papers' rules), its predicted time and those of the others, and why the rest
/// is excluded. For collectives on blocks n is the length of one, the same for all ranks.
///   std::cout << colligo::explain<double>(world, colligo::collective::all_reduce, 1000, std::plus<>{});
/// Times are prices of recorded schedules on a `typical` machine of messages, in seconds (core/machine.hpp): they
/// compare algorithms, and are missing above 32 ranks and for long schedules. Throws for an unknown name, as the call
/// would; describes an algorithm that the call would refuse. Cost: milliseconds. Collective over comm.
template <class T, communicator Comm, class Op, algorithm Algorithm = automatic>
  requires(!algorithm<Op> || detail::functor_on<Op, T>)
std::string explain(Comm const& comm, collective what, std::size_t n, Op const& op, Algorithm const& algorithm = {}) {
  detail::endpoint& at = state_of<Comm>::open(comm);
  detail::call const call = detail::call_in_question<T>(comm, what, n, op);
  auto const policies = detail::policies_of(what);
  try {
    chosen_algorithm const by = detail::for_collective(what, [&]<collective C>() -> chosen_algorithm {
      if constexpr (detail::is_decided_at_run_time<Algorithm> || offers<Algorithm, C, T, Op>)
        return detail::decide<C, T, Op>(at, call, algorithm);
      else
        throw algorithm_error(std::string(name_of(C)) + ": " + std::string(Algorithm::name) +
                              " has no form for this collective");
    });
    return detail::explaining<>::explained(at, call, &by, "", policies());
  } catch (algorithm_error const& e) {
    if constexpr (std::is_same_v<Algorithm, named>) throw;
    return detail::explaining<>::explained(at, call, nullptr, e.what(), policies());
  } catch (argument_error const& e) {   // a setting
    return detail::explaining<>::explained(at, call, nullptr, e.what(), policies());
  }
}
/// The same for collectives without a functor.
template <class T, communicator Comm, algorithm Algorithm = automatic>
  requires(!detail::functor_on<Algorithm, T>)
std::string explain(Comm const& comm, collective what, std::size_t n, Algorithm const& algorithm = {}) {
  return colligo::explain<T>(comm, what, n, detail::no_functor{}, algorithm);
}

/// The choice of the latest call of this collective over comm, as a name with its transport, "direct@shared_memory";
/// empty if the library did not choose. Not collective.
template <communicator Comm>
std::string latest_choice(Comm const& comm, collective what) {
  return detail::explaining<>::latest_choice(state_of<Comm>::open(comm), what);
}

}  // namespace by_name

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include <algorithm>
#include <bit>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "../core/machine.hpp"
#include "../engine/communicator_state.hpp"
#include "candidates_body.hpp"

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
  if (over == transport::best && state.are_threads()) return state.why_no_memory(of).empty();
  return over == transport::shared_memory || (over == transport::best && state.automatic_memory(of) != nullptr);
}

// "over shared memory"
template <class Lazy = void>
[[gnu::cold]] std::string transport_text(communicator_state& state, call const& call, choice const& by) {
  if (by.policy->is_vendor) return "by the MPI library";
  int const p = state.size();
  if (p > 1 && state.are_threads())
    return asks_for_memory(state, *call.of, by.over) ? "over shared memory of threads"
                                                     : "over messages between threads";
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
      text += "  predicted between hosts: " + microseconds(*price) + ", messages of 1 us and 10 GB/s\n";
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
#endif
