// SPDX-License-Identifier: BSL-1.0
// What the papers say of single algorithms, with knobs, against what the recorded schedules cost (recorded.cpp: every
// algorithm's formula).
#include <catch2/catch.hpp>

#include <colligo/tools/association.hpp>

#include <algorithm>
#include <cmath>
#include <span>

#include "../recorded_ranks.hpp"
#include "../tested.hpp"
#include "priced.hpp"

using namespace priced;

TEST_CASE("circulant all_reduce: 2 ceil(lg p) rounds and 2 (p-1)/p n elements for every p to 512") {
  for (int p = 2; p <= 8 * COLLIGO_TEST_MOST_RECORDED_RANKS; ++p) {
    auto const n = static_cast<std::size_t>(4 * p), moved = n - 4;
    auto const s = record(circulant{}, collective::all_reduce, p, n);
    INFO("p = " << p);
    CHECK(s.rounds() == 2 * ceil_lg(p));
    CHECK(s.elements_sent() == 2 * moved);
    CHECK(s.elements_folded() == moved);
    CHECK(static_cast<int>(s.messages()) == 2 * ceil_lg(p));
  }
}

TEST_CASE("circulant in any radix: nothing is moved twice, fewer rounds of more messages, and what they cost") {
  for (int p = 2; p <= 2 * COLLIGO_TEST_MOST_RECORDED_RANKS; p += 1 + p / 8)
    for (std::size_t const radix : {2u, 3u, 4u, 7u, 1000u}) {
      circulant const tag{.radix = radix};
      auto const n = static_cast<std::size_t>(4 * p);
      auto const s = record(tag, collective::reduce_scatter, p, n);
      INFO("p = " << p << ", radix " << radix);
      CHECK(s.elements_sent() == n - 4);
      CHECK(s.elements_folded() == n - 4);
      CHECK(s.rounds() == (radix >= static_cast<std::size_t>(p) ? 1 : std::ceil(std::log(p) / std::log(radix) - 1e-9)));
      for (machine const& m : machines) {
        auto const scattered = both<collective::reduce_scatter>(tag, m, p, n);
        auto const all = both<collective::all_reduce>(tag, m, p, n);
        CHECK(scattered.recorded == Approx(scattered.formula).epsilon(1e-12));
        CHECK(all.recorded == Approx(all.formula).epsilon(1e-12));
      }
    }
  CHECK(record(circulant{.radix = 8}, collective::all_gather, 256, 256).messages() == 7 + 7 + 3);
  CHECK(record(circulant{.radix = 4}, collective::all_gather, 64, 64).messages() == 9);
}

TEST_CASE("k-nomial trees: rounds of k - 1 messages, and what they cost; k = 2 is the binomial tree, k = p is flat") {
  auto const check = [](std::size_t radix, int p) {
    for (int const root : tested::roots(p, 9))
      for (machine const& m : machines) {
        INFO("radix " << radix << ", p = " << p << ", root = " << root);
        auto const reduced = both<collective::reduce>(knomial_tree{radix}, m, p, 100, root);
        auto const sent = both<collective::broadcast>(knomial_tree{radix}, m, p, 100, root);
        CHECK(reduced.recorded == Approx(reduced.formula).epsilon(1e-12));
        CHECK(sent.recorded == Approx(sent.formula).epsilon(1e-12));
      }
  };
  for (int p = 1; p <= COLLIGO_TEST_MOST_RECORDED_RANKS; ++p) {
    check(static_cast<std::size_t>(p), p);
    check(1000, p);
    check(2, p);
  }
  for (int const p : {9, 27}) check(3, p);
  check(5, 25);
  auto const is_same = [](message const& a, message const& b) { return a.from == b.from && a.to == b.to; };
  for (collective const c : {collective::reduce, collective::broadcast})
    CHECK(std::ranges::equal(record(knomial_tree{2}, c, 13, 4, 5).messages_in_order(),
                             record(binary_tree{}, c, 13, 4, 5).messages_in_order(), is_same));
  CHECK(record(knomial_tree{3}, collective::broadcast, 9, 4).rounds() == 2);
  auto const from_root = record(knomial_tree{4}, collective::broadcast, 33, 4).messages_in_order();
  CHECK(std::ranges::count(from_root, 0, &message::from) == 2 + 2 + 3);   // 3 x 3 x 4, not 4 x 4 x 3
}

