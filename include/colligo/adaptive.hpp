// SPDX-License-Identifier: BSL-1.0
/// @file
/// adaptive (tools/adapting.hpp), and COLLIGO_ADAPTIVE=1, which does the same for `automatic` in a program
/// that includes this header in one unit.
#pragma once

#include "tools/adapting.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

inline bool const automatic_may_adapt = (run_adaptively = &adapting<>::run_for_automatic, true);

}  // namespace colligo
