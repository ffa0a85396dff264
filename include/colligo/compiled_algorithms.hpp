// SPDX-License-Identifier: BSL-1.0
/// @file
/// The part of the library colligo::compiled that has all algorithms and the rules that choose among them.
#pragma once

#include "rules/choose.hpp"
#include "rules/choose_body.hpp"
#include "rules/policies.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

policy_table const& compiled_policies(collective what) {
  return for_collective(what, []<collective C>() -> policy_table const& { return policies_for<C>; });
}

}  // namespace colligo

template colligo::chosen_algorithm colligo::choose<void>(collective what, situation const& s);
