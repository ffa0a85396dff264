// SPDX-License-Identifier: BSL-1.0
/// @file
/// What of the library colligo::compiled needs no MPI: all algorithms, choosing among them, and schedules. Also the
/// source of a library for programs that record, price and draw schedules alone.
#pragma once

#if !defined(COLLIGO_COMPILED) || !defined(COLLIGO_BODIES)
#error "this is for the one source of a compiled library, which defines COLLIGO_COMPILED and COLLIGO_BODIES"
#endif

#include "record.hpp"
#include "request.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

template struct deciding<void>;

policy_table const& compiled_policies(collective what) {
  return for_collective(what, []<collective C>() -> policy_table const& { return policies_for<C>; });
}

}  // namespace colligo

template colligo::chosen_algorithm colligo::choose<void>(collective what, situation const& s);
