// SPDX-License-Identifier: BSL-1.0
// Trees as values: every one over few ranks, LAM's, those from hosts. Compiled without MPI on the include path.
#include <catch2/catch.hpp>

#include <colligo/plan/recorder.hpp>
#include <colligo/algorithm/configured.hpp>
#include <colligo/topology/host_map.hpp>
#include <colligo/rules/tree_file.hpp>
#include <colligo/rules/named_trees.hpp>

#include <cmath>
#include <random>
#include <sstream>

#include "../recorded_ranks.hpp"
#include "../shape/random_trees.hpp"

using namespace colligo;
using Catch::Matchers::Contains, Catch::Matchers::StartsWith;

namespace {

/// What a schedule of whole vectors leaves at each rank where each begins with its own letter.
std::vector<std::string> letters_after(schedule const& s) {
  std::vector<std::string> at;
  for (int r = 0; r < s.size(); ++r) at.emplace_back(1, static_cast<char>('0' + r));
  for (message const& m : s.messages_in_order()) {
    std::string const &sent = at[static_cast<std::size_t>(m.from)], &own = at[static_cast<std::size_t>(m.to)];
    at[static_cast<std::size_t>(m.to)] = !m.received.folds() ? sent : m.from < m.to ? sent + own : own + sent;
  }
  return at;
}

/// Every collective obeys the laws, combines each rank exactly once, in order exactly where the tree says so, and needs
/// no more messages than it has to.
bool walks_well(tree const& t, int root) {
  auto const p = static_cast<std::size_t>(t.size());
  auto const up = record(configured{t}, collective::reduce, t.size(), 1, root),
             down = record(configured{t}, collective::broadcast, t.size(), 1, root),
             both = record(configured{t}, collective::all_reduce, t.size(), 1);
  up.verify(), down.verify(), both.verify();
  std::string all;
  for (std::size_t r = 0; r < p; ++r) all += static_cast<char>('0' + r);
  auto const combined = letters_after(up)[static_cast<std::size_t>(root)];
  auto sorted = combined;
  std::ranges::sort(sorted);
  return sorted == all && (combined == all) == t.in_order() && letters_after(both) == std::vector(p, combined) &&
         letters_after(down) == std::vector(p, std::string(1, static_cast<char>('0' + root))) &&
         down.total_messages() == p - 1 && up.total_messages() == p - (root == t.root()) &&
         both.total_messages() == 2 * (p - 1);
}

bool reads_back(tree const& t) {
  std::ostringstream text;
  text << t;
  return parse_tree(text.str(), t.size()) == t;
}

/// Edges of the tree that join different hosts.
int between_hosts(tree const& t, std::vector<int> const& hosts) {
  int n = 0;
  for (int r = 0; r < t.size(); ++r)
    n += t.parent(r) != nobody && hosts[static_cast<std::size_t>(r)] != hosts[static_cast<std::size_t>(t.parent(r))];
  return n;
}
template <class Host>
std::vector<int> hosts_by(int p, Host host) {
  std::vector<int> hosts;
  for (int r = 0; r < p; ++r) hosts.push_back(host(r));
  return hosts;
}

}  // namespace

TEST_CASE("of all parent arrays over p = 1..6 ranks those are accepted that are trees, p^(p-1) of them") {
  for (int p = 1; p <= 6; ++p) {
    std::vector<int> parents(static_cast<std::size_t>(p), nobody);
    int accepted = 0, expected = 1;
    for (int i = 1; i < p; ++i) expected *= p;
    for (bool more = true; more;) {
      try {
        tree const t = tree::of_parents(parents);
        accepted += std::ranges::equal(parents, hosts_by(p, [&t](int r) { return t.parent(r); }));
      } catch (argument_error const&) {
      }
      more = false;
      for (int& parent : parents) {
        parent = parent == p - 1 ? nobody : parent + 1;
        if (parent == nobody) continue;
        more = true;
        break;
      }
    }
    CHECK(accepted == expected);
  }
}