TEST_CASE("scans of Hillis and Steele: a round for every digit of p - 1, at most what the formula says") {
  for (std::size_t const radix : {2u, 3u, 4u, 12u, 1000u})
    for (int p = 2; p <= COLLIGO_TEST_MOST_RECORDED_RANKS; ++p) {
      hillis_steele const tag{radix};
      int rounds = 0;
      for (std::size_t known = 1; known < static_cast<std::size_t>(p); known *= radix) ++rounds;
      INFO("radix " << radix << ", p = " << p);
      CHECK(record(tag, collective::scan, p, 3).rounds() == rounds);
      CHECK(record(tag, collective::exclusive_scan, p, 3).rounds() <= rounds);
      for (machine const& m : machines) {
        auto const scanned = both<collective::scan>(tag, m, p, 3);
        auto const before = both<collective::exclusive_scan>(tag, m, p, 3);
        CHECK(scanned.recorded <= scanned.formula * (1 + 1e-12));
        CHECK(before.recorded <= before.formula * (1 + 1e-12));
      }
    }
}

TEST_CASE("halving and doubling after fewer halvings: what it costs, and the bits of recursive doubling") {
  for (int const p : {1, 2, 4, 5, 8, 12, 16, 32, 64})
    for (std::size_t halvings = 0; halvings < 7; ++halvings) {
      halving_doubling const tag{.halvings = halvings};
      INFO("p = " << p << ", " << halvings << " halvings");
      for (machine const& m : machines) {
        auto const prices = both<collective::all_reduce>(tag, m, p, divisible(p));
        CHECK(prices.recorded == Approx(prices.formula).epsilon(1e-12));
      }
      auto const s = record(tag, collective::all_reduce, p, 67);
      CHECK_NOTHROW(s.verify());
      CHECK(association(s) == association(record(halving_doubling{}, collective::all_reduce, p, 67)));
      if (p == floor_power_of_two(p))
        CHECK(association(s) == association(record(recursive_doubling{}, collective::all_reduce, p, 67)));
    }
  CHECK(record(halving_doubling{.halvings = 2}, collective::all_reduce, 64, 64).rounds() == 6 + 2);
}

TEST_CASE("grouped doubling that combines early: at most what its formula says, the same bits on all ranks") {
  grouped_doubling const early{.early = 1};
  for (int p = 1; p <= COLLIGO_TEST_MOST_RECORDED_RANKS; ++p) {
    INFO("p = " << p);
    auto const s = record(early, collective::all_reduce, p, 3);
    CHECK_NOTHROW(s.verify());
    CHECK(s.rounds() == ceil_lg(p) - (3 * floor_power_of_two(p / 3) == p ? 1 : 0));   // threes take one
    CHECK(association(s).same_on_all_ranks());
    for (machine const& m : machines) {
      auto const prices = both<collective::all_reduce>(early, m, p, 3);
      CHECK(prices.recorded <= prices.formula * (1 + 1e-12));
    }
  }
  // 16 vectors, where collecting takes 32; of a group of 25 15, and 2 doublings.
  machine const counts_bytes{0, 1, 0};
  CHECK(both<collective::all_reduce>(early, counts_bytes, 33, 1).recorded == 16 * 8);
  CHECK(both<collective::all_reduce>(early, counts_bytes, 100, 1).recorded == 17 * 8);
  CHECK(association(record(early, collective::all_reduce, 7, 4)).text(3, 2) == "((((0 1) (2 3)) (4 5)) 6)");
}

TEST_CASE("padded bruck: few messages for blocks up to the longest, the rest straight, and what they cost") {
  for (int const p : {2, 5, 16, 33})
    for (std::size_t const longest : {1u, 3u, 4u}) {
      padded_bruck const tag{.radix = 3, .longest = longest};
      std::size_t const n = 3 * static_cast<std::size_t>(p);
      INFO("p = " << p << ", longest " << longest);
      for (machine const& m : machines) {
        auto const prices = both<collective::all_to_all_v>(tag, m, p, n);
        CHECK(prices.recorded == Approx(prices.formula).epsilon(1e-12));
      }
      auto const said = record(tag, collective::all_to_all_v, p, n);
      if (p == 33) CHECK(said.messages() == (longest < 3 ? 32 + 7 : 7));
    }
}

