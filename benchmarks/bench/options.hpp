// SPDX-License-Identifier: BSL-1.0
/// @file
/// Options of a program that every rank reads and of which only rank 0 speaks.
#pragma once

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <sstream>

namespace bench {

/// Exit code where the program has nothing left to do: help was asked for, or an option is wrong.
inline std::optional<int> read_options(CLI::App& app, int argc, char** argv, int rank) {
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& e) {
    std::ostringstream out, error;
    int const code = app.exit(e, out, error);
    if (rank == 0) fmt::print(stdout, "{}", out.str()), fmt::print(stderr, "{}", error.str());
    return code == 0 ? 0 : 1;
  }
#ifndef __OPTIMIZE__
  if (rank == 0)
    fmt::print(stderr, "Not optimised, as test/run builds it: times mean nothing. To measure: cmake --preset gcc\n");
#endif
  return std::nullopt;
}

}  // namespace bench
