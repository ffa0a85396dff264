// SPDX-License-Identifier: BSL-1.0
/// @file
/// use_table, and COLLIGO_TABLE: measurements of a machine (extra/tables/table_of_program.hpp).
#pragma once

#include "extra/tables/table_of_program.hpp"
