// SPDX-License-Identifier: BSL-1.0
// What automatic takes: rules, number by number. That these are good ones is for benchmarks/model/bounds to show.
#include <catch2/catch.hpp>

#include <colligo/record.hpp>
#include <colligo/plan/price.hpp>
#include <colligo/rules/choose.hpp>
#include <colligo/rules/uneven_blocks_body.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "../distributions.hpp"

using namespace colligo;

namespace {
std::string_view name_of_choice(collective what, situation const& s) {
  return name_of(choose(what, s));
}
std::string_view choice(collective what, int p, std::size_t bytes, bool commutes = true, bool exact = false,
                        machine const& network = typical) {
  return name_of_choice(what, {.vector = blocks{{0, bytes}, p}, .element_size = 1, .commutes = commutes,
                               .exact = exact, .network = network});
}
std::string_view choice(collective what, std::vector<std::size_t> counts) {
  std::vector<std::size_t> offsets(counts.size() + 1);
  std::inclusive_scan(counts.begin(), counts.end(), offsets.begin() + 1);
  return name_of_choice(what, {.vector = blocks{{0, offsets.back()}, static_cast<int>(counts.size()), offsets.data()},
                               .element_size = 1});
}
using enum collective;
}  // namespace

TEST_CASE("all_reduce: doubling while start-ups count, halvings or the circulant while bytes do, census where exact") {
  for (int const p : {2, 15, 64, 100}) CHECK(choice(all_reduce, p, 1024) == "recursive_doubling");
  for (int const p : {3, 6, 12, 96}) CHECK(choice(all_reduce, p, 1024) == "grouped_doubling");
  for (int const p : {8, 64, 512}) CHECK(choice(all_reduce, p, 512) == "recursive_doubling");
  auto const halvings = [](std::size_t bytes) {
    auto const by = choose(all_reduce, {.vector = blocks{{0, bytes}, 64}, .element_size = 1});
    return by.as<halving_doubling>()->halvings;
  };
  CHECK((0 < halvings(4096) && halvings(4096) < halvings(16384) && halvings(16384) < 6));
  for (int const p : {2, 8, 64, 512}) CHECK(choice(all_reduce, p, 8 << 20) == "halving_doubling");
  for (int const p : {3, 7, 15, 33, 96}) CHECK(choice(all_reduce, p, 1 << 20) == "circulant");
  auto const combines_early = [](int p, std::size_t bytes) {
    auto const by = choose(all_reduce, {.vector = blocks{{0, bytes}, p}, .element_size = 1});
    auto const* const grouped = by.as<grouped_doubling>();
    return grouped != nullptr && grouped->early != 0;
  };
  for (int const p : {33, 66}) CHECK(combines_early(p, 128));
  for (int const p : {5, 7, 17, 64}) CHECK(!combines_early(p, 128));
  CHECK(choice(all_reduce, 7, 8, true, true) == "census");
  CHECK(choice(all_reduce, 8, 8, true, true) == "recursive_doubling");
  CHECK(choice(all_reduce, 7, 1 << 20, true, true) == "circulant");
}

TEST_CASE("where start-ups of messages to several ranks overlap, several go at a time") {
  machine const overlapping{1e-6, 1e-10, 1e-10, 1, 1, 0.1};
  auto const radix = [&](collective what, int p, std::size_t bytes) {
    situation const s{.vector = blocks{{0, bytes}, p}, .element_size = 1, .network = overlapping};
    auto const by = choose(what, s);
    auto const* const found = by.as<circulant>();
    return found ? found->radix : 0;
  };
  for (collective const c : {all_reduce, reduce_scatter, all_gather, all_gatherv})
    for (int const p : {33, 64, 100, 540}) CHECK(radix(c, p, 1 << 18) > 2);
  CHECK(radix(all_reduce, 33, 1 << 24) == 2);
  for (collective const c : {reduce, broadcast})
    for (int const p : {16, 33, 540}) CHECK(choice(c, p, 8, true, false, overlapping) == "knomial_tree");
  for (collective const c : {scan, exclusive_scan})
    for (int const p : {16, 33, 540}) CHECK(choice(c, p, 8, false, false, overlapping) == "hillis_steele");
  CHECK(choice(gather, 16, 8, true, false, overlapping) == "linear");
  CHECK(choice(all_reduce, 8, 8, true, false, overlapping) == "direct");
  CHECK(choice(all_reduce, 8, 8, false, false, overlapping) == "direct");
  CHECK(choice(all_reduce, 64, 1 << 20, false, false, overlapping) == "halving_doubling");
  machine const at_once{1e-6, 1e-10, 1e-10, 1, 1, 0};
  for (collective const c : {all_gather, all_gatherv}) {
    CHECK(choice(c, 33, 33 * 64, true, false, at_once) == "direct");
    CHECK(choice(c, 100, 6400, true, false, at_once) == "circulant");
  }
  for (int const p : {33, 100}) {
    CHECK(choice(scatter, p, 6400, true, false, at_once) == "linear");   // to many, but not from many to one
    CHECK(choice(gather, p, 6400, true, false, at_once) == (p <= 64 ? "linear" : "binary_tree"));
    for (std::size_t const block : {256u, 8192u, 16384u}) {   // a megabyte under way, from 64 ranks on
      auto const exchange = choose(all_to_all, {.vector = blocks{{0, block * static_cast<std::size_t>(p)}, p},
                                                .element_size = 1, .network = at_once});
      CHECK((exchange.as<pairwise>() != nullptr &&
             exchange.as<pairwise>()->window == std::min<std::size_t>(256, (1 << 20) / block)));
    }
  }
}

