// SPDX-License-Identifier: BSL-1.0
// sparse_all_to_all over threads: random digraphs against an oracle, each way; refused arguments; requests beside other
// calls; prices.
#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <thread>

#include <colligo/all_reduce.hpp>
#include <colligo/all_to_all.hpp>
#include <colligo/barrier.hpp>
#include <colligo/exchange/sparse_prices.hpp>
#include <colligo/record.hpp>

#include "../thorough.hpp"
#include "digraphs.hpp"

using namespace colligo;
using Catch::Matchers::Contains;

#if defined(COLLIGO_TEST_MOST_RANKS)
static std::vector<int> const numbers_of_ranks{1, 2, 3, 4, 5};
#else
static std::vector<int> const numbers_of_ranks{1, 2, 3, 4, 5, 6, 7, 8, 9, 33, 64};   // the last in thorough runs
#endif

TEST_CASE("sparse_all_to_all: each way gives what the digraph says") {
  for (int const p : numbers_of_ranks) {
    if (p > tested::at_most(33, 64)) break;
    std::atomic<int> wrong = 0;
    run_threads(p, [&](auto const& comm) {
      for (char const* const way : digraphs::ways)
        for (digraphs::kind const what : digraphs::kinds)
          for (unsigned seed = 1; seed <= (p > 9 ? 1u : static_cast<unsigned>(tested::at_most(2, 4))); ++seed) {
            wrong += !digraphs::is_right_by<double>(comm, way, what, seed);
            if (p <= 9) wrong += !digraphs::is_right_by<std::string>(comm, way, what, seed);
          }
    });
    INFO("p = " << p);
    CHECK(wrong == 0);
  }
}

/// As if a rank were on that host. Before the first call.
static void pretend(thread_communicator const& comm, std::vector<int> const& hosts) {
  detail::state_at(state_of<thread_communicator>::open(comm)).hosts = detail::run_list(hosts);
}

TEST_CASE("sparse_all_to_all: by host, on hosts of equal and unequal numbers of ranks, in any order") {
  auto const lowest = [](int p, auto host_of) {
    std::vector<int> hosts;
    for (int r = 0; r < p; ++r) {
      int first = 0;
      while (host_of(first) != host_of(r)) ++first;
      hosts.push_back(first);
    }
    return hosts;
  };
  for (int const p : numbers_of_ranks)
    for (auto const& hosts : {lowest(p, [](int r) { return r / 2; }), lowest(p, [](int r) { return r % 3; }),
                              lowest(p, [](int r) { return r * r % 5; }), lowest(p, [](int r) { return r / 7; }),
                              lowest(p, [](int r) { return r; })}) {
      if (p > tested::at_most(33, 64) || std::ranges::count(hosts, 0) == p) continue;   // or all are on one host
      std::atomic<int> wrong = 0;
      run_threads(p, [&](auto const& comm) {
        pretend(comm, hosts);
        for (digraphs::kind const what : digraphs::kinds)
          for (unsigned seed = 1; seed <= (p > 9 ? 1u : static_cast<unsigned>(tested::at_most(1, 3))); ++seed)
            wrong += !digraphs::is_right_by<double>(comm, "by_host", what, seed);
        wrong += !digraphs::is_right_by<std::string>(comm, "by_host", digraphs::kind::few, 1);   // by counters
      });
      INFO("p = " << p << ", the last rank is on host " << hosts.back());
      CHECK(wrong == 0);
    }
}

// Longer ones than a message of MPI's come in parts, in order.
class letters_in_parts final : public detail::letters {
 public:
  explicit letters_in_parts(detail::owner<detail::letters> whole) : whole_(std::move(whole)) {}
  void prepare(std::span<detail::outgoing_message const> out) override { all_ = {out.begin(), out.end()}; }
  std::size_t bytes(std::size_t i) const override { return all_[i].elements; }
  void enter(std::uint32_t number, detail::sparse_way way) override { whole_->enter(number, way); }
  detail::shared_host* host() override { return whole_->host(); }
  void send(std::size_t i, bool acknowledged) override {
    for (std::size_t at = 0; at < all_[i].elements; at += 1000) {
      std::size_t const n = std::min<std::size_t>(1000, all_[i].elements - at);
      detail::outgoing_message const part{all_[i].to, all_[i].data + at, n};
      whole_->prepare({&part, 1});
      whole_->send(0, acknowledged);
    }
  }
  void refuse(std::string const& why) override { whole_->refuse(why); }
  bool take(detail::arrivals& in) override { return whole_->take(in); }
  bool are_sent(std::size_t most) override { return whole_->are_sent(most); }
  bool abandon() noexcept override { return whole_->abandon(); }

