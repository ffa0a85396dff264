// SPDX-License-Identifier: BSL-1.0
// How much is run: on every change what sees nearly all faults, with COLLIGO_TEST_THOROUGH=1 (test/run --thorough) more
// ranks, values and rounds of the same.
#pragma once

#include <cstdlib>

namespace tested {

inline bool is_thorough() {
  static bool const is = std::getenv("COLLIGO_TEST_THOROUGH") != nullptr;
  return is;
}
/// `ordinary`, or in a thorough run `more`.
inline int at_most(int ordinary, int more) { return is_thorough() ? more : ordinary; }

}  // namespace tested
