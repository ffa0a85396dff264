// SPDX-License-Identifier: BSL-1.0
/// @file
/// adaptive (extra/adaptive/adapting.hpp), and COLLIGO_ADAPTIVE=1: the same for `automatic` in programs of which one
/// unit includes this.
#pragma once

#include "extra/adaptive/adapting.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

inline bool const automatic_may_adapt = (run_adaptively = &adapting<>::run_for_automatic, true);

}  // namespace colligo
