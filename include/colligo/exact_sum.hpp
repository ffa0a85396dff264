// SPDX-License-Identifier: BSL-1.0
/// @file
/// exact_sum, exact_product (extra/exact/summing.hpp).
#pragma once

#include "extra/exact/summing.hpp"
