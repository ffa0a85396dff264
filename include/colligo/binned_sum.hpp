// SPDX-License-Identifier: BSL-1.0
/// @file
/// binned_sum, for many sums at once (sums/binning.hpp).
#pragma once

#include "sums/binning.hpp"