TEST_CASE("all_reduce with order kept: chained halving on any number of ranks") {
  for (int const p : {3, 6, 33, 100}) CHECK(choice(all_reduce, p, 1 << 18, false) == "chained_halving");
  CHECK(choice(all_reduce, 7, 8, false) == "grouped_doubling");
  CHECK(choice(all_reduce, 8, 8, false) == "recursive_doubling");
  CHECK(choice(all_reduce, 64, 1 << 20, false) == "halving_doubling");
  CHECK(choice(all_reduce, 31, 256 << 20, false) == "direct");
  CHECK(choice(all_reduce, 127, 256 << 20, false) == "chained_halving");   // too many to send to one at a time
}

TEST_CASE("reduce and broadcast: a tree, then blocks on the circulant graph; in order chained halving, then a chain") {
  for (collective const c : {reduce, broadcast}) {
    for (int const p : {2, 6, 64}) CHECK(choice(c, p, 1024) == "binary_tree");
    for (int const p : {6, 64, 100}) CHECK(choice(c, p, 64 << 20) == "pipelined_circulant");
  }
  CHECK(choice(reduce, 64, 32768) == "circulant");
  CHECK(choice(reduce, 2, 1 << 20) == "circulant");
  CHECK(choice(reduce, 100, 8, false) == "binary_tree");
  CHECK(choice(reduce, 100, 1 << 20, false) == "chained_halving");
  CHECK(choice(reduce, 7, 64 << 20, false) == "pipelined_chain");
  auto const blocks_of = [](machine const& network) {
    situation const s{.vector = blocks{{0, 1 << 20}, 9}, .element_size = 1, .network = network};
    return choose(broadcast, s).as<pipelined_circulant>()->block;
  };
  CHECK(blocks_of(typical) == 59120);   // sqrt(2^20 10^4 / 3)
  CHECK(blocks_of({16e-6, typical.beta, typical.gamma}) == 236482);
}

TEST_CASE("the thresholds go with the machine: alpha / beta bytes take as long as a start-up") {
  machine const slow{100 * typical.alpha, typical.beta, typical.gamma};
  for (collective const c : {all_reduce, reduce, broadcast, scan, exclusive_scan})
    for (int const p : {5, 8, 33})
      for (std::size_t const bytes : {std::size_t{1} << 10, std::size_t{1} << 14, std::size_t{1} << 20})
        CHECK(choice(c, p, bytes, true, false, typical.as_in_papers()) == choice(c, p, 100 * bytes, true, false, slow));
}

TEST_CASE("blocks: few start-ups, nothing twice; pipelines and stars only where blocks are uneven") {
  CHECK(choice(all_gather, 8, 100) == "recursive_doubling");
  CHECK(choice(all_gather, 7, 100) == "circulant");
  CHECK(choice(all_gather, 7, 8 << 20) == "ring");
  CHECK(choice(all_gather, 512, 8 << 20) == "recursive_doubling");
  CHECK(choice(all_gatherv, 7, 8 << 20) == "circulant");
  CHECK(choice(all_gatherv, {0, 0, 0, 8 << 20, 0, 0, 0}) == "pipelined_circulant");
  CHECK(choice(all_gatherv, {0, 0, 0, 800, 0, 0, 0}) == "circulant");
  for (collective const c : {gather, gatherv, scatter, scatterv})
    for (std::size_t const bytes : {std::size_t{100}, std::size_t{8} << 20})
      CHECK(choice(c, 8, bytes) == "binary_tree");
  CHECK(choice(gatherv, {0, 0, 0, 8 << 20, 0, 0, 0}) == "linear");
  CHECK(choice(scatterv, {0, 0, 0, 800, 0, 0, 0}) == "linear");   // one message
  CHECK(choice(scatterv, {9, 9, 9, 800, 9, 9, 9}) == "binary_tree");
  CHECK(choice(reduce_scatter, 7, 100) == "circulant");
  CHECK(choice(reduce_scatter, {0, 0, 0, 8 << 20, 0, 0, 0}) == "pipelined_circulant");
  CHECK(choice(reduce_scatter, {0, 0, 0, 800, 0, 0, 0}) == "circulant");
  CHECK(choice(reduce_scatter_block, 8, 100) == "recursive_halving");
  CHECK(choice(reduce_scatter, 7, 100, false) == "sorted_halving");
  CHECK(choice(reduce_scatter, 7, 8 << 20, false) == "direct");
  CHECK(choice(reduce_scatter, 100, 8 << 20, false) == "chained_halving");
}

