// SPDX-License-Identifier: BSL-1.0
/// @file
/// Errors that end a program in order.
#pragma once

#include <stdexcept>

namespace bench {

/// An error that every rank finds alike, so that all of them can leave in order. Any other exception aborts the job,
/// since the other ranks may be waiting.
struct agreed_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace bench
