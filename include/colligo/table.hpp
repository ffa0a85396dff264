// SPDX-License-Identifier: BSL-1.0
/// @file
/// use_table, and COLLIGO_TABLE: measurements of a machine (extra/tables/measured.hpp).
#pragma once

#include "extra/tables/measured.hpp"
