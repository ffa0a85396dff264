// SPDX-License-Identifier: BSL-1.0
/// @file
/// The door to extra/trace/tracing.hpp.
#pragma once

#include "extra/trace/tracing.hpp"