TEST_CASE(
    "every tree over p = 1..7 ranks, and random ones to p = 64, reads back, obeys the laws and combines each rank "
    "once, in order where it says so") {
  auto const well = [](tree const& t, int root) { return reads_back(t) && walks_well(t, root); };
  for (int p = 1; p <= std::min(7, COLLIGO_TEST_MOST_RECORDED_RANKS / 3); ++p) {
    int trees = 0, wrong = 0;
    for_each_tree(p, [&](tree const& t) {
      if (p < 6)
        for (int root = 0; root < p; ++root) wrong += !well(t, root);
      else
        wrong += !well(t, trees % p);
      ++trees;
    });
    INFO("p = " << p << ", " << trees << " trees");
    CHECK(wrong == 0);
  }
  std::mt19937 random(7);
  for (int p = 2; p <= 64; ++p)
    for (int i = 0; i < 20; ++i) {
      tree const t = random_tree(p, random);
      INFO(t);
      CHECK(well(t, std::uniform_int_distribution(0, p - 1)(random)));
    }
}

TEST_CASE("another order of the children is another tree, in order or not") {
  CHECK(tree::of_children({{1, 2}, {}, {}}).in_order());
  CHECK_FALSE(tree::of_children({{2, 1}, {}, {}}).in_order());
  CHECK(tree::of_children({{2, 1}, {}, {}}) != trees::flat(3));
  CHECK(walks_well(tree::of_children({{2, 1}, {}, {}}), 1));
  CHECK(reads_back(tree::of_children({{2, 1}, {}, {}})));
}

TEST_CASE("shapes") {
  STATIC_REQUIRE(trees::flat(9).depth() == 1);
  STATIC_REQUIRE(trees::chain(9).depth() == 8);
  STATIC_REQUIRE(trees::binomial(9) == tree(binomial_tree{9}));
  STATIC_REQUIRE(trees::kary(9, 9) == trees::flat(9));
  STATIC_REQUIRE(tree(halving_shape{8}).parent(7) == 3);
  STATIC_REQUIRE(record(configured{trees::chain(5)}, collective::all_reduce, 5, 1).rounds() == 8);
  for (int p = 1; p <= 64; ++p) {
    for (int k = 1; k <= 5; ++k) {
      tree const t = trees::kary(p, k);
      CHECK((t.in_order() && t.most_children() <= k && t.root() == 0));
      if (k > 1) CHECK(t.depth() <= std::ceil(std::log(p) / std::log(k) + 1e-9));
    }
    for (int root = 0; root < p; ++root)
      CHECK((trees::binomial(p, root).in_order() && trees::binomial(p, root).root() == root));
  }
  CHECK_THROWS_WITH(trees::flat(0), Contains("a tree over 0 ranks"));
  CHECK_THROWS_WITH(trees::kary(4, 0), Contains("k is 0"));
  CHECK_THROWS_WITH(trees::binomial(4, 4), StartsWith("colligo: trees::binomial: root 4 is not a rank"));
  CHECK_THROWS_WITH(tree::of_parents(std::vector{nobody, 2}), Contains("rank 2, the parent of 1"));
  CHECK_THROWS_WITH(record(configured{trees::flat(4)}, collective::reduce, 5, 1),
                    Contains("made for 4 ranks, not for 5"));
}

TEST_CASE("LAM-MPI's trees are those of the paper") {
  auto const up = trees::lam_reduce(32), down = trees::lam_broadcast(32);
  CHECK(up == tree(binomial_tree{32}));   // figure 2
  CHECK(up.parent(12) == 8);
  CHECK(std::ranges::equal(up.children(12), std::vector{13, 14}));
  auto const sent = record(configured{up, down}, collective::broadcast, 32, 1).steps_of(0);   // 0 serves 1 first
  CHECK(std::ranges::equal(sent, std::vector{1, 2, 4, 8, 16}, {}, [](auto const& step) { return step[0].peer; }));
  for (int p = 1; p <= 4; ++p)
    CHECK((trees::lam_reduce(p) == trees::flat(p) && trees::lam_broadcast(p).depth() == trees::flat(p).depth()));
  // Figure 3: ranks dealt out over 8 hosts.
  auto const dealt = hosts_by(32, [](int r) { return r % 8; });
  CHECK(between_hosts(up, dealt) == 28);
  CHECK(between_hosts(down, dealt) == 7);
  // Section 6: two clusters of 32 + 32 ranks, of 28 + 32, and the 61st process, which talks to the other cluster alone.
  auto const halves = hosts_by(64, [](int r) { return r / 32; });
  CHECK(between_hosts(trees::lam_reduce(64), halves) == 1);
  CHECK(between_hosts(trees::lam_broadcast(64), halves) == 32);
  auto const uneven = hosts_by(60, [](int r) { return r >= 28; });
  CHECK(between_hosts(trees::lam_reduce(60), uneven) == 2);
  CHECK(trees::lam_reduce(61).parent(60) == 56);
  CHECK(trees::lam_broadcast(61).parent(60) == 28);
}

