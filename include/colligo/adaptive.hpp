// SPDX-License-Identifier: BSL-1.0
/// @file
/// adaptive (select/adaptive.hpp), and COLLIGO_ADAPTIVE=1: the same for `automatic` in programs of which one unit
/// includes this.
#pragma once

#include "select/adaptive.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

inline bool const automatic_may_adapt = (run_adaptively = &adapting<>::run_for_automatic, true);

}  // namespace colligo
