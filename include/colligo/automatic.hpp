// SPDX-License-Identifier: BSL-1.0
/// @file
/// All algorithms, and what chooses among them. Other headers have them too, unless COLLIGO_PINNED is defined: then a
/// unit whose calls name their algorithms by tags, and includes these (algorithm/ring.hpp), compiles nothing else.
#pragma once

#include "rules/policies.hpp"
