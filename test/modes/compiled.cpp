// SPDX-License-Identifier: BSL-1.0
#ifndef COLLIGO_COMPILED
#error "this source is of the compiled mode"
#endif
#define SUMS sums_compiled
#include "sums.inc"
