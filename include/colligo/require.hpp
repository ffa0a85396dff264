// SPDX-License-Identifier: BSL-1.0
/// @file
/// The door to extra/require/requiring.hpp.
#pragma once

#include "extra/require/requiring.hpp"
