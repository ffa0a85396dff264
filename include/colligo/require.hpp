// SPDX-License-Identifier: BSL-1.0
/// @file
/// require: the best algorithm whose results have a required property (extra/require/requiring.hpp); any_order
/// (extra/require/any_order.hpp).
#pragma once

#include "extra/require/any_order.hpp"
#include "extra/require/requiring.hpp"
