// SPDX-License-Identifier: BSL-1.0
/// @file
/// progress_thread: requests make progress while the program computes (extra/progress/progress_thread.hpp).
#pragma once

#include "extra/progress/progress_thread.hpp"
