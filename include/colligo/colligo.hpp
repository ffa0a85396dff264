// SPDX-License-Identifier: BSL-1.0
/// @file
/// Everything. Needs Boost.MPI; include a front door alone (all_reduce.hpp ...) to pay for less.
#pragma once

#include "all_reduce.hpp"
#include "model/cost.hpp"
#include "model/record.hpp"
#include "reduce.hpp"
