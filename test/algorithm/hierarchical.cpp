// SPDX-License-Identifier: BSL-1.0
// What knows of hosts, on many maps of ranks to hosts: words, laws, costs, messages between
// hosts. And trees over threads.
#include <catch2/catch.hpp>

#include <colligo/engine/communicator_state.hpp>

#include <atomic>
#include <random>
#include <span>

#include "../laws.hpp"
#include "../recorded_ranks.hpp"
#include "../shape/random_trees.hpp"
#include "../thorough.hpp"

#ifndef COLLIGO_TEST_MOST_RANKS
#define COLLIGO_TEST_MOST_RANKS 33
#endif

using namespace colligo;
using Catch::Matchers::Contains;

namespace {

template <class Host>
std::vector<int> hosts_by(int p, Host host) {
  std::vector<int> hosts;
  for (int r = 0; r < p; ++r) hosts.push_back(host(r));
  return hosts;
}

/// Equal and unequal hosts, in order, dealt out and shuffled; one rank per host, and one host.
std::vector<std::vector<int>> maps(int p) {
  std::mt19937 random(static_cast<unsigned>(p));
  auto shuffled = hosts_by(p, [](int r) { return r / 4; });
  std::ranges::shuffle(shuffled, random);
  return {hosts_by(p, [](int r) { return r / 2; }),
          hosts_by(p, [](int r) { return 100 - r / 4; }),
          hosts_by(p, [](int r) { return r % 3; }),
          shuffled,
          hosts_by(p, [](int r) { return r; }),
          hosts_by(p, [](int) { return 7; }),
          hosts_by(p, [p](int r) { return r > p / 3; })};
}

template <class F>
void for_each_composition(std::span<int const> hosts, F f) {
  f(hierarchical<>{.hosts = hosts});
  f(hierarchical<halving_tree, halving_doubling>{.hosts = hosts});
  f(hierarchical<rotating_ring, binary_tree>{.hosts = hosts});
  f(hierarchical<pipelined_chain, ring>{.hosts = hosts});
  f(hierarchical<hierarchical<>, multi_leader<>>{.hosts = hosts});
  f(multi_leader<>{.hosts = hosts});
  f(multi_leader<circulant, recursive_doubling>{.hosts = hosts});
  f(multi_leader<pipelined_circulant, binary_blocks>{.hosts = hosts});   // has room within the vector alone
  f(multi_leader<ring, binary_blocks>{.hosts = hosts});
  f(multi_leader<recursive_halving, hierarchical<>>{.hosts = hosts});
}

template <collective C, class Tag>
bool keeps_words_in_order(Tag const& tag, int p) {
  return keeps_order_over(make_policy<C, Tag, std::string, laws::concatenation>(tag), p);
}

/// Words with a functor that vouches for itself, in order where the policy says so; without one it is refused
/// elsewhere, on all ranks.
template <class Tag>
void words(thread_communicator& comm, Tag const& tag, std::size_t n) {
  int const p = comm.size(), me = comm.rank();
  auto const in = laws::words_of(me, n);
  auto const any_order = as_commutative(laws::concatenation{});
  std::vector<std::string> out(n);
  bool const in_order = keeps_words_in_order<collective::all_reduce>(tag, p);
  colligo::all_reduce(comm, in, out, any_order, tag);
  laws::expect_words(out, p, in_order, "all_reduce by " + std::string(Tag::name));
  if constexpr (keeps_order<policy_t<collective::all_reduce, Tag, std::string, laws::concatenation>>()) {
    std::vector<std::string> strict(n, "untouched");
    try {
      colligo::all_reduce(comm, in, strict, laws::concatenation{}, tag);
      laws::expect(in_order && strict == out, "all_reduce that keeps order", p, n);
    } catch (algorithm_error const&) {
      laws::expect(!in_order && strict == std::vector<std::string>(n, "untouched"), "refused all_reduce", p, n);
    }
  }
  for (int const root : tested::roots(p, 6)) {
    if constexpr (offers<Tag, collective::reduce, std::string, laws::concatenation>) {
      std::vector<std::string> at_root(me == root ? n : 0);
      colligo::reduce(comm, in, at_root, any_order, root, tag);
      laws::expect_words(at_root, p, keeps_words_in_order<collective::reduce>(tag, p),
                         "reduce by " + std::string(Tag::name));
    }
    if constexpr (offers<Tag, collective::broadcast, std::string, laws::concatenation>) {
      auto both = me == root ? in : std::vector<std::string>(n);
      colligo::broadcast(comm, both, root, tag);
      laws::expect(both == laws::words_of(root, n), "broadcast by " + std::string(Tag::name), p, n);
    }
  }
}

/// Messages of the schedule that join different hosts.
int between_hosts(schedule const& s, std::vector<int> const& hosts) {
  return static_cast<int>(std::ranges::count_if(s.messages_in_order(), [&](message const& m) {
    return hosts[static_cast<std::size_t>(m.from)] != hosts[static_cast<std::size_t>(m.to)];
  }));
}

}  // namespace

