// SPDX-License-Identifier: BSL-1.0
// Every algorithm as it is recorded: the laws, and the closed formulas of the papers.
#include <catch2/catch.hpp>

#include <bit>
#include <string>
#include <vector>

#include "../recorded_ranks.hpp"
#include "../tested.hpp"
#include "priced.hpp"

using namespace priced;

namespace {

template <collective C, class Tag>
constexpr bool has_formula = requires(policy_t<C, Tag, double, any> policy) {
  policy.cost(typical, 1, std::size_t{1});
};

/// 1 to 17, then some.
std::vector<int> ranks_of_formulas() {
  std::vector<int> some;
  for (int p = 1; p <= 17; ++p) some.push_back(p);
  some.insert(some.end(), {20, 23, 27, 31, 32, 33, 48, 63, 64});
  std::erase_if(some, [](int p) { return p > COLLIGO_TEST_MOST_RECORDED_RANKS; });
  return some;
}

/// check(tag, policy, p, root) for every algorithm that has a formula.
template <collective C, class Check>
void for_each_formula(Check check) {
  tested::for_each_text<C>([&]<class Tag>(Tag tag) {
    if constexpr (has_formula<C, Tag>)
      for (int const p : ranks_of_formulas())
        for (int const root : has_root(C) ? tested::roots(p, 9) : std::vector{0})
          check(tag, make_policy<C, Tag, double, any>(tag), p, root);
  });
}

template <collective C>
void formulas_are_what_cards_say() {
  std::string before;
  int exact = 1;
  auto const some_were_exact = [&] {
    INFO(name_of(C) << ' ' << before << " says of no p and n that its formula is exact");
    CHECK(exact > 0);
  };
  for_each_formula<C>([&]<class Tag>(Tag tag, auto const& policy, int p, int root) {
    if (before != Tag::name) some_were_exact(), before = Tag::name, exact = 0;
    auto const ranks = static_cast<std::size_t>(p), whole = divisible(p), power = std::bit_floor(ranks);
    std::vector<std::size_t> sizes{0, 1, 7, power, 3 * ranks, whole, 5 * whole};
    if (p > 16) sizes = {7, 3 * ranks, whole};
    if (C == collective::barrier) sizes = {0};
    for (std::size_t const n : sizes) {
      auto const s = record<double>(tag, C, p, n, root);
      for (machine const& m : machines) {
        formula const known = formula_of(policy, m, p, n);
        if (known != formula::exact && known != formula::bound) continue;
        double const recorded = price(s, m, element<C>), cost = policy.cost(m, p, n);
        INFO(name_of(C) << ' ' << Tag::name << ", p = " << p << ", n = " << n << ", root = " << root << ", machine "
                        << &m - machines);
        if (known == formula::exact) CHECK(recorded == Approx(cost).epsilon(1e-12));
        if (known == formula::bound) CHECK(recorded <= cost * (1 + 1e-12));
        exact += known == formula::exact && p > 1 && (n > 0 || C == collective::barrier);
      }
    }
  });
  some_were_exact();
}

template <collective C>
void rounding_to_elements_stays_between() {
  for_each_formula<C>([]<class Tag>(Tag tag, auto const& policy, int p, int root) {
    for (std::size_t const n : {1u, 5u, 64u, 1000u}) {
      std::size_t const unit = divisible(p), below = n / unit * unit, above = below + unit;
      auto const s = record<double>(tag, C, p, n, root);
      for (machine const& m : {machines[0], machines[1]}) {
        if (formula_of(policy, m, p, n) != formula::rounded) continue;
        double const recorded = price(s, m, element<C>);
        INFO(name_of(C) << ' ' << Tag::name << ", p = " << p << ", n = " << n << ", root = " << root);
        if (formula_of(policy, m, p, above) != formula::estimate)
          CHECK(recorded <= policy.cost(m, p, above) * (1 + 1e-12));
        if (formula_of(policy, m, p, below) == formula::exact)
          CHECK(recorded >= policy.cost(m, p, below) * (1 - 1e-12));
      }
    }
  });
}

}  // namespace