TEST_CASE("direct: one round of short vectors, two for each window of long ones") {
  for (int p = 2; p <= COLLIGO_TEST_MOST_RECORDED_RANKS; ++p) {
    auto const others = static_cast<std::size_t>(p - 1), n = static_cast<std::size_t>(100 * p);
    auto const whole = record(direct{.slices = n}, collective::all_reduce, p, n);
    auto const sliced = record(direct{.slices = 0, .window = 20}, collective::all_reduce, p, n);
    INFO("p = " << p);
    CHECK(whole.rounds() == 1);
    CHECK(whole.messages() == others);
    CHECK(whole.elements_sent() == others * n);
    CHECK(whole.elements_folded() == others * n);
    CHECK(sliced.rounds() == 2 * 5);
    CHECK(sliced.messages() == 2 * 5 * others);
    CHECK(sliced.elements_sent() == 2 * others * 100);
    CHECK(sliced.elements_folded() == others * 100);
    for (machine const& m : {machines[1], machines[6]}) {
      auto const exchanged = both<collective::all_to_all>(direct{}, m, p, n);
      auto const scattered = both<collective::reduce_scatter>(direct{}, m, p, n);
      auto const short_one = both<collective::all_reduce>(direct{}, m, p, 1000);
      CHECK(exchanged.recorded == Approx(exchanged.formula).epsilon(1e-12));
      CHECK(scattered.recorded == Approx(scattered.formula).epsilon(1e-12));
      CHECK(short_one.recorded == Approx(short_one.formula).epsilon(1e-12));
    }
  }
}

TEST_CASE("census: ceil(lg p) rounds for every p, one message a round") {
  for (int p = 2; p <= 8 * COLLIGO_TEST_MOST_RECORDED_RANKS; p += 1 + p / 16) {
    auto const s = record(census{}, collective::all_reduce, p, 3);
    INFO("p = " << p);
    CHECK(s.rounds() == ceil_lg(p));
    CHECK(static_cast<int>(s.messages()) == ceil_lg(p));
  }
}

TEST_CASE("chained halving: the formulas hold where one-way messages cost as much, V and A are as the card says") {
  for (int p = 2; p <= 2 * COLLIGO_TEST_MOST_RECORDED_RANKS; ++p)
    for (machine const& m : {machines[0], machine{4096, 0, 0}, machine{0, 64, 0}, machines[5]}) {
      std::size_t const n = divisible(p);
      auto const all = both<collective::all_reduce>(chained_halving{}, m, p, n);
      auto const scattered = both<collective::reduce_scatter>(chained_halving{}, m, p, n);
      INFO("p = " << p << ", alpha = " << m.alpha << ", beta = " << m.beta << ", gamma = " << m.gamma);
      CHECK(all.recorded == Approx(all.formula).epsilon(1e-12));
      // The last message to an owner may leave while others still combine.
      CHECK(scattered.recorded <= scattered.formula * (1 + 1e-12));
      CHECK(scattered.recorded >= scattered.formula - m.exchange(static_cast<double>(n) / p * sizeof(double)) - 1e-3);
      // Who owns what it is left with sends nothing to itself.
      auto const sorted = both<collective::reduce_scatter>(sorted_halving{}, m, p, n);
      if (p > 1 && chained_ring{p}.segments == p) CHECK(sorted.recorded == Approx(sorted.formula).epsilon(1e-12));
      CHECK(sorted.recorded <= sorted.formula * (1 + 1e-12));
    }
  for (int p = 2; p <= 2 * COLLIGO_TEST_MOST_RECORDED_RANKS; ++p) {
    auto const sorted = record(sorted_halving{}, collective::reduce_scatter, p, divisible(p));
    chained_ring const ring{p};
    INFO("p = " << p);
    CHECK(sorted.rounds() == ceil_lg(p) - ring.thirds + (ring.segments != p));   // thirds: two messages in one
  }
  auto const v = [](int p) { return chained_ring{p}.moved_by_reduce_scatter(chained_ring{p}.segments); };
  CHECK(v(5) == 1.25);
  CHECK(v(7) == 1.25);
  for (int p = 2; p <= 4096; ++p) {
    double const a = chained_ring{p}.moved_by_all_gather(), whole = 1 - 1.0 / p;
    bool const no_idle_rank = chained_ring{p}.segments == p;
    INFO("p = " << p);
    if (no_idle_rank) CHECK((v(p) == Approx(whole) && a == Approx(whole)));
    else CHECK((v(p) < 1.5 && a >= 1 && a <= 1.25 && v(p) + a < 2.63));
  }
}

