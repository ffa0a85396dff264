// SPDX-License-Identifier: BSL-1.0
/// @file
/// The part of the library colligo::compiled that needs no MPI: all algorithms, choosing among them, and schedules.
/// Also the source of a library for programs that only record, price and draw schedules.
#pragma once

#if !defined(COLLIGO_COMPILED) || !defined(COLLIGO_BODIES)
#error "only the one source of a compiled library includes this; it defines COLLIGO_COMPILED and COLLIGO_BODIES"
#endif

#include "engine/kept_plans.hpp"
#include "record.hpp"
#include "request.hpp"
#if !defined(COLLIGO_REST_APART)
#include "compiled_algorithms.hpp"
#endif

namespace colligo::inline COLLIGO_MODE::detail {

template choice const& by_name<void>(endpoint& state, call const& call, std::string_view name,
                                     policies_of_collective policies);
template bool const plans_are_kept<void>;
template void find_out<left_open::trees>(communicator_state& state, collective c, topology& known);
template void find_out<left_open::hosts>(communicator_state& state, collective c, topology& known);
template void find_out<left_open::levels>(communicator_state& state, collective c, topology& known);

}  // namespace colligo
