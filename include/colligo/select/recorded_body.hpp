// SPDX-License-Identifier: BSL-1.0
/// @file
/// The body of recorded.hpp.
#pragma once

#include <utility>
#include <vector>

#include "../plan/walk.hpp"
#include "recorded.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

[[gnu::cold]] COLLIGO_BODY std::optional<recorded_steps> recorded_call(call const& its, text const& what,
                                                                       void const* tag, known_ranks const& known,
                                                                       std::size_t most_operands) {
  // Of all_to_all_v a rank knows its own blocks alone.
  if (what.run == nullptr || its.what == collective::all_to_all_v) return std::nullopt;
  int const p = its.vector.parts;
  std::vector<std::vector<schedule::step>> ranks;
  std::vector<operand> memory;
  std::size_t operands = 0;
  bool by_arrival = false;
  for (int r = 0; r < p; ++r) {
    rank_plan plan;
    planner step(r, p, its.of->size, plan, memory);
    what.run(tag, known, step, its.vector, its.root);
    if ((operands += plan.operands.size()) > most_operands) return std::nullopt;
    auto& its_steps = ranks.emplace_back();
    for (auto const& s : plan.steps) {
      if (s.kind == list_kind::copies) continue;
      by_arrival |= s.kind == list_kind::as_they_come;
      auto const said = plan.operands_of(s);
      its_steps.emplace_back(said.begin(), said.end());
    }
  }
  std::size_t const n = has_two_vectors(its.what) ? vectors_of(its.what, its.vector, 0).out.whole.last
                                                  : its.vector.whole.size();
  return recorded_steps{schedule(its.what, n, std::move(ranks)), by_arrival};
}

}  // namespace colligo
