// SPDX-License-Identifier: BSL-1.0
// expect: colligo needs C++20: compile with -std=c++20
// lines: 12
// flags: -std=c++17
#include <colligo/colligo.hpp>
