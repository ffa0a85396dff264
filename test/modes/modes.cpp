// SPDX-License-Identifier: BSL-1.0
#include <catch2/catch.hpp>

#include "sum.hpp"

TEST_CASE("a unit in header-only mode and one in compiled mode live side by side in a program") {
  for (int const p : {1, 2, 5}) {
    auto const expected = std::vector<double>(3, p * (p - 1) / 2.0 + 0.5 * p);
    CHECK(sums_header_only(p) == expected);
    CHECK(sums_compiled(p) == expected);
    CHECK(sums_pinned(p) == expected);
  }
}
