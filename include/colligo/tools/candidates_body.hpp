// SPDX-License-Identifier: BSL-1.0
/// @file
/// The algorithms that could make a call, and their predicted times: explain, predict, require and adaptive share this.
/// Only bodies include it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "../core/machine.hpp"
#include "../plan/price.hpp"
#include "../rules/chosen.hpp"
#include "../rules/policies.hpp"
#include "../rules/recorded.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Calls f(by, why_not) for the algorithms of the catalogue that have a form for the call and run over any transport,
/// with their default knobs; `why_not` is empty if they can make it.
template <class F>
void for_each_candidate(communicator_state& state, call const& call, policy_table const& policies, F f) {
  auto const look = [&](choice const& one) {
    choice const by = bound(one, policies, decided_by::rules);
    if (by.policy && by.policy->over == transport::best) f(by, why_not(state, call, by).why);
  };
  [&]<class... Tags>(list_of_tags<Tags...>) { (look(Tags{}), ...); }(catalogue_of_tags{});
}

/// Seconds by the recorded schedule; none if that is too long to be recorded.
template <class Lazy = void>
std::optional<double> seconds_by_schedule(communicator_state const& state, call const& call, choice const& by,
                                          machine const& m) {
  constexpr std::size_t most_operands = 1 << 13;
  auto const recorded = recorded_call(call, by, state.known, most_operands);
  return recorded ? std::optional(price(*recorded, m, static_cast<double>(call.of->size))) : std::nullopt;
}
using formula_of_card = double (*)(void const* tag, machine const& m, int p, std::size_t bytes);
/// Null: the algorithm has no such form, or its card no formula.
template <collective C, class Tag>
constexpr formula_of_card formula_if_any() {
  if constexpr (offers<Tag, C, std::byte, any_functor>)
    if constexpr (requires(policy_t<C, Tag, std::byte, any_functor> const& one) { one.cost(machine{}, 1, 1); })
      return [](void const* tag, machine const& m, int p, std::size_t bytes) {
        return make_policy<C, Tag, std::byte, any_functor>(*static_cast<Tag const*>(tag)).cost(m, p, bytes);
      };
  return nullptr;
}
template <collective C>
inline constexpr auto formulas_of = []<class... Tags>(list_of_tags<Tags...>) {
  return std::array{formula_if_any<C, Tags>()...};
}(catalogue_of_tags{});

/// Seconds by the formula of the card; none if it has no formula.
template <class Lazy = void>
std::optional<double> seconds_by_formula(call const& call, choice const& by, machine const& m) {
  auto const formulas = for_collective(call.what, []<collective C>() { return formulas_of<C>.data(); });
  auto const formula = formulas[by.index()];
  if (!formula) return std::nullopt;
  std::size_t const size = call.of->size;
  own_work const own = by.policy->work ? by.policy->work(by.tag(), call.vector, size) : own_work{};
  return formula(by.tag(), m, call.vector.parts, call.vector.whole.size() * size) +
         m.alone(own, static_cast<double>(size));
}

/// An algorithm that could make a call.
struct candidate {
  choice by;
  double seconds;   ///< by the formula of its card or, where that has none, by its schedule; beyond_all: not known
  bool by_formula;
};

/// The fastest on this machine first.
template <class Lazy = void>
std::vector<candidate> candidates_for(communicator_state& state, call const& call, policy_table const& policies,
                                      machine const& m) {
  std::vector<candidate> all;
  for_each_candidate(state, call, policies, [&](choice const& by, std::string const& why_not) {
    if (!why_not.empty()) return;
    auto const by_formula = seconds_by_formula(call, by, m);
    auto const seconds = by_formula ? by_formula : seconds_by_schedule(state, call, by, m);
    all.push_back({by, seconds.value_or(beyond_all), by_formula.has_value()});
  });
  std::sort(all.begin(), all.end(), [](candidate const& a, candidate const& b) {
    return a.seconds != b.seconds ? a.seconds < b.seconds : a.by.index() < b.by.index();
  });
  return all;
}

/// The latest `most` decisions of one kind, kept with a state.
template <class Entry>
struct kept_decisions final : kept_with_state {
  latest_used<Entry> latest;

  explicit kept_decisions(std::size_t most) : latest(most) {}
  static latest_used<Entry>& of(owner<kept_with_state>& kept, std::size_t most) {
    if (!kept) kept = make_owner<kept_decisions>(most);
    return static_cast<kept_decisions&>(*kept).latest;
  }
};

}  // namespace colligo