TEST_CASE("compositions over hosts combine each rank's word exactly once, in order where they say so") {
  for (int p = 1; p <= std::min(tested::at_most(6, 13), COLLIGO_TEST_MOST_RANKS); p += p < 7 ? 1 : 6)
    for (auto const& hosts : maps(p))
      REQUIRE_NOTHROW(run_threads(p, [&](thread_communicator& comm) {
        for (std::size_t const n : {0u, 1u, 5u, 64u})
          for_each_composition(hosts, [&](auto const& tag) { words(comm, tag, n); });
      }));
}

TEST_CASE("compositions over hosts obey the laws") {
  for (int p = 1; p <= std::min(33, 2 * COLLIGO_TEST_MOST_RECORDED_RANKS); p += p < 10 ? 1 : 5)
    for (auto const& hosts : maps(p))
      for_each_composition(hosts, [&]<class Tag>(Tag const& tag) {
        for (std::size_t const n : {0u, 1u, 5u, 64u})
          for (collective const c : {collective::all_reduce, collective::reduce, collective::broadcast})
            detail::for_collective(c, [&]<collective C>() {
              if constexpr (offers<Tag, C, int, int>)
                for (int const root : has_root(C) ? tested::roots(p, 4) : std::vector{0}) {
                  INFO(name_of(C) << ' ' << Tag::name << ", p = " << p << ", n = " << n << ", root = " << root);
                  CHECK_NOTHROW(record(tag, C, p, n, root).verify());
                }
            });
      });
}

TEST_CASE("order is kept where hosts hold consecutive ranks, and only there") {
  auto const blocked = hosts_by(8, [](int r) { return r / 4; }), dealt = hosts_by(8, [](int r) { return r % 2; });
  CHECK(keeps_words_in_order<collective::all_reduce>(hierarchical<>{.hosts = blocked}, 8));
  CHECK_FALSE(keeps_words_in_order<collective::all_reduce>(hierarchical<>{.hosts = dealt}, 8));
  CHECK(keeps_words_in_order<collective::all_reduce>(multi_leader<>{.hosts = blocked}, 8));
  CHECK_FALSE(keeps_words_in_order<collective::all_reduce>(multi_leader<>{.hosts = dealt}, 8));
  CHECK_FALSE(keeps_words_in_order<collective::all_reduce>(hierarchical<rotating_ring>{.hosts = blocked}, 8));
}

TEST_CASE("messages between hosts") {
  auto const hosts = hosts_by(32, [](int r) { return r / 4; });
  auto const all = [&](auto const& tag, std::size_t n) {
    return between_hosts(record(tag, collective::all_reduce, 32, n), hosts);
  };
  CHECK(all(hierarchical<>{.hosts = hosts}, 1) == 8 * 3);       // recursive doubling between 8 leaders
  CHECK(all(multi_leader<>{.hosts = hosts}, 64) == 4 * 8 * 6);   // 2 lg 8 steps of 8 ranks for each of 4 slices
  CHECK(all(configured{trees::by_host(hosts)}, 1) == 2 * 7);
  // Blocks of ranks: the other way round than figure 3.
  CHECK(all(configured{trees::lam_reduce(32), trees::lam_broadcast(32)}, 1) == 7 + 28);
  CHECK(all(recursive_doubling{}, 1) == 32 * 3);
  for (int const root : {0, 3, 17}) {
    CHECK(between_hosts(record(hierarchical<>{.hosts = hosts}, collective::reduce, 32, 1, root), hosts) == 7);
    CHECK(between_hosts(record(hierarchical<>{.hosts = hosts}, collective::broadcast, 32, 1, root), hosts) == 7);
  }
}

