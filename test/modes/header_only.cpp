// SPDX-License-Identifier: BSL-1.0
#ifdef COLLIGO_COMPILED
#undef COLLIGO_COMPILED
#endif
#define SUMS sums_header_only
#include "sums.inc"