TEST_CASE("own work counts: no lists and no copies where a rank would take longer for them than it gains") {
  using enum collective;
  auto const on = [](collective c, std::vector<std::size_t> const& counts, bool commutes, own_costs const& own) {
    machine const m{1e-6, 1e-10, 1e-10, 1, 1, 1, own};
    std::vector<std::size_t> offsets(counts.size() + 1);
    std::inclusive_scan(counts.begin(), counts.end(), offsets.begin() + 1);
    return name_of_choice(c, {.vector = blocks{{0, offsets.back()}, static_cast<int>(counts.size()), offsets.data()},
                              .element_size = 1, .commutes = commutes, .network = m});
  };
  own_costs const ours = typical.own;
  auto const decreasing = distributions::linearly_decreasing(512, 512), long_ones = distributions::spike(64, 8 << 20);
  CHECK(on(all_gatherv, decreasing, true, {}) == "pipelined_circulant");
  CHECK(on(all_gatherv, decreasing, true, ours) == "recursive_doubling");
  CHECK(on(all_gatherv, long_ones, true, ours) == "pipelined_ring");   // packs nothing
  CHECK(on(reduce_scatter, std::vector<std::size_t>(1000, 1), false, {}) == "sorted_halving");
  CHECK(on(reduce_scatter, std::vector<std::size_t>(1000, 1), false, ours) == "chained_halving");
}

TEST_CASE("scans: doubling, halvings on many ranks, then the chain") {
  for (collective const c : {scan, exclusive_scan}) {
    for (int const p : {100, 512}) CHECK(choice(c, p, 1 << 18) == "halving_scan");
    CHECK(choice(c, 64, 256 << 20) == "pipelined_chain");
  }
  CHECK(choice(scan, 7, 100) == "recursive_doubling");
  CHECK(choice(scan, 7, 8 << 20) == "pipelined_chain");
  for (int const p : {7, 8, 32, 64, 512}) CHECK(choice(exclusive_scan, p, 100) == "doubling_123");   // fewest rounds
  CHECK(choice(exclusive_scan, 7, 8 << 20) == "pipelined_chain");
  CHECK(choice(barrier, 7, 0) == "dissemination");
}

TEST_CASE("all_gatherv of any counts: 2 % above the cheapest in the mean, nowhere 10 %, own work counted") {
  double logarithms = 0;
  int count = 0;
  for (auto const& [name, distribution] : distributions::all)
    for (int const p : {3, 5, 8, 16, 33})
      for (std::size_t const c : {64u, 8192u, 1u << 20}) {
        auto const counts = distribution(p, c);
        std::vector<std::size_t> offsets(counts.size() + 1);
        std::inclusive_scan(counts.begin(), counts.end(), offsets.begin() + 1);
        blocks const vector{{0, offsets.back()}, p, offsets.data()};
        for (auto const& [alpha, beta] : {std::pair{1e-6, 1e-10}, {30e-6, 8e-10}, {1.5e-6, 2e-11}}) {
          machine const m{alpha, beta, typical.gamma, 1, 1, 1, typical.own};
          auto const price_of = [&](auto const& tag) { return price(record(tag, all_gatherv, p, counts), m, 1); };
          auto const chosen = choose(all_gatherv, {.vector = vector, .element_size = 1, .network = m});
          double const price = price_of(chosen);
          auto const block = static_cast<std::size_t>(std::max(1.0, best_block(vector, 1, m)));
          double const least = std::min({price, price_of(circulant{}), price_of(recursive_doubling{}),
                                         price_of(linear_ring{}), price_of(pipelined_ring{.block = block}),
                                         price_of(pipelined_circulant{})});
          logarithms += std::log(price / least), ++count;
          INFO(name << ", p = " << p << ", " << c << " B, alpha = " << alpha << ": " << name_of(chosen));
          CHECK(price <= 1.1 * least);
        }
      }
  CHECK(std::exp(logarithms / count) < 1.02);
}

TEST_CASE("all_to_all: with others in few messages, or straight") {
  CHECK(choice(all_to_all, 33, 33 * 8) == "bruck");
  CHECK(choice(all_to_all, 33, 33 << 20) == "pairwise");
  CHECK(choice(all_to_all, 3, 24) == "pairwise");
  CHECK(choice(all_to_all_v, 9, 0) == "pairwise");
  auto const longest = [](std::size_t bytes) {
    return name_of_choice(all_to_all_v, {.vector = blocks{{0, 512}, 512}, .element_size = 1,
                                         .exchanged = exchange_lengths::of_all(bytes)});
  };
  for (std::size_t const bytes : {0u, 8u, 64u}) CHECK(longest(bytes) == "padded_bruck");
  CHECK(longest(1 << 14) == "pairwise");
}