TEST_CASE("where hosts are equal the cost is the sum of the parts' and equals the recorded schedule") {
  machine const m{4096, 64, 16, 0.5, 0.75};
  for (int const here : {1, 2, 4, 8})
    for (int const h : {1, 2, 3, 4, 7, 8})
      for (bool const dealt : {false, true}) {
        int const p = here * h;
        auto const hosts = hosts_by(p, [&](int r) { return dealt ? r % h : r / here; });
        auto const check = [&](auto const& tag, collective c, std::size_t n) {
          detail::for_collective(c, [&]<collective C>() {
            using tag_type = std::remove_cvref_t<decltype(tag)>;
            if constexpr (offers<tag_type, C, double, std::plus<>>) {
              INFO(name_of(C) << ' ' << tag_type::name << ", " << h << " hosts of " << here);
              double const formula = make_policy<C, tag_type, double, std::plus<>>(tag).cost(m, p, n);
              CHECK(price(record<double>(tag, C, p, n, 0), m, sizeof(double)) == Approx(formula).epsilon(1e-12));
            }
          });
        };
        for (collective const c : {collective::all_reduce, collective::reduce, collective::broadcast})
          check(hierarchical<>{.hosts = hosts}, c, 7);
        auto const n = static_cast<std::size_t>(2 * p * floor_power_of_two(h));
        check(multi_leader<>{.hosts = hosts}, collective::all_reduce, n);
      }
}

TEST_CASE("maps and trees that are made for other ranks are refused on all of them") {
  std::vector<int> const hosts{0, 0, 1};
  for (int const p : {2, 4}) {
    std::atomic<int> refused = 0;
    run_threads(p, [&](thread_communicator& comm) {
      auto const refuses = [&](auto const& tag) {
        try {
          colligo::all_reduce(comm, 1, std::plus<>{}, tag);
        } catch (argument_error const& e) {
          refused += std::string(e.what()).find("is made for 3 ranks, the communicator has " + std::to_string(p)) !=
                     std::string::npos;
        }
      };
      refuses(hierarchical<>{.hosts = hosts});
      refuses(multi_leader<>{.hosts = hosts});
      refuses(configured{trees::flat(3)});
      refuses(configured{trees::flat(p), trees::flat(3)});
    });
    CHECK(refused == 4 * p);
  }
  CHECK_THROWS_WITH(record(hierarchical<configured>{.within = {trees::flat(3)}}, collective::all_reduce, 4, 1),
                    Contains("is made for 3 ranks, but has 4 to run on"));
}

TEST_CASE("every tree over few ranks, and random ones, over threads") {
  for (int p = 1; p <= tested::at_most(4, 5); ++p) {
    std::vector<tree> all;
    for_each_tree(p, [&](tree const& t) { all.push_back(t); });
    REQUIRE_NOTHROW(run_threads(p, [&](thread_communicator& comm) {
      for (tree const& t : all) words(comm, configured{t}, 2);
    }));
  }
  std::mt19937 random(4);
  for (int p = 6; p <= COLLIGO_TEST_MOST_RANKS; p += tested::at_most(8, 3)) {
    tree const up = random_tree(p, random), down = random_tree(p, random);
    REQUIRE_NOTHROW(run_threads(p, [&](thread_communicator& comm) {
      words(comm, configured{up, down}, 7);
      words(comm, configured{up, down, true}, 7);   // in order of arrival, if that were seen here
      words(comm, configured{}, 7);
    }));
  }
}

TEST_CASE("what is left open is filled in with the hosts that the communicator knows") {
  for (int const p : {2, 5, 8})
    REQUIRE_NOTHROW(run_threads(p, [p](thread_communicator& comm) {
      auto& state = detail::state_at(state_of<thread_communicator>::open(comm));
      state.hosts = hosts_by(p, [](int r) { return r % 2; });   // as if they were dealt out over two hosts
      auto const combined = [&](auto const& tag) {
        return colligo::all_reduce(comm, laws::word(comm.rank(), 0), as_commutative(laws::concatenation{}), tag);
      };
      laws::expect(combined(configured{}) == combined(configured{trees::by_host(state.hosts.list())}),
                   "configured by the hosts", p, 1);
      laws::expect(combined(named("configured")) == combined(configured{}), "configured by name", p, 1);
      laws::expect(combined(hierarchical<>{}) == combined(hierarchical<>{.hosts = state.hosts.kept()}),
                   "hierarchical", p, 1);
      laws::expect(combined(named("multi_leader")) == combined(multi_leader<>{.hosts = state.hosts.kept()}),
                   "multi_leader by name", p, 1);
      laws::expect((combined(configured{}) == combined(binary_tree{})) == (p == 2), "an order of its own", p, 1);
      laws::expect(trees::by_host(comm) == trees::by_host(state.hosts.list()), "by_host of a communicator", p, 1);
      words(comm, configured{trees::by_host(comm)}, 3);
      words(comm, hierarchical<>{.hosts = state.hosts.kept()}, 3);
    }));
}
