// SPDX-License-Identifier: BSL-1.0
/// @file
/// batch: several calls of all_reduce that are made as one (extra/batch/batching.hpp).
#pragma once

#include "extra/batch/batching.hpp"
