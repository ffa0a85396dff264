// SPDX-License-Identifier: BSL-1.0
// The irregular all_gather: rounds on the six distributions of the paper (section 3), p = 2..64, several block sizes.
#include <catch2/catch.hpp>

#include <colligo/algorithm/catalogue.hpp>
#include <colligo/plan/price.hpp>

#include <cmath>
#include <numeric>

#include "../distributions.hpp"
#include "../recorded_ranks.hpp"

using namespace colligo;

namespace {

std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

// What section 2 says of these counts and this block size.
struct expectation {
  std::size_t with_something, empty, blocks = 0, equation_1, largest_gap = 0;
  bool bridged = true;   // b_i > z' for all ranks with data, as section 2.3 assumes

  expectation(std::vector<std::size_t> const& counts, std::size_t block) {
    empty = static_cast<std::size_t>(std::ranges::count(counts, 0u));
    with_something = counts.size() - empty;
    if (with_something != 0) largest_gap = ceil_div(empty, with_something);
    std::size_t all = 0, least = counts.size() * 1000000;
    for (auto const m : counts) {
      std::size_t const b = ceil_div(m, block), b_i = std::max<std::size_t>(1, b);
      blocks += b;
      all += b_i;
      least = std::min(least, b_i);
      if (m != 0 && b <= largest_gap) bridged = with_something == 1;
    }
    equation_1 = all - least;
  }
};

}  // namespace

TEST_CASE("pipelined ring: equation (1), and the improved count with zeros of section 2.3") {
  for (auto const& [name, distribution] : distributions::all)
    for (int p = 2; p <= COLLIGO_TEST_MOST_RECORDED_RANKS; p += 1 + p / 12)
      for (std::size_t const block : {200u, 333u, 1000u, 5000u})
        for (std::size_t const even : {0u, 1u}) {
          auto const counts = distribution(p, 1000);
          auto const s = record(pipelined_ring{.block = block, .even = even}, collective::all_gatherv, p, counts);
          expectation const e(counts, block);
          INFO(name << ", p = " << p << ", B = " << block << (even ? ", even blocks" : ""));
          CHECK_NOTHROW(s.verify());
          if (e.empty == 0) CHECK(static_cast<std::size_t>(s.rounds()) == e.equation_1);
          else if (e.bridged) CHECK(static_cast<std::size_t>(s.rounds()) == e.blocks - 1 + e.largest_gap);
          else CHECK(static_cast<std::size_t>(s.rounds()) <= e.equation_1);
        }
}

TEST_CASE("pipelined ring: only actual data is sent, every element once to every other rank") {
  for (auto const& [name, distribution] : distributions::all) {
    auto const counts = distribution(13, 1000);
    auto const s = record(pipelined_ring{.block = 256}, collective::all_gatherv, 13, counts);
    std::size_t sent = 0;
    for (message const& m : s.messages_in_order()) sent += m.sent.elements.size();
    CHECK(sent == 12 * std::reduce(counts.begin(), counts.end()));
  }
}

TEST_CASE("pipelined ring: all zeros, one rank alone, one rank with everything") {
  for (int const p : {1, 2, 7}) {
    CHECK(record(pipelined_ring{}, collective::all_gatherv, p, std::vector<std::size_t>(static_cast<std::size_t>(p)))
              .rounds() == 0);
    std::vector<std::size_t> one(static_cast<std::size_t>(p));
    one[one.size() / 2] = 100;
    CHECK(record(pipelined_ring{.block = 10}, collective::all_gatherv, p, one).rounds() == (p == 1 ? 0 : 10 + p - 2));
  }
}

TEST_CASE("pipelined ring against linear ring, as the paper computes it: 30 ranks, 32 MB from one, B = 1 MB") {
  machine const m{0, 1, 0};   // bytes alone
  std::vector<std::size_t> counts(30);
  counts[0] = 32 << 20;
  double const linear_time = price(record(linear_ring{}, collective::all_gatherv, 30, counts), m);
  double const pipelined_time = price(record(pipelined_ring{.block = 1 << 20}, collective::all_gatherv, 30, counts), m);
  CHECK(linear_time / pipelined_time == Approx(32.0 * 29 / (29 + 31)));
}

TEST_CASE("equation (2): the best block is a little better than half and twice of it") {
  for (auto const& [name, distribution] : distributions::all) {
    int const p = 24;
    auto const counts = distribution(p, 1 << 16);
    std::vector<std::size_t> offsets(counts.size() + 1);
    std::inclusive_scan(counts.begin(), counts.end(), offsets.begin() + 1);
    double const best = best_block(blocks{{0, offsets.back()}, p, offsets.data()}, 1, typical);
    auto const time = [&](double block) {
      return price(record(pipelined_ring{.block = static_cast<std::size_t>(block)}, collective::all_gatherv, p, counts),
                   typical);
    };
    INFO(name << ", B = " << best);
    CHECK(time(best) <= 1.35 * std::min(time(best / 4), time(best * 4)));
  }
}

