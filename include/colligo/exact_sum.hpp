// SPDX-License-Identifier: BSL-1.0
/// @file
/// exact_sum, exact_product (sums/summing.hpp).
#pragma once

#include "sums/summing.hpp"
