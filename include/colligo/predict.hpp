// SPDX-License-Identifier: BSL-1.0
/// @file
/// The door to extra/predict/predicting.hpp.
#pragma once

#include "extra/predict/predicting.hpp"
