// SPDX-License-Identifier: BSL-1.0
// Where the data are: CMake says it; else beside the program's source, where it is started.
#pragma once

#ifndef COLLIGO_EXAMPLE_DATA
#define COLLIGO_EXAMPLE_DATA "data"
#endif
