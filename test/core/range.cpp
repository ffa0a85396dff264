// SPDX-License-Identifier: BSL-1.0
#include <catch2/catch.hpp>

#include <colligo/core/copy.hpp>
#include <colligo/core/range.hpp>
#include <colligo/shape/blocks_of_ranks.hpp>
#include <colligo/shape/bruck_digits.hpp>
#include <colligo/shape/tree.hpp>
#include <colligo/shape/vector_halving.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>
#include <vector>

using namespace colligo;

TEST_CASE("bruck's slots of more ranks than the root of an int's numbers") {
  constexpr detail::bruck_digits last{.p = 100'000, .radix = 1'000, .weight = 3'000'000};
  STATIC_REQUIRE(last.above(99'999) == 0);
}

TEST_CASE("blocks follow each other, cover the whole and differ by at most one element") {
  for (std::size_t const n : {0u, 1u, 5u, 64u, 1001u})
    for (int p = 1; p <= 20; ++p) {
      blocks const b{{10, 10 + n}, p};
      std::size_t at = 10;
      for (int i = 0; i < p; ++i) {
        CHECK(b[i].first == at);
        at = b[i].last;
        CHECK(b[i].size() <= b[0].size());
        CHECK(b[i].size() + 1 >= b[0].size());
      }
      CHECK(at == 10 + n);
    }
}

TEST_CASE("overlap, contains, joined") {
  CHECK(overlap(range{0, 5}, range{4, 6}));
  CHECK_FALSE(overlap(range{0, 5}, range{5, 6}));
  CHECK_FALSE(overlap(range{3, 3}, range{0, 9}));
  CHECK(contains({0, 5}, {2, 5}));
  CHECK_FALSE(contains({0, 5}, {2, 6}));
  CHECK(joined({0, 3}, {3, 7}) == range{0, 7});
  CHECK(joined({3, 3}, {5, 7}) == range{5, 7});
  CHECK(low_half({0, 5}).size() == 3);
  CHECK(high_half({0, 5}) == range{3, 5});
}

TEST_CASE("segments of all ranks partition the vector, and refine those of fewer ranks") {
  for (int q = 1; q <= 64; q *= 2) {
    std::size_t sum = 0;
    for (int v = 0; v < q; ++v) {
      range const mine = segment({0, 1000}, v, q);
      sum += mine.size();
      if (q > 1) CHECK(contains(segment({0, 1000}, v % (q / 2), q / 2), mine));
    }
    CHECK(sum == 1000);
  }
}

TEST_CASE("an even split may leave its last blocks empty") {
  blocks const b{{3, 13}, 5, nullptr, 2};
  CHECK((b[0] == range{3, 7} && b[1] == range{7, 10} && b[2] == range{10, 13} && b[3] == range{13, 13} &&
         b[4] == range{13, 13}));
  CHECK(b.span(1, 5) == range{7, 13});
}

TEST_CASE("logarithms and powers of two") {
  CHECK(floor_power_of_two(1) == 1);
  CHECK(floor_power_of_two(63) == 32);
  CHECK(floor_lg(64) == 6);
  CHECK(ceil_lg(1) == 0);
  CHECK(ceil_lg(64) == 6);
  CHECK(ceil_lg(65) == 7);
}

TEST_CASE("binary blocks: 13 = 8 + 4 + 1, and the gaps that the paper prints") {
  auto const a = binary_block::of(0, 13), b = binary_block::of(9, 13), c = binary_block::of(12, 13);
  CHECK((a.first == 0 && a.size == 8));
  CHECK((b.first == 8 && b.size == 4));
  CHECK((c.first == 12 && c.size == 1));
  CHECK((c.larger().first == 8 && c.larger().size == 4));
  CHECK(a.larger().size == 0);
  CHECK(c.smaller().size == 0);
  for (int const p : {96, 60}) CHECK(largest_exponent_gap(p) == 1);
  for (int const p : {61, 80, 235, 251}) CHECK(largest_exponent_gap(p) == 2);
  for (int const p : {36, 77, 100}) CHECK(largest_exponent_gap(p) == 3);
  CHECK(largest_exponent_gap(64) == 0);
}

namespace {
// Parents and children agree, everybody is reached from the root, nobody twice.
template <class Tree>
void is_a_tree(Tree const& tree, int p, int root) {
  CHECK(tree.parent(root) == nobody);
  std::set<int> seen{root};
  for (int r = 0; r < p; ++r)
    for (int i = 0; i < tree.most_children(); ++i)
      if (int const child = tree.child(r, i); child != nobody) {
        CHECK(tree.parent(child) == r);
        CHECK(seen.insert(child).second);
      }
  CHECK(static_cast<int>(seen.size()) == p);
}
}  // namespace

TEST_CASE("the shapes are trees over all ranks, for every root") {
  for (int p = 1; p <= 40; ++p) {
    is_a_tree(halving_shape{p}, p, 0);
    for (int root = 0; root < p; ++root) is_a_tree(binomial_tree{p, root}, p, root);
  }
}

TEST_CASE("the longest block, the shortest one and the longest stretch are those that one finds by looking") {
  std::size_t const offsets[]{3, 3, 10, 12, 12, 40, 41, 45, 45};
  for (blocks const& vector : {blocks{{3, 45}, 8, offsets}, blocks{{3, 45}, 8}, blocks{{3, 45}, 8, nullptr, 3},
                               blocks{{3, 45}, 8, offsets}.grouped(5), blocks{{3, 45}, 11}.grouped(4)}) {
    int const p = vector.parts;
    for (int count = 1; count <= p; ++count) {
      std::size_t most = 0, least = 45;
      for (int i = 0; i < p; ++i) {
        most = std::max(most, vector.cycle(i, count).size());
        least = std::min(least, vector.cycle(i, count).size());
      }
      CHECK(vector.most_in_a_row(count) == most);
      // Where only some are looked at, one of them has all blocks of the longest stretch but fewer than lie between
      // two.
      for (int apart = 1; apart <= count; ++apart) {
        std::size_t const some = vector.most_in_a_row(count, apart);
        CHECK(some <= most);
        CHECK(some + vector.most_in_a_row(apart) >= most);
      }
      if (count > 1) continue;
      CHECK(vector.longest() == most);
      CHECK(vector.shortest() == least);
    }
  }
}

TEST_CASE("bytes are copied wherever they are, over each other too") {
  std::vector<std::byte> memory(36000), expected;
  int const page = 4096;
  for (std::size_t const bytes : {0u, 1u, 1023u, 1024u, 1025u, 3000u, 4096u, 9000u})
    for (int const pages : {-3, -1, 0, 1, 3})
      for (int const ahead : {-32, -31, -1, 0, 1, 16, 31, 32}) {
        for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i * 37 + i / 256);
        std::byte* const from = memory.data() + 13000;
        std::byte* const to = from + pages * page + ahead;
        expected = memory;
        std::memmove(expected.data() + (to - memory.data()), from, bytes);
        detail::copy_bytes(from, bytes, to);
        CHECK(memory == expected);
      }
}
