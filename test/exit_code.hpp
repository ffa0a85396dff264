// SPDX-License-Identifier: BSL-1.0
// Whether one algorithm alone is under test, and what a program returns then. Mains include this alone, so a new
// algorithm does not compile them again.
#pragma once

#include <atomic>
#include <cstdlib>

namespace tested {

inline char const* the_only_one() { return std::getenv("COLLIGO_TEST_ALGORITHM"); }

/// How often a test has come to an algorithm of which it has something to check.
inline std::atomic<int> count = 0;

/// What a program returns: 77, which ctest takes as skipped, if there is nothing in it of the one algorithm under test.
inline int exit_code(int failed) {
  constexpr int skipped = 77;
  if (failed != 0) return EXIT_FAILURE;   // not the number of failures, which may be 77
  return the_only_one() != nullptr && count == 0 ? skipped : EXIT_SUCCESS;
}

}  // namespace tested
