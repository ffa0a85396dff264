// SPDX-License-Identifier: BSL-1.0
/// @file
/// The door to extra/patience/waiting_for.hpp.
#pragma once

#include "extra/patience/waiting_for.hpp"
