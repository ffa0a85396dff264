// SPDX-License-Identifier: BSL-1.0
/// @file
/// each(op, op, ...), for several reductions in one call (core/each_member.hpp).
#pragma once

#include "core/each_member.hpp"
