// SPDX-License-Identifier: BSL-1.0
/// @file
/// progress_thread: requests make progress while the program computes (tools/progress_thread.hpp).
#pragma once

#include "tools/progress_thread.hpp"
