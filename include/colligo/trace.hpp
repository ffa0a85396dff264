// SPDX-License-Identifier: BSL-1.0
/// @file
/// tracing, and COLLIGO_TRACE for whole programs (extra/trace/tracing.hpp).
#pragma once

#include "extra/trace/tracing.hpp"
