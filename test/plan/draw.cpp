// SPDX-License-Identifier: BSL-1.0
// Pictures: everything is in them once, and what goes between hosts is counted. Compiled
// without MPI on the include path.
#include <catch2/catch.hpp>

#include <colligo/tools/association.hpp>
#include <colligo/tools/draw.hpp>
#include <colligo/record.hpp>
#include <colligo/plan/price.hpp>
#include <colligo/shape/tree.hpp>
#include <colligo/rules/named_trees.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#undef NDEBUG
#include <cassert>

#include "../well_formed.hpp"

using namespace colligo;

namespace {
std::vector<int> dealt_out(int p, int hosts) {
  std::vector<int> all;
  for (int r = 0; r < p; ++r) all.push_back(r % hosts);
  return all;
}
constexpr char const* red = "#d62728";
}  // namespace

TEST_CASE("figure 3: LAM-MPI's tree of 32 ranks, dealt out to 8 hosts, has 28 of its 31 edges between hosts") {
  struct lam_tree {   // the lowest set bit leads to the parent
    int p;
    int parent(int r) const { return r == 0 ? nobody : r & (r - 1); }
    int most_children() const { return 5; }
    int child(int r, int i) const {
      return (r >> i) % 2 == 0 && (r & ((1 << i) - 1)) == 0 && r + (1 << i) < p ? r + (1 << i) : nobody;
    }
  };
  auto const hosts = dealt_out(32, 8);
  CHECK(between_hosts(lam_tree{32}, hosts) == 28);
  CHECK(between_hosts(record(binary_tree{}, collective::reduce, 32, 1), hosts) == 28);   // the same tree
  auto const picture = draw(lam_tree{32}, hosts);
  CHECK(picture == draw(binomial_tree{32}, hosts));
  CHECK(fault_in_xml(picture) == "");
  CHECK(occurrences(picture, "32 ranks, depth 5 on 8 hosts: 28 of 31 edges between hosts") == 1);
  CHECK(occurrences(picture, "<circle") == 32);
  CHECK(occurrences(picture, red) == 28);
  CHECK(occurrences(picture, "<path") == 31);
  CHECK(occurrences(picture, ">host 7: 7 15 23 31<") == 1);
}

TEST_CASE("no node of a tree lies on another, and the caption fits") {
  for (int const p : {1, 2, 8, 13, 32}) {
    auto const picture = draw(binomial_tree{p, p / 2});
    std::vector<std::string> places;
    for (auto at = picture.find("<circle "); at != picture.npos; at = picture.find("<circle ", at + 1))
      places.push_back(picture.substr(at, picture.find(" r='", at) - at));
    CHECK(places.size() == static_cast<std::size_t>(p));
    std::ranges::sort(places);
    CHECK(std::ranges::adjacent_find(places) == places.end());
  }
}

namespace {
/// Messages that are combined, of a column of three and more rounds whose messages go the same ways once.
std::size_t circles_of(schedule const& s) {
  std::map<int, std::multiset<std::array<int, 3>>> ways;
  for (message const& m : s.messages_in_order()) ways[m.round].insert({m.from, m.to, m.received.folds()});
  std::size_t circles = 0;
  for (auto next = ways.begin(); next != ways.end();) {
    auto const end = std::find_if(next, ways.end(), [&](auto const& way) { return way.second != next->second; });
    auto const combined = static_cast<std::size_t>(
        std::ranges::count_if(next->second, [](auto const& way) { return way[2] != 0; }));
    auto const rounds = static_cast<std::size_t>(std::distance(next, end));
    circles += rounds >= 3 ? combined : rounds * combined;
    next = end;
  }
  return circles;
}
}  // namespace

TEST_CASE("rounds that are alike are one column, and the title names the algorithm") {
  auto const s = record(named("linear_ring"), collective::all_gather, 32, 64);
  auto const picture = draw(s);
  CHECK(fault_in_xml(picture) == "");
  CHECK(occurrences(picture, ">linear_ring: all_gather, p = 32, n = 64: 31 rounds, 992 messages<") == 1);
  CHECK(occurrences(draw(s, {}, "mine"), ">mine: all_gather") == 1);
  CHECK(occurrences(picture, ">rounds 1 to 31 (x 31)<") == 1);
  CHECK(occurrences(picture, ">round 1<") == 0);
  CHECK(occurrences(picture, "<title>rank ") == 32 * 2);   // of each message its line and its arrow
  CHECK(occurrences(picture, "elements sent, and copied") == 1);
  CHECK(occurrences(draw(trees::chain(3), {}, "chain"), ">chain: 3 ranks, depth 2<") == 1);
}

TEST_CASE("a schedule's picture holds every message, and a plus where the receiver combines") {
  for (int const p : {1, 2, 8, 16})
    for (auto const& [name, what] : {std::pair("halving_doubling", collective::all_reduce),
                                     {"ring", collective::all_reduce},
                                     {"binary_tree", collective::broadcast},
                                     {"linear", collective::gather},
                                     {"doubling_123", collective::exclusive_scan},
                                     {"dissemination", collective::barrier}}) {
      INFO(name << ", p = " << p);
      auto const s = record(named(name), what, p, 48);
      std::size_t between = 0;
      auto const hosts = dealt_out(p, 3);
      for (message const& m : s.messages_in_order()) {
        between += hosts[static_cast<std::size_t>(m.from)] != hosts[static_cast<std::size_t>(m.to)];
      }
      auto const plain = draw(s), mapped = draw(s, hosts);
      CHECK(fault_in_xml(plain) == "");
      CHECK(fault_in_xml(mapped) == "");
      // The legend has what there is: a circle if anything is combined, an arrow if anything is copied.
      auto const all = s.messages_in_order();
      bool const combines = std::ranges::any_of(all, [](message const& m) { return m.received.folds(); });
      bool const copies = !std::ranges::all_of(all, [](message const& m) { return m.received.folds(); });
      CHECK(occurrences(plain, "<circle") == circles_of(s) + combines);
      CHECK(occurrences(plain, "elements sent, and combined") == combines);
      CHECK(occurrences(plain, "elements sent, and copied") == copies);
      CHECK(occurrences(plain, ">rank<") == 1);
      CHECK(occurrences(plain, red) == 0);
      char const* const messages = s.total_messages() == 1 ? " message" : " messages";
      CHECK(occurrences(plain, std::to_string(s.total_messages()) + messages + "<") == 1);
      CHECK(occurrences(mapped, messages + (", " + std::to_string(between)) + " of them between " +
                                    std::to_string(std::min(p, 3)) + (p == 1 ? " host<" : " hosts<")) == 1);
      CHECK(between_hosts(s, hosts) == between);
      CHECK((between == 0) == (occurrences(mapped, red) == 0));
    }
}

TEST_CASE("a map of the hosts has one for every rank") {
  CHECK_THROWS_AS(draw(binomial_tree{8}, dealt_out(7, 2)), argument_error);
  CHECK_THROWS_AS(draw(record(ring{}, collective::all_reduce, 8, 8), dealt_out(9, 2)), argument_error);
  CHECK(between_hosts(binomial_tree{8}, {}) == 0);
}

TEST_CASE("what the pages say of schedules") {
#include "schedules.inc"
}