// What the ranks of an all_to_all_v agree on, for a matrix of p p counts.
static exchange_lengths agreed_on(int p, std::vector<std::size_t> const& counts) {
  exchange_lengths all{};
  for (int r = 0; r < p; ++r) {
    std::vector<std::size_t> offsets(1, 0);
    auto const add = [&](int s, int d) {
      offsets.push_back(offsets.back() + counts[static_cast<std::size_t>(s * p + d)]);
    };
    for (int to = 0; to < p; ++to) add(r, to);
    for (int from = 0; from < p; ++from) add(from, r);
    auto const [in, out] = vectors_of(all_to_all_v, blocks{{}, p, offsets.data()}, r);
    auto const lengths = detail::lengths_of(in, out, r);
    all = {std::max(all.longest, lengths.longest), std::max(all.usual, lengths.usual),
           std::max(all.longer, lengths.longer), std::max(all.messages, lengths.messages)};
  }
  return all;
}
static chosen_algorithm chosen_for(int p, std::vector<std::size_t> const& counts) {
  std::vector<std::size_t> const offsets(2 * static_cast<std::size_t>(p) + 1);
  return choose(all_to_all_v, {.vector = blocks{{0, 0}, p, offsets.data()}, .element_size = 1,
                               .exchanged = agreed_on(p, counts)});
}

TEST_CASE("all_to_all_v: what its ranks agree on") {
  auto const agreed = agreed_on(21, [] {
    std::vector<std::size_t> counts(21 * 21, 8);
    for (int r = 0; r < 21; ++r) counts[static_cast<std::size_t>(r * 21 + r)] = 1 << 20;   // one's own does not travel
    counts[3 * 21 + 7] = 4096, counts[3 * 21 + 8] = 100, counts[5 * 21 + 1] = 0;
    return counts;
  }());
  CHECK(agreed.longest == 4096);
  CHECK(agreed.usual == 8);   // of 20 blocks 2 are longer
  CHECK(agreed.longer == 2);
  CHECK(agreed.messages == 20);
  std::vector<std::size_t> to_one(16, 0);
  for (std::size_t const from : {1u, 2u, 3u}) to_one[from * 4] = 5;
  CHECK(agreed_on(4, to_one).messages == 3);   // rank 0 receives them
}

TEST_CASE("all_to_all_v: few neighbours get their messages straight, and one long block is not padded for") {
  auto const papers = typical.as_in_papers();
  auto const in_us = [](auto const& by, int p, std::vector<std::size_t> const& counts, machine const& m) {
    return 1e6 * price(record(by, all_to_all_v, p, counts), m, 1);
  };
  for (int const p : {64, 512})
    for (std::size_t const bytes : {16u, 256u, 1024u}) {
      std::vector<std::size_t> counts(static_cast<std::size_t>(p * p));
      for (int r = 0; r < p; ++r)
        for (int const to : {(r + 1) % p, (r + p - 1) % p}) counts[static_cast<std::size_t>(r * p + to)] = bytes;
      CHECK(name_of(chosen_for(p, counts)) == "pairwise");
    }
  std::vector<std::size_t> counts(512 * 512, 8);
  counts[3 * 512 + 7] = 4096;
  CHECK(in_us(chosen_for(512, counts), 512, counts, papers) <= 16);
  // From three numbers a rank does not know how long others wait for each other: seldom a third above the least.
  unsigned random = 1;
  double sum = 0, count = 0;
  for (int const p : {16, 64, 100})
    for (unsigned const empty : {0u, 10u, 30u, 50u, 70u, 80u, 90u, 95u, 98u, 100u})
      for (std::size_t const bytes : {8u, 64u, 512u, 4096u}) {
        counts.assign(static_cast<std::size_t>(p * p), 0);
        for (std::size_t& n : counts) {
          random = random * 1664525u + 1013904223u;
          if ((random >> 16) % 100 >= empty) n = bytes;
        }
        auto const agreed = agreed_on(p, counts);
        double const took = in_us(chosen_for(p, counts), p, counts, typical);
        double least = std::min(took, in_us(pairwise{}, p, counts, typical));
        for (std::size_t const radix : {2u, 4u, 8u})
          for (std::size_t const longest : {agreed.longest, agreed.usual})
            least = std::min(least, in_us(padded_bruck{radix, longest}, p, counts, typical));
        INFO("p = " << p << ", " << empty << " % empty, " << bytes << " B: " << took << " us, at least " << least);
        CHECK(took <= 1.4 * least + 1e-9);
        sum += least == 0 ? 1 : took / least, ++count;
      }
  CHECK(sum / count <= 1.02);
}

