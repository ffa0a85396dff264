// SPDX-License-Identifier: BSL-1.0
/// @file
/// adaptive (extra/adaptive/adapting.hpp), and COLLIGO_ADAPTIVE=1, which does the same for `automatic` in a program
/// that includes this header in one unit.
#pragma once

#include "extra/adaptive/adapting.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

inline bool const automatic_may_adapt = (run_adaptively = &adapting<>::run_for_automatic, true);

}  // namespace colligo
