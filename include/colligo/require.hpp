// SPDX-License-Identifier: BSL-1.0
/// @file
/// require: the best algorithm whose results have a required property (tools/requiring.hpp); any_order
/// (tools/any_order.hpp).
#pragma once

#include "tools/any_order.hpp"
#include "tools/requiring.hpp"
