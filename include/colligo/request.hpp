// SPDX-License-Identifier: BSL-1.0
/// @file
/// The door to engine/handles.hpp.
#pragma once

#include "engine/handles.hpp"
