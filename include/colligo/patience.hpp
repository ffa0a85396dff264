// SPDX-License-Identifier: BSL-1.0
/// @file
/// COLLIGO_PATIENCE: who waits for whom (tools/waiting_for.hpp).
#pragma once

#include "tools/waiting_for.hpp"