TEST_CASE("ranks that share memory: the table; in slices or at once, by ranks and bytes") {
  auto const shared = [](collective what, int p, std::size_t bytes) {
    auto const chosen = choose(what, {.vector = blocks{{0, bytes}, p}, .element_size = 1, .shared = true});
    CHECK(chosen.over == transport::best);
    return name_of(chosen);
  };
  CHECK(shared(collective::all_reduce, 2, 8) == "direct");
  CHECK(shared(collective::all_gather, 2, 2049) == "circulant");
  CHECK(shared(collective::all_reduce, 3, 8) == "direct");
  CHECK(shared(collective::reduce, 2, 16384) == "direct");
  CHECK(shared(collective::reduce, 2, 16385) == "pipelined_chain");
  CHECK(shared(collective::reduce, 8, 4097) == "direct");
  CHECK(shared(collective::scan, 8, 8) == "pipelined_chain");   // they share cores
  CHECK(shared(collective::exclusive_scan, 3, 1 << 20) == "pipelined_chain");
  CHECK(shared(collective::exclusive_scan, 2, 1 << 20) == "recursive_doubling");
  CHECK(shared(collective::gatherv, 8, 8) == "linear");
  CHECK(shared(collective::barrier, 8, 0) == "direct");
}

TEST_CASE("whatever is chosen for a collective has a form for it: over memory, and with stable bits too") {
  for (collective const what : collectives)
    for (int const p : {1, 2, 3, 8})
      for (bool const shared : {false, true})
        for (bool const stable : {false, true}) {
          std::vector<std::size_t> const offsets(2 * static_cast<std::size_t>(p) + 1);
          situation const s{.vector = blocks{{0, 0}, p, what == all_to_all_v ? offsets.data() : nullptr},
                            .element_size = 1, .stable = stable, .shared = shared};
          auto const by = choose(what, s);
          INFO(name_of(what) << " by " << name_of(by) << ", p = " << p << (shared ? ", shared" : ""));
          auto const& all = detail::policies_of<>(what)();
          auto const serves = [&](auto const* one) { return one && one->run && one->name == name_of(by); };
          CHECK(std::ranges::any_of(all, serves));
        }
}

TEST_CASE("more than 8 ranks that share memory and have a core each: few rounds; where they share cores, the table") {
  auto const on_cores = [](collective what, int p, std::size_t bytes, bool commutes = true, bool cores = true) {
    return name_of_choice(what, {.vector = blocks{{0, bytes}, p}, .element_size = 1, .commutes = commutes,
                                 .shared = true, .cores = cores});
  };
  for (int const p : {16, 32, 64, 128}) {
    CHECK(on_cores(all_reduce, p, 8) == "recursive_doubling");
    for (std::size_t const bytes : {std::size_t{8} << 10, std::size_t{1} << 20})
      CHECK(on_cores(all_reduce, p, bytes) == "halving_doubling");
    CHECK(on_cores(all_gather, p, 8u * static_cast<std::size_t>(p)) == "recursive_doubling");
    CHECK(on_cores(reduce_scatter, p, 8u * static_cast<std::size_t>(p)) == "recursive_halving");
    CHECK(on_cores(reduce, p, 8) == "binary_tree");
    CHECK(on_cores(broadcast, p, 8) == "direct");   // one line, read by all
    CHECK(on_cores(broadcast, p, 1 << 20) == "pipelined_circulant");
    CHECK(on_cores(gather, p, 1 << 10) == "linear");
    CHECK(on_cores(barrier, p, 0) == "dissemination");
    CHECK(on_cores(scan, p, 8) == "recursive_doubling");
    CHECK(on_cores(all_to_all, p, static_cast<std::size_t>(p) << 16) == "direct");
  }
  for (int const p : {12, 72, 96, 288}) {
    CHECK(on_cores(all_reduce, p, 8) == "grouped_doubling");
    CHECK(on_cores(all_reduce, p, 1 << 20) == "circulant");
    CHECK(on_cores(all_reduce, p, 1 << 20, false) != "circulant");
    CHECK(on_cores(all_to_all, p, 8u * static_cast<std::size_t>(p)) == (p < 32 ? "direct" : "bruck"));
    CHECK(on_cores(scan, p, 8) == "recursive_doubling");
  }
  hierarchy const caches = hierarchy::of_sizes(6, std::array{3}), alike(8), dealt(10, {{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}});
  auto const on_levels = [](hierarchy const& levels, std::size_t bytes, bool commutes = true) {
    return name_of_choice(all_reduce, {.vector = blocks{{0, bytes}, levels.size()}, .element_size = 1,
                                       .commutes = commutes, .shared = true, .cores = true, .levels = &levels});
  };
  CHECK(on_levels(caches, 8) == "direct_by_level");   // more than 4 that share no cache
  CHECK(on_levels(caches, 1 << 20) == "slices_by_level");
  CHECK(on_levels(alike, 8) == "direct");
  CHECK(on_levels(dealt, 8) == "direct_by_level");
  CHECK(on_levels(dealt, 8, false) == "grouped_doubling");
  for (int const p : {2, 8}) CHECK(on_cores(all_reduce, p, 8) == "direct");
  for (int const p : {2, 16, 128}) CHECK(on_cores(all_reduce, p, 8, true, false) == "direct");
}

