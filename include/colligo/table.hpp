// SPDX-License-Identifier: BSL-1.0
/// @file
/// use_table, and COLLIGO_TABLE: measurements of a machine (tools/measured.hpp).
#pragma once

#include "tools/measured.hpp"
