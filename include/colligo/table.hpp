// SPDX-License-Identifier: BSL-1.0
/// @file
/// The door to extra/tables/table_of_program.hpp.
#pragma once

#include "extra/tables/table_of_program.hpp"
