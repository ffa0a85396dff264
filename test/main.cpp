// SPDX-License-Identifier: BSL-1.0
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "exit_code.hpp"

int main(int argc, char** argv) { return tested::exit_code(Catch::Session().run(argc, argv)); }