 private:
  detail::owner<detail::letters> whole_;
  std::vector<detail::outgoing_message> all_;
};

TEST_CASE("sparse_all_to_all: by host, letters in parts") {
  std::atomic<int> wrong = 0;
  run_threads(5, [&](auto const& comm) {
    pretend(comm, {0, 1, 0, 1, 4});
    auto& at = state_of<thread_communicator>::open(comm);
    for (unsigned seed = 1; seed <= 5; ++seed) {
      digraphs::own_messages<long> own;
      auto const all = digraphs::draw<long>(digraphs::kind::all_to_all, comm.size(), comm.rank(), seed, own);
      detail::exchange_of<long> in(at);
      in.take(own);
      detail::sparse_call const call{.at = at, .of = detail::element_of<long, detail::no_functor>, .wire = nullptr,
                                     .out = in.out(), .refused = nullptr};
      request(detail::prepare_exchange(call, detail::sparse_way::by_host, in,
                                       [](detail::endpoint& to, detail::element const& of, void const* wire) {
                                         return detail::owner<detail::letters>(new letters_in_parts(
                                             state_of<thread_communicator>::open_letters(to, of, wire)));
                                       }))
          .wait();
      wrong += !digraphs::is_right(in.in, all, comm.rank());
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("sparse_all_to_all: ranks that come at any time") {
  std::atomic<int> wrong = 0;
  run_threads(4, [&](auto const& comm) {
    std::mt19937 random(static_cast<unsigned>(comm.rank()));
    for (int run = 0; run < tested::at_most(30, 100); ++run)
      for (char const* const way : digraphs::ways) {
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
        wrong += !digraphs::is_right_by<int>(comm, way, digraphs::kind::few, 7);
      }
  });
  CHECK(wrong == 0);
}

TEST_CASE("isparse_all_to_all: several under way beside other calls, waited for in any order") {
  std::atomic<int> wrong = 0;
  run_threads(5, [&](auto const& comm) {
    for (unsigned seed = 1; seed <= 20; ++seed)
      for (char const* const way : digraphs::ways) {
        std::vector<digraphs::own_messages<long>> own(3);
        std::vector<digraphs::messages<long>> all;
        std::vector<sparse_request<long>> pending;
        for (unsigned i = 0; i < 3; ++i) {
          all.push_back(digraphs::draw<long>(digraphs::kind::few, comm.size(), comm.rank(), 10 * seed + i, own[i]));
          pending.push_back(isparse_all_to_all(comm, own[i], named(way)));
          wrong += all_reduce(comm, 1, std::plus<>{}) != comm.size();
        }
        if (comm.rank() % 2 == 0) barrier(comm);   // others wait for it in wait()
        for (unsigned i : {2u, 0u, 1u}) wrong += !digraphs::is_right(pending[i].wait(), all[i], comm.rank());
        if (comm.rank() % 2 != 0) barrier(comm);
      }
  });
  CHECK(wrong == 0);
}

TEST_CASE("sparse_all_to_all: arguments that one rank gives wrong are an error with its reason on all ranks") {
  std::atomic<int> refused = 0, told = 0, later = 0;
  auto const expect = [&](auto const& comm, auto const& call, std::string const& reason) {
    try {
      call();
    } catch (argument_error const& e) {
      std::string const all = "colligo: sparse_all_to_all on rank 1 of 3: " + reason;
      refused += comm.rank() == 1 && e.what() == all;
    } catch (failed_elsewhere const& e) {
      std::string const all = "rank 1 has refused the call: " + reason;
      told += comm.rank() != 1 && std::string(e.what()).ends_with(all);
    }
    later += digraphs::is_right_by<int>(comm, "automatic", digraphs::kind::few, 3);
  };
  run_threads(3, [&](auto const& comm) {
    bool const bad = comm.rank() == 1;
    pretend(comm, {0, 1, 0});
    for (char const* const way : digraphs::ways)
      for (bool const request : {false, true}) {
        std::vector<std::pair<int, std::vector<int>>> const out{{bad ? 3 : 2, {1, 2}}}, below{{bad ? -1 : 0, {}}};
        std::vector<int> const targets{0, 2}, counts{bad ? -1 : 1, 1}, short_counts{1, bad ? 0 : 1}, joined{1, 2};
        auto const by = named(way);
        auto const both = [&](auto const&... sent) {
          return [&] {
            if (request) isparse_all_to_all(comm, sent..., by).wait();
            else sparse_all_to_all(comm, sent..., by);
          };
        };
        expect(comm, both(out), "message 0 is for rank 3, ranks are 0 to 2");
        expect(comm, both(below), "message 0 is for rank -1, ranks are 0 to 2");
        expect(comm, both(targets, counts, joined), "a count is negative: -1");
        expect(comm, both(targets, short_counts, joined), "the range has 2 elements, the counts are 1 together");
      }
  });
  int const calls = static_cast<int>(digraphs::ways.size()) * 2 * 4;
  CHECK(refused == calls);
  CHECK(told == 2 * calls);
  CHECK(later == 3 * calls);
}

TEST_CASE("sparse_all_to_all: a rank has left before the call") {
  for (std::string const way : {"counters", "consensus", "dense", "by_host"})
    CHECK_THROWS_WITH(run_threads(3, [&](auto const& comm) {
      digraphs::own_messages<int> const to_next{{(comm.rank() + 1) % 3, {1}}};
      if (comm.rank() != 1) sparse_all_to_all(comm, to_next, named(way));
    }), Contains("rank 1 has left"));
}

TEST_CASE("sparse_all_to_all: a way that nobody knows") {
  auto const unknown = [] {
    run_threads(2, [](auto const& comm) {
      sparse_all_to_all(comm, std::vector<std::pair<int, std::vector<int>>>{}, named("nbx"));
    });
  };
  CHECK_THROWS_AS(unknown(), algorithm_error);
  CHECK_THROWS_WITH(unknown(), Contains("no way is named nbx; the known ones are counters, consensus, dense, by_host"));
}

TEST_CASE("sparse_all_to_all: ranks that name different ways are told, and the next call is right") {
  std::atomic<int> told = 0, heard = 0, wrong = 0;
  for (std::string_view const first : detail::sparse_ways)
    for (std::string_view const others : detail::sparse_ways)
      for (int k = 0; k < 4 && first != others; ++k)
        run_threads(3, [&](auto const& comm) {
          named const way(std::string(comm.rank() == 0 ? first : others));
          digraphs::own_messages<int> const to_next{{(comm.rank() + 1) % 3, {comm.rank()}}}, none;
          auto const& out = k < 2 ? to_next : none;
          try {
            if (k % 2 == 0) sparse_all_to_all(comm, out, way);
            else isparse_all_to_all(comm, out, way).wait();
          } catch (mismatch_error const&) {
            ++told;
          } catch (failed_elsewhere const& e) {
            heard += std::string_view(e.what()).find("different") != std::string_view::npos;
          }
          auto const in = sparse_all_to_all(comm, to_next, counters{});
          wrong += in.sources != std::vector{(comm.rank() + 2) % 3} || in.data != in.sources;
        });
  CHECK(told >= 4 * 12);
  CHECK(told + heard == 3 * 4 * 12);
  CHECK(wrong == 0);
}

TEST_CASE("sparse_all_to_all: who has this rank as a target, as often as it says") {
  run_threads(4, [](auto const& comm) {
    std::vector<int> const targets{0, 0, (comm.rank() + 1) % 4};
    auto const sources = detail::sources_of(comm, targets);
    std::vector<int> const expected =
        comm.rank() == 0 ? std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3, 3} : std::vector<int>{comm.rank() - 1};
    if (sources != expected) throw error("other sources");
  });
}

// Travels as bytes, and has no room to arrive in.
struct throws_when_made {
  static inline thread_local bool armed = false;
  int value = 0;

  throws_when_made() {
    if (armed) throw std::bad_alloc();
  }
};

TEST_CASE("sparse_all_to_all: the next call takes the way for what the ranks sent, all of them the same") {
  std::atomic<int> at_first = 0, then = 0, later = 0;
  run_threads(33, [&](auto const& comm) {
    auto& at = state_of<thread_communicator>::open(comm);
    detail::sparse_call const call{.at = at, .of = detail::element_of<int, detail::no_functor>, .wire = nullptr,
                                   .out = {}, .refused = nullptr};
    auto const is_dense = [&] { return detail::way_of(call, "automatic", true) == detail::sparse_way::dense; };
    at_first += is_dense();
    digraphs::own_messages<int> to_all, few{{0, {1}}};
    for (int r = 0; r < comm.size(); ++r) to_all.push_back({r, {1}});
    sparse_all_to_all(comm, comm.rank() == 5 ? to_all : few);   // the most messages of any rank
    then += is_dense();
    isparse_all_to_all(comm, few).wait();   // may be complete at any time, and does not count
    then += is_dense();
    sparse_all_to_all(comm, few);
    later += is_dense();
    // One that fails is as if none had been.
    sparse_all_to_all(comm, to_all);
    std::vector<std::pair<int, std::vector<throws_when_made>>> made{{0, std::vector<throws_when_made>(1)}};
    throws_when_made::armed = comm.rank() == 0;
    try {
      sparse_all_to_all(comm, made, dense{});
      ++later;
    } catch (std::exception const&) {
    }
    throws_when_made::armed = false;
    later += is_dense();
  });
  CHECK(at_first == 0);
  CHECK(then == 2 * 33);
  CHECK(later == 0);
}

TEST_CASE("sparse_all_to_all: what ranks tell each other, in 8 bytes") {
  using detail::exchange_pattern;
  std::uint8_t before = 0;
  for (std::uint64_t n = 0; n < 100000; ++n) {
    std::uint8_t const code = exchange_pattern::code(n);
    double const most = exchange_pattern::at_most(code);
    if (most < static_cast<double>(n) || most > 1.25 * static_cast<double>(n) || code < before) {
      INFO(n << " as " << int{code} << " is " << most);
      FAIL();
    }
    before = code;
  }
  CHECK(exchange_pattern::at_most(exchange_pattern::code(~std::uint64_t{0})) >= 1.8e19);
  detail::sparse_counter const a{0xfff'fff0, 0, {8, 2}, 1}, b{4, 1, {5, 9}, 8};
  auto const sum = detail::sparse_counter::of(detail::add_counters{}(a.word(), b.word()));
  CHECK((sum.letters == 0xfff'fff4 && sum.refusals == 1 && sum.pattern == exchange_pattern{8, 9} && sum.ways == 9));
}

static std::string_view cheapest_way(std::array<double, 4> const& prices) {
  return detail::sparse_ways[static_cast<std::size_t>(std::ranges::min_element(prices) - prices.begin())];
}
static situation on_one_host(int p, machine const& m) {
  return {.vector = {{0, static_cast<std::size_t>(p)}, p}, .element_size = 8, .network = m};
}
static std::array<double, 4> prices_on_hosts(int hosts, int most, double messages, double bytes, machine const& m) {
  std::vector<int> host_of;
  for (int r = 0; r < hosts * most; ++r) host_of.push_back(r / most);
  hierarchy const by_host = hierarchy::of_hosts(host_of);
  situation s = on_one_host(hosts * most, m);
  s.hosts = s.levels = &by_host;
  return detail::prices_of_ways(s, messages, bytes, true);
}

TEST_CASE("sparse_all_to_all: counters cost little more than a barrier, by the recorded prices") {
  machine const papers = typical.as_in_papers();
  for (int const p : {2, 16, 64, 256, 512}) {
    double const counted = price(record<std::uint64_t>(recursive_halving{}, collective::reduce_scatter_block, p, p),
                                 papers, 8);
    double const waited = price(record(dissemination{}, collective::barrier, p, 0), papers, 1);
    INFO("p = " << p << ": " << 1e6 * counted << " us, a barrier " << 1e6 * waited << " us");
    CHECK(counted <= 1.15 * waited);
    auto const prices = detail::prices_of_ways(on_one_host(p, papers), 0, 0, true);
    CHECK(prices[0] == Approx(counted).epsilon(0.02));
  }
  auto const cheapest = [](int p, double messages, double bytes, machine const& m) {
    return cheapest_way(detail::prices_of_ways(on_one_host(p, m), messages, bytes, true));
  };
  CHECK(cheapest(64, 8, 1024, typical) == "counters");
  CHECK(cheapest(1000000, 16, 1024, typical) == "consensus");
  CHECK(cheapest(64, 63, 8, typical) == "dense");
  CHECK(cheapest(64, 63, 65536, typical) == "counters");   // nothing is gained by bundles
}

TEST_CASE("sparse_all_to_all: prices where the ranks of a host share its link") {
  machine slow = typical;
  slow.alpha = 30e-6;
  auto const on_hosts = [](int hosts, int most, double messages, double bytes, machine const& m) {
    return cheapest_way(prices_on_hosts(hosts, most, messages, bytes, m));
  };
  CHECK(on_hosts(64, 8, 16, 64, typical) == "by_host");
  CHECK(on_hosts(8, 64, 16, 64, slow) == "by_host");
  CHECK(on_hosts(8, 8, 0, 0, typical) == "counters");        // no messages
  CHECK(on_hosts(64, 8, 16, 65536, typical) == "counters");   // long ones
  CHECK(on_hosts(10000, 8, 16, 64, typical) == "consensus");  // many hosts

  // A network whose start-ups overlap: benchmarks/gallery/sparse_large.csv has the times of 30.9 and 16.7 us.
  machine const simulated{3.0128e-6, 0.8e-9, 1e-15, 1, 1, 0.0128 / 3.0128};
  auto const prices = prices_on_hosts(64, 8, 16, 64, simulated);
  CHECK(1e6 * prices[0] == Approx(30.9).epsilon(0.2));
  CHECK(1e6 * prices[3] == Approx(16.7).epsilon(0.1));
  // A byte takes eight times as long as over a link of one's own; where it is copied alone, more.
  auto const longer = prices_on_hosts(64, 8, 16, 1064, simulated);
  CHECK(longer[0] - prices[0] == Approx(16 * 1000 * 8 * 0.8e-9).epsilon(0.02));
}

// From some 20 ranks on the ranks first agree on lengths.
TEST_CASE("all_to_all_v by the rules: few neighbours, one long block, all empty, all alike") {
  int const p = numbers_of_ranks.back();
  std::atomic<int> wrong = 0;
  run_threads(p, [&](auto const& comm) {
    int const me = comm.rank();
    auto const count = [p](int what, int from, int to) -> std::size_t {
      int const apart = (to - from + p) % p;
      switch (what) {
        case 0: return apart == 1 || apart == p - 1 ? 32 : 0;
        case 1: return from == 1 && to == 3 ? 4096 : 1;
        case 2: return 0;
        case 3: return 1;
        default: return static_cast<std::size_t>((from * 7 + to * 3) % 5);
      }
    };
    for (int round = 0; round < 2; ++round)
      for (int what = 0; what < 5; ++what) {
        std::vector<std::size_t> to_each, from_each;
        std::vector<int> in, expected;
        for (int r = 0; r < p; ++r) {
          to_each.push_back(count(what, me, r)), from_each.push_back(count(what, r, me));
          in.insert(in.end(), to_each.back(), me * p + r);
          expected.insert(expected.end(), from_each.back(), r * p + me);
        }
        std::vector<int> out(expected.size());
        all_to_all_v(comm, in, to_each, out, from_each);
        wrong += out != expected;
      }
  });
  CHECK(wrong == 0);
}
