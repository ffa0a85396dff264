// SPDX-License-Identifier: BSL-1.0
/// @file
/// All algorithms, and what chooses among them. Other headers have them too, unless COLLIGO_PINNED is defined: then a
/// unit whose calls name their algorithms by tags, and includes these (algorithm/ring.hpp), compiles nothing else.
#pragma once

#include "communicators/communicators.hpp"
#include "rules/policies.hpp"
#if COLLIGO_HAS_BODIES && __has_include(<mpi.h>)
#include "transport/messages/mpi_vendor_body.hpp"
#endif
