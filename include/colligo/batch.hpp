// SPDX-License-Identifier: BSL-1.0
/// @file
/// batch: calls of all_reduce that are put off and made as one (extra/batch/batching.hpp).
#pragma once

#include "extra/batch/batching.hpp"