TEST_CASE("several hosts: what is cheapest by what messages cost within them and between; as elsewhere without order") {
  auto const situation_over = [](hierarchy const& hosts, std::size_t bytes, bool commutes, machine const& m = typical) {
    return situation{.vector = blocks{{0, bytes}, hosts.size()}, .element_size = 1, .commutes = commutes,
                     .hosts = &hosts, .levels = &hosts, .network = m};
  };
  auto const over = [&](collective what, int p, int per_host, std::size_t bytes, bool commutes = true,
                        bool dealt = false, machine const& m = typical) {
    std::vector<int> list;
    for (int r = 0; r < p; ++r) list.push_back(dealt ? r % (p / per_host) : r / per_host);
    return name_of_choice(what, situation_over(hierarchy::of_hosts(list), bytes, commutes, m));
  };
  machine const two_level{3e-6, 0.8e-9, 1e-10};
  for (machine const& m : {typical, two_level}) {
    CHECK(over(all_reduce, 32, 4, 8, true, false, m) == "hierarchical_direct");
    CHECK(over(all_reduce, 32, 4, 4 << 10, true, true, m) == "hierarchical_direct");
    CHECK(over(all_reduce, 128, 4, 8, true, false, m) == "hierarchical");   // too many for one round
    CHECK(over(all_reduce, 512, 8, 8, true, false, m) == "hierarchical");
    CHECK(over(all_reduce, 512, 8, 1 << 20, true, false, m) == "slices_by_level");
    CHECK(over(reduce, 32, 4, 8, true, false, m) == "leaders_by_level");
    CHECK(over(reduce, 32, 4, 1 << 20, true, false, m) == "pipelines_by_level");
    CHECK(over(reduce, 32, 4, 1 << 20, false, false, m) == "hierarchical");
    for (std::size_t const bytes : {std::size_t{1}, std::size_t{8}})   // shorter than there are slices
      CHECK(over(broadcast, 512, 8, bytes, false, true, m) == "leaders_by_level");
    CHECK(over(broadcast, 512, 8, 1 << 20, false, true, m) == "pipelines_by_level");
    CHECK(over(all_gather, 32, 4, 8 * 32, true, true, m) == "leaders_by_level");
    CHECK(over(all_gather, 512, 8, 512 << 10, true, true, m) == "slices_by_level");
  }
  CHECK(over(all_reduce, 32, 4, 256 << 10) == "slices_by_level");
  CHECK(over(all_reduce, 32, 4, 256 << 10, true, false, two_level) == "slices_by_level");
  for (bool const long_ones : {false, true})   // a leader alone does not fill the link
    CHECK(over(all_reduce, 32, 4, (long_ones ? 128u : 64u) << 10, true, false, {1e-3, 80e-9, 1e-10}) ==
          (long_ones ? "slices_by_level" : "hierarchical_direct"));
  CHECK(over(all_reduce, 32, 4, 2) == "hierarchical_direct");   // no slice of it for each
  CHECK(over(all_reduce, 32, 4, 8, false) == "hierarchical_direct");
  CHECK(over(all_reduce, 32, 4, 8, false, true) == "recursive_doubling");
  CHECK(over(reduce_scatter, 32, 4, 1 << 14, true, true) == "slices_by_level");
  CHECK(over(reduce_scatter, 32, 4, 1 << 14, false, false) == "slices_by_level");
  CHECK(over(reduce_scatter, 32, 4, 1 << 14, false, true) != "slices_by_level");
  CHECK(over(reduce_scatter, 32, 4, 1024) == "leaders_by_level");
  CHECK(over(gather, 32, 4, 1024, false, true) == "leaders_by_level");
  CHECK(over(scatterv, 32, 4, 1024, false, true) == "leaders_by_level");
  CHECK(over(all_to_all, 32, 4, 32 * 8, false, true) == "bundles_by_level");
  CHECK(over(all_to_all, 32, 4, 32 * 4096) == "pairwise");
  hierarchy const hosts_of_8 = hierarchy::of_hosts(std::vector{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(choose(all_to_all, situation_over(hosts_of_8, 16 << 14, true, {3e-6, 0.8e-9, 1e-10, 1, 1, 0.1}))
            .as<pairwise>()->window == 64);
  // Where start-ups overlap nearly wholly, all hosts at once; blocks straight that others would have to pass on.
  machine const overlapping{3e-6, 0.8e-9, 1e-10, 1, 1, 0.005};
  std::vector<int> mixed;
  for (int r = 0; r < 128; ++r) mixed.push_back((37 * r + 11) % 128 / 8);
  hierarchy const hosts_of_mixed = hierarchy::of_hosts(mixed);
  for (collective const what : {reduce, broadcast})
    for (machine const& m : {overlapping, two_level})
      CHECK(choose(what, situation_over(hosts_of_mixed, 8, true, m)).as<leaders_by_level>()->at_once ==
            (m == overlapping));
  CHECK(over(scatter, 128, 8, 128 * 8, true, true, overlapping) == "leaders_by_level");
  CHECK(over(scatter, 128, 8, 128 << 16, true, true, overlapping) == "linear");
  machine const slow{1e-3, 80e-9, 1e-10, 1, 1, 0.05};   // a message of 1 KiB travels longer than the next one starts
  for (collective const c : {gather, scatter}) {
    CHECK(over(c, 32, 4, 32 * 8, true, false, slow) == "leaders_by_level");
    CHECK(over(c, 32, 4, 32 << 10, true, false, slow) == "linear");
  }
  CHECK(over(scan, 32, 4, 8, false) == "scan_by_level");
  CHECK(over(exclusive_scan, 32, 4, 8, false) == "scan_by_level");
  CHECK(over(scan, 32, 4, 8, false, true) == "recursive_doubling");
  for (collective const c : {scan, exclusive_scan}) {
    CHECK(over(c, 128, 8, 8, false, true, overlapping) == "hillis_steele");
    CHECK(over(c, 128, 8, 1024, false, false, overlapping) == "scan_by_level");
  }
  CHECK(choose(barrier, situation_over(hosts_of_mixed, 0, true, overlapping)).as<leaders_by_level>() != nullptr);
  CHECK(over(scan, 32, 4, 1 << 20, false) != "scan_by_level");

  // Whole vectors or slices between hosts: of 8 on networks where start-ups overlap, and where nobody has measured.
  auto const whole_up_to = [&](int of, machine const& m) {
    std::vector<int> list;
    for (int r = 0; r < 16; ++r) list.push_back(r % of);
    hierarchy const hosts = hierarchy::of_hosts(list);
    auto const chosen = choose(all_reduce, situation_over(hosts, 16, true, m));
    auto const* const tag = chosen.as<hierarchical<binary_tree, direct>>();
    return tag ? tag->between.slices : 0;
  };
  // (1 + 6 / 10) alpha / (7 (1 - 2 / 8) beta + 7 (1 - 1 / 8) gamma)
  CHECK(whole_up_to(8, {3e-6, 0.8e-9, 1e-10, 1, 1, 0.1}) == 997);
  CHECK(whole_up_to(8, typical) == 1758);
  CHECK(whole_up_to(8, {1e-6, 1e-10, 1e-10, 1, 1, 0.2}) == 1934);
}

TEST_CASE("sites far away from each other: blocks cross once for each pair of them, short ones in a message") {
  std::vector<int> hosts, sites;
  for (int r = 0; r < 64; ++r) hosts.push_back(r / 8), sites.push_back((r >= 24) + (r >= 32));
  hierarchy const by_host = hierarchy::of_hosts(hosts);
  hierarchy const levels(64, {hosts, sites}, {distance::host, distance::network, distance::network});
  std::array const ranks{24u, 8u, 32u};
  CHECK(levels.joins_hosts());
  CHECK_FALSE(by_host.joins_hosts());
  for (collective const what : {collective::all_gather, collective::all_to_all})
    for (machine const& m : {typical, machine{3e-6, 0.8e-9, 1e-10}, machine{30e-3, 1e-9, 1e-10}})
      for (std::size_t const bytes : {8u, 1024u, 65536u}) {
        std::size_t const n = 64 * bytes;
        auto const by = choose(what, {.vector = blocks{{0, n}, 64}, .element_size = 1, .hosts = &by_host,
                                      .levels = &levels, .network = m});
        auto const said = detail::with_tag(by, [&](auto tag) {
          if constexpr (requires { tag.levels; }) tag.levels = &levels;
          return record(chosen_algorithm(tag), what, 64, n);
        });
        std::array<std::array<std::size_t, 3>, 3> crossed{}, messages{};
        for (message const& each : said.messages_in_order()) {
          auto const from = static_cast<std::size_t>(sites[static_cast<std::size_t>(each.from)]);
          auto const to = static_cast<std::size_t>(sites[static_cast<std::size_t>(each.to)]);
          crossed[from][to] += each.sent.elements.size(), ++messages[from][to];
        }
        INFO(name_of(what) << ", " << bytes << " B by " << detail::name_of(by));
        for (std::size_t a = 0; a < 3; ++a)
          for (std::size_t b = 0; b < 3; ++b) {
            if (a == b) continue;
            CHECK(crossed[a][b] == bytes * ranks[a] * (what == collective::all_to_all ? ranks[b] : 1));
            if (bytes == 8) CHECK(messages[a][b] == 1);
          }
      }
}

TEST_CASE("levels on one host: the cheapest for what lines cost in caches, sockets and between them") {
  hierarchy const epyc = hierarchy::of_sizes(128, std::array{4, 16, 2}),
                  small = hierarchy::of_sizes(16, std::array{4, 4});
  std::vector<int> socket(288), dealt(128);
  for (int r = 0; r < 288; ++r) socket[static_cast<std::size_t>(r)] = r / 72;
  for (int r = 0; r < 128; ++r) dealt[static_cast<std::size_t>(r)] = r % 32;
  hierarchy const grace(288, {socket}, {distance::cache}), odd(128, {dealt}, {distance::cache});
  auto const on = [](hierarchy const& levels, collective what, std::size_t bytes, bool commutes = true) {
    return name_of_choice(what, {.vector = blocks{{0, bytes}, levels.size()}, .element_size = 1,
                                 .commutes = commutes, .shared = true, .cores = true, .levels = &levels});
  };
  for (hierarchy const* const host : {&epyc, &small, &grace}) {
    for (std::size_t const bytes : {8u, 64u, 256u}) CHECK(on(*host, all_reduce, bytes) == "direct_by_level");
    for (int const lg : {10, 16, 20}) CHECK(on(*host, all_reduce, std::size_t{1} << lg) == "slices_by_level");
    CHECK(on(*host, reduce, 8) == "leaders_by_level");
    CHECK(on(*host, barrier, 0) == "direct_by_level");
    CHECK(on(*host, reduce, 16 << 20) == "pipelined_circulant");
  }
  CHECK(on(epyc, broadcast, 16 << 20) == "pipelined_circulant");
  hierarchy const lonely = hierarchy::of_sizes(65, std::array{4, 16, 2});   // a socket, and a rank of the other one
  CHECK(on(lonely, all_reduce, 8) == "direct_by_level");
  CHECK(on(lonely, all_reduce, 1 << 20) == "slices_by_level");   // though it leads none
  CHECK(on(odd, all_reduce, 8) == "direct_by_level");
  CHECK(on(odd, all_reduce, 8, false) == "recursive_doubling");
}

TEST_CASE("prices of chained merges are those of recorded schedules, but for segments that are not looked at") {
  machine const papers = typical.as_in_papers();
  for (auto const& [name, counts_of] : distributions::all)
    for (int p = 2; p <= 200; p += p < 50 ? 1 : 37)
      for (std::size_t const mean : {40u, 4000u}) {
        auto const counts = counts_of(p, mean);
        std::vector<std::size_t> offsets(counts.size() + 1);
        std::inclusive_scan(counts.begin(), counts.end(), offsets.begin() + 1);
        blocks const vector{{0, offsets.back()}, p, offsets.data()};
        bool const is_even = counts_of == &distributions::regular;
        auto const holds = [&, &name = name](double estimate, double seconds) {
          INFO(name << ", p = " << p << ", mean " << mean << ": " << estimate << " for " << seconds);
          CHECK(estimate <= seconds * (1 + 1e-9));
          CHECK(estimate >= seconds * (is_even ? 1 - 1e-9 : 0.78));
        };
        detail::uneven_blocks<> const uneven{vector, 1, papers, papers.gamma};
        holds(uneven.chained(), price(record(chained_halving{}, reduce_scatter, p, counts), papers));
        holds(uneven.sorted({}), price(record(sorted_halving{}, reduce_scatter, p, counts), papers));
      }
}

TEST_CASE("prices of lists are near those of recorded schedules where short data have fewer segments") {
  for (auto const mean : {1000u, 20000u}) {
    int const p = 200;
    auto const counts = distributions::geometric_curve(p, mean);
    std::vector<std::size_t> offsets(counts.size() + 1);
    std::inclusive_scan(counts.begin(), counts.end(), offsets.begin() + 1);
    blocks const vector{{0, offsets.back()}, p, offsets.data()};
    pipelined_circulant const cut{.block = counts[0] / 10};
    double const gathered = price(record(cut, all_gatherv, p, counts), typical);
    double const reduced = price(record(cut, reduce_scatter, p, counts), typical);
    double const byte = typical.beta;
    CHECK(detail::time_of_lists(typical, vector, 1, cut.block, byte, byte, 2) == Approx(gathered).epsilon(0.12));
    CHECK(detail::time_of_lists(typical, vector, 1, cut.block, 2 * byte, 2 * byte, 1) == Approx(reduced).epsilon(0.12));
  }
}
