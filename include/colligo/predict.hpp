// SPDX-License-Identifier: BSL-1.0
/// @file
/// predict: the time that each algorithm is expected to take (extra/predict/predicting.hpp).
#pragma once

#include "extra/predict/predicting.hpp"
