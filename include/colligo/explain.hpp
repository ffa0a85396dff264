// SPDX-License-Identifier: BSL-1.0
/// @file
/// explain (tools/explaining.hpp), and COLLIGO_EXPLAIN. With COLLIGO_EXPLAIN=1 in the environment of rank 0, a
/// program that includes this header in one unit prints a line on stderr for each collective, type, size class
/// (powers of two), algorithm and decider that is new on a communicator.
#pragma once

#include "engine/communicator_state.hpp"
#include "tools/explaining.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

inline bool const calls_are_explained = (explain_call = &explaining<>::explain_if_new, true);

}  // namespace colligo
