// SPDX-License-Identifier: BSL-1.0
/// @file
/// require: the best algorithm with the bits that the program asks for (extra/require/requiring.hpp).
#pragma once

#include "extra/require/requiring.hpp"
