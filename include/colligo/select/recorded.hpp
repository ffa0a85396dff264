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

struct recorded_steps {
  schedule steps;
  bool by_arrival = false;   ///< some are combined as they come: over messages no rank knows the order
};

/// None where the algorithm is not made of steps or would issue more than so many operands.
std::optional<recorded_steps> recorded_call(call const& its, erased_policy const& what, void const* tag,
                                            topology const& known, std::size_t most_operands);

/// The steps of an algorithm of the library on a rank, for elements of so many bytes. Throws algorithm_error
/// where there is none, argument_error where it is made for other ranks.
rank_steps recorded_rank(chosen_algorithm const& algorithm, collective what, policy_table const& texts,
                       std::size_t element_size, int rank, int p, blocks const& vector, int root);

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "recorded_body.hpp"
#endif
