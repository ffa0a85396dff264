// SPDX-License-Identifier: BSL-1.0
// The papers' decision rules, number by number.
#include <catch2/catch.hpp>

#include <colligo/select/choose.hpp>

using namespace colligo;

namespace {
std::string_view name_of_choice(collective what, int p, std::size_t bytes, bool commutes = true, bool vendor = true) {
  return std::visit([](auto const& tag) { return tag.name; }, choose(what, {p, bytes, commutes, vendor}));
}
std::string_view all(int p, std::size_t bytes, bool commutes = true, bool vendor = true) { return name_of_choice(collective::all_reduce, p, bytes, commutes, vendor); }
}  // namespace

TEST_CASE("up to 32 bytes: recursive doubling") {
  for (int const p : {2, 3, 15, 64, 100}) CHECK(all(p, 32) == "recursive_doubling");
}

TEST_CASE("up to 1 KB: the vendor's for a power of two, binary tree otherwise") {
  CHECK(all(16, 33) == "vendor");
  CHECK(all(16, 1024) == "vendor");
  CHECK(all(16, 1024, true, false) == "recursive_doubling");
  CHECK(all(15, 33) == "binary_tree");
  CHECK(all(100, 1024) == "binary_tree");
}

TEST_CASE("a power of two and long: halving and doubling") {
  for (int const p : {2, 8, 64, 512}) CHECK(all(p, 8 << 20) == "halving_doubling");
}

TEST_CASE("few ranks, not a power of two: ring from its break-even size on") {
  CHECK(all(15, 65536) == "ring");
  CHECK(all(15, 65535) != "ring");
  for (int const p : {3, 5, 7, 9, 10, 11}) CHECK(all(p, 32768) == "ring");
  CHECK(all(33, 1 << 20) != "ring");
  CHECK(all(7, 1 << 20, false) == "halving_doubling");
}

TEST_CASE("many ranks: binary blocks where the exponents of p are close enough for the length") {
  for (int const p : {96, 60}) CHECK(all(p, 16384) == "binary_blocks");
  CHECK(all(36, 16384) == "binary_blocks");         // 3 < 14/2 - 2.5
  CHECK(all(33, 32768) == "halving_doubling");      // 5 = 15/2 - 2.5, not below
  CHECK(all(33, 1 << 20) == "binary_blocks");       // 5 < 20/2 - 2.5
  CHECK(all(96, 16383) == "halving_doubling");
}

TEST_CASE("reduce: binary tree for short vectors, the same rules for long ones") {
  auto const reduce = [](int p, std::size_t bytes) { return name_of_choice(collective::reduce, p, bytes); };
  CHECK(reduce(6, 8) == "binary_tree");
  CHECK(name_of_choice(collective::reduce, 8, 8, true, false) == "binary_tree");
  CHECK(reduce(8, 1 << 20) == "halving_doubling");
  CHECK(reduce(96, 1 << 20) == "binary_blocks");
}
