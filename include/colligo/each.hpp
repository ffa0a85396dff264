// SPDX-License-Identifier: BSL-1.0
/// @file
/// each(op, op, ...), for several reductions in one call (core/members.hpp).
#pragma once

#include "core/members.hpp"
