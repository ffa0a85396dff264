// SPDX-License-Identifier: BSL-1.0
/// @file
/// predict: the time that each algorithm is expected to take (tools/predicting.hpp).
#pragma once

#include "communicators/communicators.hpp"
#include "tools/predicting.hpp"