TEST_CASE("on several hosts each host has one link in and one out, and its last rank has data") {
  int const p = 12;
  std::vector<int> hosts;
  for (int r = 0; r < p; ++r) hosts.push_back(r % 3);   // ranks are dealt out over three hosts
  auto counts = distributions::half_full(p, 100);
  counts[4] = 0;
  auto const s = record(pipelined_ring{.block = 50, .hosts = hosts}, collective::all_gatherv, p, counts);
  CHECK_NOTHROW(s.verify());
  std::vector<std::vector<int>> links(3);
  for (message const& m : s.messages_in_order()) {
    int const from = hosts[static_cast<std::size_t>(m.from)], to = hosts[static_cast<std::size_t>(m.to)];
    if (from == to) continue;
    auto& senders = links[static_cast<std::size_t>(from)];
    if (std::ranges::find(senders, m.from) == senders.end()) senders.push_back(m.from);
  }
  for (auto const& senders : links) {
    REQUIRE(senders.size() == 1);
    CHECK(counts[static_cast<std::size_t>(senders[0])] != 0);
  }
}

TEST_CASE("circulant all_gatherv: ceil(lg p) rounds for any counts") {
  for (auto const& [name, distribution] : distributions::all)
    for (int p = 2; p <= COLLIGO_TEST_MOST_RECORDED_RANKS; ++p) {
      auto const s = record(circulant{}, collective::all_gatherv, p, distribution(p, 1000));
      CHECK(s.rounds() <= ceil_lg(p));
    }
}

TEST_CASE("pipelined circulant: any counts in N - 1 + ceil(lg p) rounds, every element once to every other rank") {
  for (auto const& [name, distribution] : distributions::all)
    for (int p = 2; p <= COLLIGO_TEST_MOST_RECORDED_RANKS; p += 1 + p / 16)
      for (std::size_t const block : {100u, 333u, 5000u}) {
        auto const counts = distribution(p, 1000);
        std::size_t const longest = *std::ranges::max_element(counts), segments = ceil_div(longest, block);
        auto const s = record(pipelined_circulant{.block = block}, collective::all_gatherv, p, counts);
        INFO(name << ", p = " << p << ", B = " << block);
        CHECK_NOTHROW(s.verify());
        CHECK(s.rounds() <= static_cast<int>(segments) - 1 + ceil_lg(p));
        CHECK(static_cast<int>(s.messages()) <= static_cast<int>(segments) - 1 + ceil_lg(p));
        std::size_t sent = 0;
        for (message const& m : s.messages_in_order()) sent += m.sent.elements.size();
        CHECK(sent == static_cast<std::size_t>(p - 1) * std::reduce(counts.begin(), counts.end()));
      }
}

TEST_CASE("pipelined circulant backwards: a reduce_scatter of any counts in as many rounds, every contribution once") {
  for (auto const& [name, distribution] : distributions::all)
    for (int p = 2; p <= COLLIGO_TEST_MOST_RECORDED_RANKS; p += 1 + p / 16)
      for (std::size_t const block : {100u, 333u, 5000u}) {
        auto const counts = distribution(p, 1000);
        std::size_t const longest = *std::ranges::max_element(counts), all = std::reduce(counts.begin(), counts.end());
        auto const s = record(pipelined_circulant{.block = block}, collective::reduce_scatter, p, counts);
        INFO(name << ", p = " << p << ", B = " << block);
        CHECK_NOTHROW(s.verify());
        CHECK(s.rounds() <= static_cast<int>(ceil_div(longest, block)) - 1 + ceil_lg(p));
        std::size_t folded = 0;
        for (int r = 0; r < p; ++r) {
          for (auto const& step : s.steps_of(r))
            for (operand const& o : step) folded += o.combined();
          for (auto const& alone : s.moves_of(r)) folded += alone.what.combined();
        }
        CHECK(folded == static_cast<std::size_t>(p - 1) * all);
      }
}

