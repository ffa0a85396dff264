// SPDX-License-Identifier: BSL-1.0
/// @file
/// The steps of a compiled algorithm on all ranks, as a schedule.
#pragma once

#include <cstddef>
#include <optional>

#include "../core/erased_policy.hpp"
#include "../engine/call.hpp"
#include "../plan/recorder.hpp"
#include "chosen.hpp"
#include "decide.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// A call that is described but not made: n elements, for collectives on blocks n of each block. Throws argument_error
/// if no process could address them.
template <class T, class Comm, class Op>
call call_in_question(Comm const& comm, collective what, std::size_t n, Op const& op) {
  int const p = state_of<Comm>::open(comm).size();
  constexpr std::size_t most = (std::size_t{1} << 47) / sizeof(T);
  if (n > most / static_cast<std::size_t>(has_blocks(what) ? p : 1))
    throw argument_error(concat({"colligo: a call of ", n, " elements is asked about, which no process can address"}));
  std::size_t const all = what == collective::barrier ? 2 : has_blocks(what) ? n * static_cast<std::size_t>(p) : n;
  return {what, &element_of<T, Op>, state_of<Comm>::template wire<T, Op, true>(), const_cast<Op*>(&op),
          blocks{{0, all}, p}, {}, {}};
}

/// None if the algorithm does not consist of steps, or issues more than `most_operands` operands.
std::optional<schedule> recorded_call(call const& call, choice const& by, topology const& known,
                                      std::size_t most_operands);

/// A rank's steps in one of the library's algorithms; element_size in bytes. Throws algorithm_error if it has no form
/// for the collective, argument_error if it is made for another number of ranks.
rank_steps recorded_rank(choice const& algorithm, collective what, policy_table const& policies,
                         std::size_t element_size, int rank, int p, blocks const& vector, int root);

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include <utility>
#include <vector>

#include "../plan/walk.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

inline rank_steps recorded_on(int rank, int p, choice const& by, topology const& known, std::size_t element_size,
                              blocks const& vector, int root,
                              std::size_t most_operands = static_cast<std::size_t>(-1)) {
  small_vector<operand> memory;
  rank_plan plan;
  planner step(rank, p, element_size, plan, memory, most_operands);
  by.policy->run(by.tag(), known, step, vector, root);
  rank_steps recorded;
  for (rank_plan::step const& one : plan.steps) {
    auto const operands = plan.operands_of(one);
    recorded.by_arrival |= one.kind == list_kind::as_they_come;
    if (one.kind != list_kind::moves) recorded.steps.emplace_back(operands.begin(), operands.end());
    else for (operand const& alone : operands) recorded.moves.push_back({recorded.steps.size(), alone});
  }
  recorded.algorithm = by.policy->name;
  if (by.policy->scratch) recorded.scratch = by.policy->scratch(by.tag(), vector, element_size);
  if (by.policy->work) recorded.arithmetic = by.policy->work(by.tag(), vector, element_size).steps;
  return recorded;
}

[[gnu::cold]] COLLIGO_BODY std::optional<schedule> recorded_call(call const& call, choice const& by,
                                                                 topology const& known,
                                                                 std::size_t most_operands) try {
  // A rank knows only its own blocks.
  if (by.policy->run == nullptr || call.what == collective::all_to_all_v || call.what == collective::exchange)
    return std::nullopt;
  int const p = call.vector.parts;
  std::vector<rank_steps> ranks;
  std::size_t operands = 0;
  for (int r = 0; r < p; ++r) {
    rank_steps const& recorded = ranks.emplace_back(
        recorded_on(r, p, by, known, call.of->size, call.vector, call.root, most_operands));
    for (auto const& of_step : recorded.steps) operands += of_step.size();
    if ((operands += recorded.moves.size()) > most_operands) return std::nullopt;
  }
  std::size_t const n = has_two_vectors(call.what) ? vectors_of(call.what, call.vector, 0).out.whole.last
                                                   : call.vector.whole.size();
  return schedule(call.what, n, std::move(ranks));
} catch (plan_is_long const&) {
  return std::nullopt;
}

[[gnu::cold]] COLLIGO_BODY rank_steps recorded_rank(choice const& algorithm, collective what,
                                                    policy_table const& policies, std::size_t element_size, int rank,
                                                    int p, blocks const& vector, int root) {
  choice const by = bound(algorithm, policies, decided_by::pinned);
  auto const name = name_of(algorithm);
  require_form(by.policy != nullptr, by.policy != nullptr && by.policy->run != nullptr, what, name);
  if (by.policy->fits) require_ranks(by.policy->fits(by.tag(), {}, p).made_for, p, what, name);
  return recorded_on(rank, p, by, {}, element_size, vector, root);
}

}  // namespace colligo
#endif
