// SPDX-License-Identifier: BSL-1.0
// The same code in both modes of the library, in one program, and a unit that names its algorithms: they live side by
// side.
#pragma once

#include <vector>

std::vector<double> sums_header_only(int p);
std::vector<double> sums_compiled(int p);
std::vector<double> sums_pinned(int p);
