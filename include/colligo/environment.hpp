// SPDX-License-Identifier: BSL-1.0
/// @file
/// The features behind COLLIGO_ADAPTIVE, COLLIGO_EXPLAIN, COLLIGO_PATIENCE, COLLIGO_SUM, COLLIGO_TABLE, COLLIGO_TRACE
/// and COLLIGO_TREE. A header-only program includes this, or the header of a single feature if there is one, in one
/// unit, which then takes longer to compile. The compiled library has all of them.
#pragma once

#include "adaptive.hpp"
#include "explain.hpp"
#include "sums/sums_of_environment.hpp"
#include "patience.hpp"
#include "table.hpp"
#include "trace.hpp"
#include "trees.hpp"
