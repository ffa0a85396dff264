// SPDX-License-Identifier: BSL-1.0
/// @file
/// COLLIGO_PATIENCE: who waits for whom (extra/patience/waiting_for.hpp).
#pragma once

#include "extra/patience/waiting_for.hpp"
