// SPDX-License-Identifier: BSL-1.0
// The papers' decision rules, number by number.
#include <catch2/catch.hpp>

#include <colligo/select/choose.hpp>

#include <vector>

using namespace colligo;

namespace {
std::string_view choice(collective what, int p, std::size_t bytes, bool commutes = true, bool vendor = true,
                        bool exact = false) {
  return std::visit([](auto const& tag) { return tag.name; },
                    choose(what, {blocks{{0, bytes}, p}, 1, commutes, exact, vendor}).algorithm);
}
std::string_view all(int p, std::size_t bytes, bool commutes = true, bool vendor = true) {
  return choice(collective::all_reduce, p, bytes, commutes, vendor);
}
std::string_view reduced(int p, std::size_t bytes, bool commutes = true) {
  return choice(collective::reduce, p, bytes, commutes);
}
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

TEST_CASE(
    "what is younger than the papers: circulant for long vectors on any p, census for short ones where it is exact") {
  for (int const p : {3, 7, 15, 33, 96}) CHECK(all(p, 1 << 20) == "circulant");
  CHECK(choice(collective::all_reduce, 7, 8, true, true, true) == "census");
  CHECK(choice(collective::all_reduce, 8, 8, true, true, true) == "recursive_doubling");
  CHECK(choice(collective::all_reduce, 7, 2048, true, true, true) == "circulant");
}

TEST_CASE("reduce: binary tree up to 1 KB") {
  CHECK(reduced(6, 8) == "binary_tree");
  CHECK(reduced(8, 1024) == "vendor");
  CHECK(choice(collective::reduce, 8, 8, true, false) == "binary_tree");
}

TEST_CASE("few ranks, not a power of two: ring from its break-even size on") {
  CHECK(reduced(15, 65536) == "ring");
  CHECK(reduced(15, 65535) != "ring");
  for (int const p : {3, 5, 7, 9, 10, 11}) CHECK(reduced(p, 32768) == "ring");
  CHECK(reduced(33, 1 << 20) != "ring");
  CHECK(reduced(7, 1 << 20, false) == "halving_doubling");
}

TEST_CASE("many ranks: binary blocks where the exponents of p are close enough for the length") {
  for (int const p : {96, 60, 36}) CHECK(reduced(p, 16384) == "binary_blocks");   // gaps 1, 1 and 3, below 14/2 - 2.5
  CHECK(reduced(33, 32768) == "halving_doubling");                               // 5 = 15/2 - 2.5, not below
  CHECK(reduced(33, 1 << 20) == "binary_blocks");                                // 5 < 20/2 - 2.5
  CHECK(reduced(96, 16383) == "halving_doubling");
  CHECK(all(96, 1 << 20, false) == "binary_blocks");
}

TEST_CASE(
    "the rest of the family: few start-ups for short vectors, few bytes for long ones, order where it is asked for") {
  using enum collective;
  CHECK(choice(broadcast, 8, 100) == "binary_tree");
  CHECK(choice(broadcast, 8, 100000) == "scatter_all_gather");
  CHECK(choice(broadcast, 8, 8 << 20) == "pipelined_chain");
  CHECK(choice(all_gather, 8, 100) == "recursive_doubling");
  CHECK(choice(all_gather, 7, 100) == "circulant");
  CHECK(choice(all_gather, 7, 8 << 20) == "ring");
  CHECK(choice(all_gatherv, 7, 100) == "circulant");
  CHECK(choice(all_gatherv, 7, 8 << 20) == "pipelined_ring");
  CHECK(choice(gather, 8, 100) == "binary_tree");
  CHECK(choice(scatterv, 8, 8 << 20) == "linear");
  CHECK(choice(reduce_scatter, 7, 100) == "circulant");
  CHECK(choice(reduce_scatter_block, 8, 100) == "recursive_halving");
  CHECK(choice(reduce_scatter, 7, 100, false) == "halving_doubling");
  CHECK(choice(scan, 7, 100) == "recursive_doubling");
  CHECK(choice(exclusive_scan, 7, 100) == "doubling_123");
  CHECK(choice(exclusive_scan, 7, 8 << 20) == "pipelined_chain");
  CHECK(choice(barrier, 7, 0) == "dissemination");
}

TEST_CASE("ranks that share memory: the table; in slices or at once, by ranks and bytes") {
  auto const shared = [](collective what, int p, std::size_t bytes) {
    auto const chosen = choose(what, {.vector = blocks{{0, bytes}, p}, .element_size = 1, .shared = true});
    CHECK(chosen.over == transport::best);
    return std::visit([](auto const& tag) { return tag.name; }, chosen.algorithm);
  };
  CHECK(shared(collective::all_reduce, 2, 8) == "recursive_doubling");
  CHECK(shared(collective::all_reduce, 2, 49153) == "halving_doubling");
  CHECK(shared(collective::all_reduce, 3, 8) == "direct");
  CHECK(shared(collective::reduce, 2, 4097) == "binary_tree");
  CHECK(shared(collective::reduce, 8, 4097) == "direct");
  CHECK(shared(collective::scan, 8, 8) == "recursive_doubling");
  CHECK(shared(collective::gatherv, 8, 8) == "linear");
  CHECK(shared(collective::barrier, 8, 0) == "direct");
}

TEST_CASE(
    "several hosts: their leaders all to all where they are few, all ranks as leaders for long vectors; as elsewhere "
    "where nothing is to be gained") {
  auto const over = [](collective what, int p, int per_host, std::size_t bytes, bool commutes = true,
                       bool dealt = false) {
    std::vector<int> hosts;
    for (int r = 0; r < p; ++r) hosts.push_back(dealt ? r % (p / per_host) : r / per_host);
    auto const chosen =
        choose(what, {.vector = blocks{{0, bytes}, p}, .element_size = 1, .commutes = commutes, .hosts = hosts});
    return std::visit([](auto const& tag) { return tag.name; }, chosen.algorithm);
  };
  CHECK(over(collective::all_reduce, 32, 4, 8) == "hierarchical_direct");
  CHECK(over(collective::all_reduce, 32, 4, 1 << 20) == "multi_leader");
  CHECK(over(collective::all_reduce, 128, 4, 8) == "hierarchical");
  CHECK(over(collective::all_reduce, 128, 4, 1 << 15) == "multi_leader");
  CHECK(over(collective::reduce, 32, 4, 8) == "hierarchical");
  CHECK(over(collective::broadcast, 32, 4, 8, false, true) == "hierarchical");
  CHECK(over(collective::all_reduce, 32, 4, 8, false) == "hierarchical_direct");
  CHECK(over(collective::all_reduce, 32, 4, 8, false, true) == "recursive_doubling");
  CHECK(over(collective::all_reduce, 32, 1, 8) == "recursive_doubling");
  CHECK(over(collective::all_gather, 32, 4, 8) == "recursive_doubling");
}
