// SPDX-License-Identifier: BSL-1.0
/// @file
/// The door to extra/progress/progress_thread.hpp.
#pragma once

#include "extra/progress/progress_thread.hpp"