TEST_CASE("every algorithm of every collective obeys the laws, on up to 128 ranks") {
  static std::vector<std::size_t> const sizes{0, 1, 5, 64, 1000}, few_sizes{150};
  for (collective const c : collectives)
    detail::for_collective(c, [&]<collective C>() {
      tested::for_each_text<C>([]<class Tag>(Tag tag) {
        for (int p = 1; p <= 2 * COLLIGO_TEST_MOST_RECORDED_RANKS; p += 1 + p / 34)   // 64 and 128 among them
          for (std::size_t const n : p <= 33 ? sizes : few_sizes)
            for (int root = 0; root < (has_root(C) && p <= 9 ? p : 1); ++root) {
              INFO(name_of(C) << ' ' << Tag::name << ", p = " << p << ", n = " << n << ", root = " << root);
              CHECK_NOTHROW(record(tag, C, p, n, root).verify());
            }
      });
    });
}

// Policies of irregular collectives are those of regular ones.
template <class F>
void for_each_regular(F f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    auto const one = [&]<collective C>() {
      if constexpr (!name_of(C).ends_with('v') && C != collective::reduce_scatter_block) f.template operator()<C>();
    };
    (one.template operator()<collectives[I]>(), ...);
  }(std::make_index_sequence<collectives.size()>{});
}

TEST_CASE("every closed formula is what its card says of the recorded schedule: equal to it, or a bound") {
  for_each_regular([]<collective C>() { formulas_are_what_cards_say<C>(); });
}

TEST_CASE("where n does not divide, the schedules cost what the formulas say of the sizes around it") {
  for_each_regular([]<collective C>() {
    if constexpr (C != collective::barrier) rounding_to_elements_stays_between<C>();
  });
}

namespace {

// No rank copies or merges more than its policy says, and one that says nothing has nothing but messages; a price
// counts what each rank does.
template <collective C>
void own_work_is_bounded() {
  machine const papers{4096, 64, 16}, ours{4096, 64, 16, 1, 1, 1, {128, 8, 2}};
  tested::for_each_text<C>([&]<class Tag>(Tag tag) {
    auto const policy = make_policy<C, Tag, double, any>(tag);
    for (int p = 1; p <= COLLIGO_TEST_MOST_RECORDED_RANKS; p += 1 + p / 16) {
      auto const ranks = static_cast<std::size_t>(p);
      std::vector<std::size_t> uneven(ranks, 3);
      uneven[ranks / 2] = 5000, uneven[ranks / 3] = 0;
      for (bool const is_even : {true, false}) {
        if (!is_even && (!has_blocks(C) || has_two_vectors(C))) continue;
        std::size_t const n = is_even ? 64 * ranks : 3 * ranks + 5000;
        auto const s = is_even ? record<double>(tag, C, p, n) : record<double>(tag, C, p, uneven);
        std::vector<std::size_t> offsets(ranks + 1);
        std::inclusive_scan(uneven.begin(), uneven.end(), offsets.begin() + 1);
        blocks const vector{{0, is_even ? n : offsets.back()}, p, is_even ? nullptr : offsets.data()};
        own_work const said = work_of(policy, vector, sizeof(double)), done = s.work();
        INFO(name_of(C) << ' ' << Tag::name << ", p = " << p << (is_even ? "" : ", uneven"));
        CHECK(done.moves <= said.moves);
        CHECK(done.copied <= said.copied);
        CHECK(done.steps == said.steps);
        double const more = price(s, ours, 8) - price(s, papers, 8);
        CHECK(more >= ours.alone({0, 0, done.steps}, 8) * (1 - 1e-9));
        CHECK(more <= 2 * ours.alone(said, 8));
        bool const alike = is_even && ((std::is_same_v<Tag, sorted_halving> && is_power_of_two(p)) ||
                                       std::is_same_v<Tag, bruck>);   // on all ranks
        if (alike) CHECK(more == Approx(ours.alone(said, 8)).epsilon(1e-12));
      }
    }
  });
}

}  // namespace

TEST_CASE("own work is at most what cards say, and is in the price") {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (own_work_is_bounded<collectives[I]>(), ...);
  }(std::make_index_sequence<collectives.size()>{});
}