TEST_CASE("by_host sends as many messages between hosts as there are groups to report") {
  using trees::by_host;
  auto const eight = hosts_by(32, [](int r) { return r / 4; }), dealt = hosts_by(32, [](int r) { return r % 8; }),
             four = hosts_by(32, [](int r) { return r / 8; });
  for (trees::shape const within : {trees::shape(trees::flat), trees::shape(trees::binomial),
                                    trees::shape(trees::chain), trees::shape(trees::kary, 3)})
    for (trees::shape const between :
         {trees::shape(trees::flat), trees::shape(trees::binomial), trees::shape(trees::kary, 2)})
      for (int const root : {0, 5, 31}) {
        for (auto const& hosts : {eight, dealt}) {
          auto const t = by_host(hosts, {.within = within, .between = between, .root = root});
          CHECK(between_hosts(t, hosts) == 7);
          CHECK(t.root() == root);
          CHECK((root != 0 || &hosts != &eight || t.in_order()));
        }
        CHECK(between_hosts(by_host(four, {.within = within, .between = between, .root = root}), four) == 3);
      }
  // The paper's best for 8-way nodes: two groups of four, which report straight to the root;
  // one of them is on its host.
  auto const best = by_host(four, {.within = trees::flat, .groups = 2, .between = trees::flat});
  CHECK(between_hosts(best, four) == 6);
  CHECK(best.depth() == 2);
  CHECK(best.child_count(0) == 3 + 7);
  CHECK(best.child_count(4) == 3);
  CHECK(best.in_order());
  // Two clusters: one message across, whatever is within.
  auto const clusters = hosts_by(32, [](int r) { return r / 16; });
  auto const wan = by_host(dealt, {.clusters = clusters});
  CHECK(between_hosts(wan, clusters) == 1);
  CHECK(between_hosts(by_host(eight, {.clusters = clusters}), eight) == 7);
  CHECK(by_host(eight, {.clusters = clusters}).in_order());
  // Nearest children report first.
  CHECK(wan.child(0, wan.child_count(0) - 1) == 16);
  CHECK(by_host(std::vector(6, 0)) == trees::binomial(6));
  CHECK(by_host(std::vector{7}) == trees::flat(1));
  CHECK(by_host(std::vector{3, 3, 3}, {.groups = 5, .between = trees::chain}) == trees::chain(3));
  CHECK_THROWS_WITH(by_host(std::vector<int>{}), Contains("0 ranks"));
  CHECK_THROWS_WITH(by_host(eight, {.within = {trees::binomial, 3}}),
                    Contains("a shape for 4 ranks gave 4 with root 3; rank 0 must lead"));
  CHECK_THROWS_WITH(by_host(eight, {.groups = 0}), Contains("0 groups"));
  CHECK_THROWS_WITH(by_host(eight, {.root = 32}), Contains("root 32"));
  CHECK_THROWS_WITH(by_host(eight, {.clusters = std::span(four).first(3)}), Contains("clusters of 3 ranks"));
}

TEST_CASE("a host map answers from a hierarchy what it works out without one") {
  std::mt19937 random(11);
  for (int p = 1; p <= 40; ++p) {
    std::vector<int> hosts;
    int const most = 1 + static_cast<int>(random() % 8);
    bool const blocks = p % 3 == 0;
    for (int r = 0; r < p; ++r)
      hosts.push_back(blocks ? 100 - r / most : static_cast<int>(random() % static_cast<unsigned>(most)) - 3);
    hierarchy const known = hierarchy::of_hosts(hosts);
    host_map const slow{hosts, p}, quick{hosts, p, &known};
    REQUIRE(quick.host_count() == slow.host_count());
    CHECK(quick.consecutive() == slow.consecutive());
    CHECK(quick.fewest() == slow.fewest());
    for (int h = 0; h < slow.host_count(); ++h) CHECK(quick.lowest(h) == slow.lowest(h));
    for (int r = 0; r < p; ++r) {
      CHECK(quick.place(r) == slow.place(r));
      CHECK(quick.is_lowest(r) == slow.is_lowest(r));
      CHECK(quick.host_of(r) == slow.host_of(r));
      REQUIRE(quick.ranks_with(r) == slow.ranks_with(r));
      for (int i = 0; i < slow.ranks_with(r); ++i) CHECK(quick.member(r, i) == slow.member(r, i));
    }
  }
}
