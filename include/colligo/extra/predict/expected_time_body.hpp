// SPDX-License-Identifier: BSL-1.0
/// @file
/// What an algorithm of the catalogue is expected to take, by its card's formula or, where that has none, by its
/// recorded schedule. For bodies alone.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "../../core/machine.hpp"
#include "../../plan/price.hpp"
#include "../../select/chosen.hpp"
#include "../../select/decide_body.hpp"
#include "../../select/recorded.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

template <collective C>
std::optional<double> seconds_by_formula(any_algorithm const& algorithm, machine const& m, int p, std::size_t bytes) {
  return with_tag(algorithm, [&]<class Tag>(Tag const& tag) -> std::optional<double> {
    if constexpr (offers<Tag, C, std::byte, any_functor>) {
      auto const policy = make_policy<C, Tag, std::byte, any_functor>(tag);
      if constexpr (requires { policy.cost(m, p, bytes); }) return policy.cost(m, p, bytes);
    }
    return std::nullopt;
  });
}

/// An algorithm that could make a call.
struct possible_algorithm {
  chosen_algorithm its;
  std::size_t which;        ///< in the catalogue
  double seconds;           ///< infinity: not known, where there is no formula and the schedule would be long
  bool by_formula = false;
};

/// Steps, over any wire, or the MPI library's own, which keep the order if that is needed.
template <class Lazy = void>
bool is_possible(port_base& port, call const& its, decision const& by, topology& known) {
  return by.what != nullptr && by.what->over == transport::best &&
         deciding<>::why_not(port, its, by, known).why.empty();
}

/// Those of the catalogue, with the knobs that they have by default, the quickest on this machine first.
template <class Lazy = void>
std::vector<possible_algorithm> possible_algorithms(port_base& port, call const& its, policy_table const& texts,
                                                    machine const& m) {
  constexpr std::size_t most_operands = 1 << 13;   // of a schedule that is recorded for its price
  std::vector<possible_algorithm> all;
  std::size_t const bytes = its.of->bytes(its.vector.whole.size());
  auto const look = [&](chosen_algorithm const& one) {
    decision const by = decision_for(one, texts, decided_by::rules);
    topology known{port.hosts};
    if (!is_possible<>(port, its, by, known)) return;
    possible_algorithm found{one, one.algorithm.index(), std::numeric_limits<double>::infinity()};
    auto const by_formula = for_collective(its.what, [&]<collective C>() {
      return seconds_by_formula<C>(one.algorithm, m, its.vector.parts, bytes);
    });
    found.by_formula = by_formula.has_value();
    if (by_formula) found.seconds = *by_formula;
    else if (auto const said = recorded_call(its, *by.what, by.tag, known, most_operands))
      found.seconds = price(said->steps, m, static_cast<double>(its.of->size));
    all.push_back(found);
  };
  [&]<class... Tags>(list_of_tags<Tags...>) { (look(chosen_algorithm(Tags{})), ...); }(catalogue_of_tags{});
  std::ranges::sort(all, {}, [](possible_algorithm const& one) { return std::pair(one.seconds, one.which); });
  return all;
}

}  // namespace colligo
