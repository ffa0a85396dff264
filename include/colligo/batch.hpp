// SPDX-License-Identifier: BSL-1.0
/// @file
/// batch: several calls of all_reduce that are made as one (sums/batching.hpp).
#pragma once

#include "sums/batching.hpp"
