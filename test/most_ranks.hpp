// SPDX-License-Identifier: BSL-1.0
// How many ranks are combined over threads: sanitizers run fewer.
#pragma once

#ifndef COLLIGO_TEST_MOST_RANKS
#define COLLIGO_TEST_MOST_RANKS 33
#endif