TEST_CASE("pipelined circulant: what it says of its price is right of one rank's data and nearly so of others'") {
  for (auto const& [name, distribution] : distributions::all)
    for (int const p : {3, 8, 33})
      for (machine const& m : {typical.as_in_papers(), machine{30e-6, 8e-10, 1e-10}}) {
        auto const counts = distribution(p, 1 << 18);
        std::vector<std::size_t> offsets(counts.size() + 1);
        std::inclusive_scan(counts.begin(), counts.end(), offsets.begin() + 1);
        blocks const vector{{0, offsets.back()}, p, offsets.data()};
        detail::circulant_volume const of_all(vector, 1);
        double const segments = of_all.best_segment_count(m.alpha, m.beta);
        std::size_t const block = ceil_div(vector.longest(), static_cast<std::size_t>(segments));
        double const recorded =
            price(record(pipelined_circulant{.block = block}, collective::all_gatherv, p, counts), m);
        INFO(name << ", p = " << p << ", N = " << segments);
        bool const one_rank = distribution == &distributions::broadcast;
        CHECK(recorded == Approx(of_all.time(m.alpha, m.beta, segments)).epsilon(one_rank ? 1e-3 : 0.1));
      }
}

namespace {

// What a rank receives in a round, piece by piece, as the circulant graph has it.
circulant_lists::list one_by_one(blocks const& of_rank, circulant_cut const& cut, int rank, int round) {
  circulant_graph const graph{of_rank.parts};
  int segments = 0;
  for (int r = 0; r < graph.p; ++r)
    if (!of_rank[r].empty()) segments = std::max(segments, cut.of(of_rank[r]).parts);
  int const first = (graph.q - (segments + graph.q - 1) % graph.q) % graph.q, at = first + round, k = at % graph.q;
  circulant_lists::list all;
  for (int r = 0; r < graph.p; ++r) {
    if (r == rank || of_rank[r].empty()) continue;
    blocks const cut_there = cut.of(of_rank[r]);
    int const asked = at - k - first + graph.received_by((rank - r + graph.p) % graph.p)[static_cast<std::size_t>(k)];
    int const number = std::min(asked, segments - 1) - (segments - cut_there.parts);
    if (number < 0) continue;
    if (!all.empty() && all.back().last == cut_there[number].first) all.back().last = cut_there[number].last;
    else all.push_back(cut_there[number]);
  }
  return all;
}

}  // namespace

TEST_CASE("pipelined circulant: lists in stretches are those that one would make block by block") {
  for (auto const& [name, distribution] : distributions::all)
    for (int p = 2; p <= COLLIGO_TEST_MOST_RECORDED_RANKS; p += 1 + p / 16) {
      auto const counts = distribution(p, 1000);
      std::vector<std::size_t> offsets(counts.size() + 1);
      std::inclusive_scan(counts.begin(), counts.end(), offsets.begin() + 1);
      for (blocks const vector : {blocks{{0, offsets.back()}, p, offsets.data()}, blocks{{0, offsets.back()}, p}})
        for (circulant_cut const cut : {circulant_cut{1, 1}, {3, 1}, {7, 300}, {40, 1000}}) {
          INFO(name << ", p = " << p << ", " << cut.segments << " segments of " << cut.least);
          int const rank = p / 3;
          circulant_lists rounds(vector, cut, rank);
          circulant_lists::list sent, received;
          bool same = true;
          for (int i = 0; i < rounds.size(); ++i) {
            rounds.sent(i, sent);
            rounds.received(i, received);
            same = same && sent == one_by_one(vector, cut, rounds.to(i), i) &&
                   received == one_by_one(vector, cut, rank, i);
            CHECK(std::max(sent.size(), received.size()) <= rounds.most_stretches());
          }
          CHECK(same);
        }
    }
}

// Loops of p steps for each block would take minutes here.
TEST_CASE("what a rank works out is bounded: a million ranks, data of few in several pieces") {
  constexpr int p = 1'000'000;
  std::vector<std::size_t> offsets(static_cast<std::size_t>(p) + 1);
  for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] = offsets[i - 1] + (i % 250'000 == 0 ? 40'000 : 2);
  blocks const few{{0, offsets.back()}, p, offsets.data()}, even{{0, offsets.back()}, p};
  circulant_cut const cut{10, 4000};
  auto const stretches = [](blocks const& vector, circulant_cut const& by) {
    return circulant_lists(vector, by, p / 3).most_stretches();
  };
  CHECK(stretches(few, cut) == 2 * 4 + 2);
  CHECK(stretches(few, {1, 1}) == 2);
  CHECK(stretches(even, cut) == 2);
  // A stretch is packed on its way out and unpacked on its way in.
  pipelined_circulant const tag{.block = 4000};
  auto const text = make_policy<collective::all_gatherv, pipelined_circulant, char, std::plus<>>(tag);
  for (blocks const* const vector : {&few, &even}) {
    recorder steps(p / 3, p);
    text(steps, *vector);
    auto const said = std::move(steps).take();
    std::size_t const rounds = said.steps.size();
    CHECK(rounds <= (vector == &few ? 10u : 1u) - 1 + 20);
    CHECK(said.moves.size() <= rounds * 2 * stretches(*vector, cut));
  }
}
