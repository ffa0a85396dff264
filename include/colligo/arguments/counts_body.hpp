// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of refusals.hpp that calls with counts need alone.
#pragma once

#include <algorithm>

#include "../engine/communicator_state.hpp"
#include "../engine/kept_plans.hpp"
#include "../rules/compare_blocks.hpp"
#include "lengths_body.hpp"
#include "refusals.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

COLLIGO_BODY void number_blocks(refused const& refusal, blocks const& vector) {
  auto const& ends = refusal.state.offsets;
  if (!std::is_sorted(ends.begin(), ends.end()))
    refuse_because(refusal, "the sum of the counts is larger than any vector");
  distributions_of_state::number(state_at(refusal.state), vector);
}

template <class Lazy>
void set_hooks_of_counts() { static_cast<void>(&plans_are_kept<Lazy>), static_cast<void>(&blocks_are_compared<Lazy>); }

}  // namespace colligo
