// SPDX-License-Identifier: BSL-1.0
// The closed formulas of the papers against what the recorded schedules cost.
#include <catch2/catch.hpp>

#include <numeric>

#include "../laws.hpp"

#ifndef COLLIGO_TEST_MOST_RECORDED_RANKS
#define COLLIGO_TEST_MOST_RECORDED_RANKS 64
#endif

namespace {

using namespace colligo;
struct any {};

// All terms together, and each alone; one-way messages cheaper than exchanges, and not. Whole numbers, so that sums are exact.
constexpr machine machines[] = {{4096, 64, 16}, {4096, 64, 16, 0.5, 0.75}, {4096, 64, 16, 1, 0.5}, {4096, 0, 0, 0.5}, {0, 64, 0, 1, 0.25}, {0, 0, 16}};

/// What the recorded schedule costs and what the formula says, for n elements of 8 bytes.
struct pair {
  double recorded, formula;
};
template <collective C, class Tag>
pair both(Tag const& tag, machine const& m, int p, std::size_t n, int root = 0) {
  return {price(record<double>(tag, C, p, n, root), m, sizeof(double)), make_policy<C, Tag, double, any>(tag).cost(m, p, n)};
}

/// All halves, segments and blocks are whole.
std::size_t divisible(int p) { return static_cast<std::size_t>(2 * std::lcm(p, floor_power_of_two(p))); }

template <class Tag>
constexpr bool moves_whole_vectors = std::is_same_v<Tag, binary_tree> || std::is_same_v<Tag, recursive_doubling> ||
                                     std::is_same_v<Tag, halving_tree> || std::is_same_v<Tag, rotating_ring>;

template <collective C, class Check>
void for_all(Check check) {
  laws::for_each_text<C>([&](auto tag) {
    for (int p = 1; p <= COLLIGO_TEST_MOST_RECORDED_RANKS; ++p)
      for (int const root : C == collective::reduce ? laws::roots(p, 9) : std::vector{0})
        for (machine const& m : machines) check(tag, m, p, root);
  });
}

template <collective C>
void formulas_are_exact() {
  for_all<C>([]<class Tag>(Tag tag, machine const& m, int p, int root) {
    std::vector<std::size_t> sizes{0, divisible(p), 5 * divisible(p)};
    if (moves_whole_vectors<Tag>) sizes.insert(sizes.end(), {1, 7, 1000});
    for (std::size_t const n : sizes) {
      auto const [recorded, formula] = both<C>(tag, m, p, n, root);
      INFO(name_of(C) << ' ' << Tag::name << ", p = " << p << ", n = " << n << ", root = " << root);
      if (std::is_same_v<Tag, binary_blocks> && p != floor_power_of_two(p)) CHECK(recorded <= formula);   // the sources have no formula
      else CHECK(recorded == Approx(formula).epsilon(1e-12));
    }
  });
}

template <collective C>
void rounding_to_elements_stays_between() {
  for_all<C>([]<class Tag>(Tag tag, machine const& m, int p, int root) {
    for (std::size_t const n : {1u, 5u, 64u, 1000u}) {
      std::size_t const unit = divisible(p), below = n / unit * unit, above = below + unit;
      double const recorded = both<C>(tag, m, p, n, root).recorded;
      INFO(name_of(C) << ' ' << Tag::name << ", p = " << p << ", n = " << n << ", root = " << root);
      CHECK(recorded <= both<C>(tag, m, p, above, root).formula * (1 + 1e-12));
      if (!std::is_same_v<Tag, binary_blocks>) CHECK(recorded >= both<C>(tag, m, p, below, root).formula * (1 - 1e-12));
    }
  });
}

}  // namespace

TEST_CASE("all_reduce: every closed formula equals the recorded schedule, p = 1..64") { formulas_are_exact<collective::all_reduce>(); }
TEST_CASE("reduce: every closed formula equals the recorded schedule, p = 1..64, any root") { formulas_are_exact<collective::reduce>(); }

TEST_CASE("where n does not divide, the schedules cost what the formulas say of the sizes around it") {
  rounding_to_elements_stays_between<collective::all_reduce>();
  rounding_to_elements_stays_between<collective::reduce>();
}

TEST_CASE("the formulas as the papers print them") {
  machine const m{4096, 64, 16, 0.5, 0.75};
  double const a = m.alpha, au = m.alpha_uni(), b = m.beta, bu = m.beta_uni(), g = m.gamma;
  int const p = 16;
  double const n = 1024 * sizeof(double), lg = 4;
  auto const all = [&](auto tag) { return both<collective::all_reduce>(tag, m, p, 1024).recorded; };
  auto const one = [&](auto tag) { return both<collective::reduce>(tag, m, p, 1024, 5).recorded; };
  CHECK(one(binary_tree{}) == lg * (au + n * bu + n * g));
  CHECK(all(binary_tree{}) == lg * (2 * au + 2 * n * bu + n * g));
  CHECK(all(recursive_doubling{}) == lg * (a + n * b + n * g));
  CHECK(all(halving_doubling{}) == 2 * lg * a + 2 * n * b + n * g - (2 * n * b + n * g) / p);
  CHECK(one(halving_doubling{}) == lg * (a + au) + n * (b + bu) + n * g - (n * (b + bu) + n * g) / p);
  CHECK(all(ring{}) == 2 * (p - 1) * a + 2 * n * b + n * g - (2 * n * b + n * g) / p);
  CHECK(one(ring{}) == (p - 1) * (a + au) + n * (b + bu) + n * g - (n * (b + bu) + n * g) / p);
}

TEST_CASE("for p not a power of two the papers' formulas hold where one-way messages cost as much as exchanges") {
  machine const m{4096, 64, 16};
  for (int const p : {3, 5, 6, 7, 13, 31, 48, 61}) {
    std::size_t const elements = divisible(p);
    double const n = static_cast<double>(elements) * sizeof(double), q = floor_power_of_two(p), lg = floor_lg(p);
    INFO("p = " << p);
    CHECK(both<collective::all_reduce>(recursive_doubling{}, m, p, elements).recorded ==
          Approx(ceil_lg(p) * (m.alpha + n * m.beta + n * m.gamma) + m.alpha + n * m.beta));
    CHECK(both<collective::all_reduce>(halving_doubling{}, m, p, elements).recorded ==
          Approx((2 * lg + 3) * m.alpha + 4 * n * m.beta + 1.5 * n * m.gamma - (2 * n * m.beta + n * m.gamma) / q));
    CHECK(both<collective::reduce>(halving_doubling{}, m, p, elements, 1).recorded ==
          Approx((2 + 2 * lg) * m.alpha + 3 * n * m.beta + 1.5 * n * m.gamma - (2 * n * m.beta + n * m.gamma) / q));
  }
}