TEST_CASE("pipelined circulant: N - 1 + ceil(lg p) rounds for N blocks, and what they cost") {
  for (int p = 2; p <= 2 * COLLIGO_TEST_MOST_RECORDED_RANKS; ++p)
    for (int const blocks : {1, 2, 5, 8, 17})
      for (int const root : {0, p / 2}) {
        pipelined_circulant const tag{.block = 24};
        auto const n = static_cast<std::size_t>(3 * blocks);   // of 8 bytes each
        INFO("p = " << p << ", N = " << blocks << ", root = " << root);
        CHECK(record<double>(tag, collective::broadcast, p, n, root).rounds() == blocks - 1 + ceil_lg(p));
        auto const down = both<collective::broadcast>(tag, machines[0], p, n, root);
        auto const up = both<collective::reduce>(tag, machines[0], p, n, root);
        CHECK(down.recorded == Approx(down.formula).epsilon(1e-12));
        CHECK(up.recorded == Approx(up.formula).epsilon(1e-12));
        if (root != 0 || blocks > 5) continue;
        auto const all = both<collective::all_gather>(tag, machines[0], p, n * static_cast<std::size_t>(p));
        CHECK(all.recorded == Approx(all.formula).epsilon(1e-12));
      }
}

TEST_CASE("the circulant graph's schedules meet the conditions that make them right") {
  for (int p = 2; p <= 16 * COLLIGO_TEST_MOST_RECORDED_RANKS; p += 1 + p / 128)
    for (int r = 0; r < p; ++r) {
      circulant_schedule const s(p, r);
      std::vector<int> received(s.received.begin(), s.received.begin() + s.q);
      std::ranges::sort(received);
      int const fresh = received.back();   // the one block of a turn that is received before it is an old one
      std::vector<int> expected;
      for (int block = -s.q; block < 0; ++block)
        if (r == 0 || block != fresh - s.q) expected.push_back(block);
      if (r > 0) expected.push_back(fresh);
      bool sends_what_it_has = true;
      for (int k = 0; k < s.q; ++k) {
        auto const before = std::span(s.received).first(static_cast<std::size_t>(k));
        int const sent = s.sent[static_cast<std::size_t>(k)];
        sends_what_it_has = sends_what_it_has && (r == 0 ? sent == k : sent == fresh - s.q ||
                                                  std::ranges::find(before, sent) != before.end());
      }
      if (received != expected || !sends_what_it_has) FAIL_CHECK("p = " << p << ", rank " << r);
    }
  auto const received = [](int p, int k) {
    std::vector<int> of_ranks;
    for (int r = 0; r < p; ++r) of_ranks.push_back(circulant_schedule(p, r).received[static_cast<std::size_t>(k)]);
    return of_ranks;
  };
  CHECK(received(5, 0) == std::vector{-3, 0, -3, -2, -1});
  CHECK(received(9, 3) == std::vector{-4, -1, -1, -1, -1, 3, 0, 1, 2});
}

TEST_CASE("pipelined chain: p - 2 + b rounds for b blocks") {
  for (int const p : {2, 3, 8, 13})
    for (std::size_t const b : {1u, 2u, 10u})
      for (collective const c :
           {collective::broadcast, collective::reduce, collective::scan, collective::exclusive_scan}) {
        INFO(name_of(c) << ", p = " << p << ", b = " << b);
        CHECK(record(pipelined_chain{.block = 100}, c, p, 100 * b).rounds() == p - 2 + static_cast<int>(b));
      }
}

TEST_CASE("exclusive scan by doubling: the fewest rounds that there can be, and combinations as its author says") {
  for (int p = 3; p <= 8 * COLLIGO_TEST_MOST_RECORDED_RANKS; ++p) {
    auto const s = record(doubling_123{}, collective::exclusive_scan, p, 1);
    int const q = ceil_lg(p);
    INFO("p = " << p);
    CHECK(s.rounds() == q);
    double const with_own = std::ceil(q - std::log2((1 << q) - p + 1) - 1e-12);
    CHECK(static_cast<double>(s.elements_folded()) <= q - 2 + std::max(1.0, with_own));
  }
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
