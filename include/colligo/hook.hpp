// SPDX-License-Identifier: BSL-1.0
/// @file
/// hook_calls: two functions of a tool's, called when a call begins and when it ends. For timelines, profiles and
/// counters: tools that see MPI's functions alone see nothing of calls over shared memory.
///
///   static colligo::call_hook const tool{.begin = &begin, .end = &end};
///   colligo::hook_calls(tool);   // before the first call
#pragma once

#include "engine/hooked_call.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace by_name {

/// From now on the calls on communicators that have not been used before are told to the tool, which has to live as
/// long as the program. There is one tool: a later one takes the place of an earlier one. Such calls are not played
/// from records, so short ones take longer; others pay nothing. Not for two threads at once.
inline void hook_calls(call_hook const& tool) { detail::hook_of_calls = &tool; }

}  // namespace by_name
}  // namespace colligo
