// SPDX-License-Identifier: BSL-1.0
// expect: colligo needs exceptions: compile without -fno-exceptions
// lines: 12
// flags: -fno-exceptions
#include <colligo/colligo.hpp>
