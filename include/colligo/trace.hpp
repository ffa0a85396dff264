// SPDX-License-Identifier: BSL-1.0
/// @file
/// tracing, and COLLIGO_TRACE for whole programs (tools/tracing.hpp).
#pragma once

#include "communicators/communicators.hpp"
#include "tools/tracing.hpp"
