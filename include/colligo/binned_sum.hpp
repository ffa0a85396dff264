// SPDX-License-Identifier: BSL-1.0
/// @file
/// binned_sum, for many sums at once (extra/exact/binning.hpp).
#pragma once

#include "extra/exact/binning.hpp"
