// SPDX-License-Identifier: BSL-1.0
/// @file
/// What an algorithm of the catalogue is expected to take, by its card's formula or, where that has none, by its
/// recorded schedule. For bodies alone.
#pragma once

#include <optional>

#include "../core/machine.hpp"
#include "../plan/price.hpp"
#include "chosen.hpp"
#include "decide.hpp"
#include "recorded.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

template <collective C>
std::optional<double> seconds_by_formula(any_algorithm const& algorithm, machine const& m, int p, std::size_t bytes) {
  return std::visit([&]<class Tag>(Tag const& tag) -> std::optional<double> {
    if constexpr (offers<Tag, C, std::byte, any_functor>) {
      auto const policy = make_policy<C, Tag, std::byte, any_functor>(tag);
      if constexpr (requires { policy.cost(m, p, bytes); }) return policy.cost(m, p, bytes);
    }
    return std::nullopt;
  }, algorithm);
}

struct predicted_seconds {
  double seconds;
  bool by_formula;
};

/// None where there is no formula and the schedule would be long, or not made of steps.
template <class Lazy = void>
std::optional<predicted_seconds> predicted(call const& its, text const& what, any_algorithm const& algorithm,
                                           void const* tag, known_ranks const& known, machine const& m,
                                           std::size_t most_operands) {
  std::size_t const bytes = its.of->bytes(its.vector.whole.size());
  auto const by_formula = for_collective(its.what, [&]<collective C>() {
    return seconds_by_formula<C>(algorithm, m, its.vector.parts, bytes);
  });
  if (by_formula) return predicted_seconds{*by_formula, true};
  auto const said = recorded_call(its, what, tag, known, most_operands);
  if (!said) return std::nullopt;
  return predicted_seconds{price(said->steps, m, static_cast<double>(its.of->size)), false};
}

}  // namespace colligo
