// SPDX-License-Identifier: BSL-1.0
/// @file
/// request, persistent, wait_all, wait_any, test_all (engine/handles.hpp).
#pragma once

#include "engine/handles.hpp"
