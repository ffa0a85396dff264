// SPDX-License-Identifier: BSL-1.0
// Non-blocking and persistent collectives among threads.
#include <catch2/catch.hpp>

#include <colligo/transport/threads/thread_state.hpp>

#include <atomic>
#include <list>
#include <numeric>
#include <thread>
#include <type_traits>

#include "soak.hpp"

using namespace colligo;

static_assert(std::is_move_constructible_v<request> && !std::is_copy_constructible_v<request>);
static_assert(std::is_move_constructible_v<persistent> && !std::is_copy_constructible_v<persistent>);

namespace {

constexpr int most = 9;

void with_ranks(int p, auto f) {
  REQUIRE_NOTHROW(run_threads(p, [&](thread_communicator& comm) { f(comm); }));
}
void expect(bool right, char const* what) {
  if (!right) throw std::runtime_error(what);
}

}  // namespace

TEST_CASE("a root is hundreds of starts ahead of its readers") {
  std::atomic<int> wrong = 0;
  run_threads(3, [&](thread_communicator& comm) { wrong += request_soak::wrong_far_ahead(comm); });
  CHECK(wrong == 0);
}

TEST_CASE("requests of all kinds, in progress together, completed in any order") {
  for (int p = 1; p <= most; p += p < 6 ? 1 : 3)
    for (std::vector<std::string> const& ways :
         {std::vector<std::string>{""}, {"@shared_memory"}, {"", "@shared_memory"}}) {
      unsigned const seed = static_cast<unsigned>(p) * 100 + static_cast<unsigned>(ways.size());
      INFO("p = " << p << ", ways of messages: " << ways[0] << ", seed " << seed);
      with_ranks(p, [&](auto& comm) { request_soak::soak(comm, seed, 12, ways); });
    }
}

TEST_CASE("requests of the same kind one after the other: what differs between them is taken anew") {
  for (int const p : {2, 3, 5})
    for (bool const over_memory : {false, true})
      with_ranks(p, [=](auto& comm) {
        auto const name = [&](std::string const& algorithm) {
          return named(algorithm + (over_memory ? "@shared_memory" : ""));
        };
        int const me = comm.rank(), sum = p * (p - 1) / 2;
        std::list<std::vector<int>> memory;   // never the same again
        auto const filled = [&](int with) -> std::vector<int>& { return memory.emplace_back(40, with); };
        auto const repeat = [](auto call) { for (int round = 0; round < 4; ++round) call(round); };
        repeat([&](int round) {   // in progress together; the functor has a state
          auto const weighted = as_commutative([round](int x, int y) { return x + y + round; });
          auto const& a = filled(me + round);
          auto &b = filled(10 * me), &c = filled(-1);
          std::vector<request> both;
          both.push_back(iall_reduce(comm, a, c, weighted, name("direct")));
          both.push_back(iall_reduce(comm, in_place(b), std::plus<>{}, name("direct")));
          wait_all(both);
          expect(c == std::vector<int>(40, sum + p * round + (p - 1) * round), "the functor's state");
          expect(b == std::vector<int>(40, 10 * sum), "in place");
        });
        repeat([&](int round) {
          auto& c = filled(-1);
          iall_reduce(comm, filled(me), c, std::plus<>{}, name(round % 2 ? "direct:slices=16" : "direct")).wait();
          expect(c == std::vector<int>(40, sum), "knobs");
        });
        repeat([&](int round) {
          int const root = round % p;
          auto& b = filled(me == root ? round : -1);
          ibroadcast(comm, b, root, name("binary_tree")).wait();
          expect(b == std::vector<int>(40, round), "roots");
        });
        repeat([&](int round) {
          std::vector<std::size_t> counts(static_cast<std::size_t>(p), 2);
          counts[static_cast<std::size_t>(round / 2 % p)] = 5;
          auto& all = filled(0);
          all.resize(2 * static_cast<std::size_t>(p) + 3);
          std::vector<int> const mine(counts[static_cast<std::size_t>(me)], me);
          iall_gatherv(comm, mine, all, counts, name("circulant")).wait();
          std::vector<int> expected;
          for (int r = 0; r < p; ++r) expected.insert(expected.end(), counts[static_cast<std::size_t>(r)], r);
          expect(all == expected, "counts");
        });
        repeat([&](int round) {
          auto const in_the_end = as_commutative([round](int x, int y) {
            if (round == 2) throw round;
            return x + y;
          });
          auto& c = filled(-1);
          auto sums = iall_reduce(comm, filled(me), c, in_the_end, name("direct"));
          try {
            sums.wait();
            expect(round != 2 && c == std::vector<int>(40, sum), "before and after a functor that throws");
          } catch (int) {
            expect(round == 2, "it throws there");
          }
        });
      });
}

TEST_CASE("a persistent collective is started again on new values") {
  for (int const p : {1, 2, 5, 8})
    with_ranks(p, [p](auto& comm) {
      for (char const* name : {"recursive_doubling", "direct@shared_memory", "rotating_ring", "census"}) {
        std::vector<double> in(100), out(100), both(100);
        persistent sum = all_reduce_init(comm, in, out, std::plus<>{}, named(name));
        persistent place = all_reduce_init(comm, in_place(both), std::plus<>{}, named(name));
        expect(!sum.active() && sum.test(), "a collective that has not been started is no work");
        for (int round = 0; round < 5; ++round) {
          in.assign(100, comm.rank() + round), both.assign(100, round);
          sum.start();
          place.start();
          round % 2 ? sum.wait() : place.wait();
          round % 2 ? place.wait() : sum.wait();
          expect(out == std::vector<double>(100, p * (p - 1) / 2 + p * round), "sum");
          expect(both == std::vector<double>(100, p * round), "sum in place");
        }
      }
    });
}

TEST_CASE("in place, started or made ready to be, gives what the blocking call gives") {
  for (int const p : {1, 3, 4})
    with_ranks(p, [p](auto& comm) {
      int const me = comm.rank();
      std::vector<int> const counts(static_cast<std::size_t>(p), 2);
      std::vector<double> const mine{me + 1.0, me + 2.0};
      std::vector<double> all(2 * counts.size(), -1);
      std::copy(mine.begin(), mine.end(), all.begin() + 2 * me);
      // `call(form, values)`: 0 makes the blocking call, 1 waits for a request, 2 starts what is made ready.
      auto const alike = [&](char const* name, std::vector<double> const& before, auto const& call) {
        std::vector<double> expected = before;
        call(0, expected);
        for (int const form : {1, 2}) {
          std::vector<double> values = before;
          call(form, values);
          expect(values == expected, name);
        }
      };
      auto const run = [](persistent sum) { sum.start(), sum.wait(); };
      auto const with_forms = [](int form, auto blocking, auto started, auto ready) {
        form == 0 ? blocking() : form == 1 ? started() : ready();
      };
      std::plus<> const sum;
      int const root = p - 1;
      auto const& at_root = me == root ? all : mine;
      alike("reduce", mine, [&](int form, auto& v) {
        with_forms(form, [&] { colligo::reduce(comm, in_place(v), sum, root); },
                   [&] { ireduce(comm, in_place(v), sum, root).wait(); },
                   [&] { run(reduce_init(comm, in_place(v), sum, root)); });
      });
      alike("scan", mine, [&](int form, auto& v) {
        with_forms(form, [&] { colligo::scan(comm, in_place(v), sum); },
                   [&] { iscan(comm, in_place(v), sum).wait(); }, [&] { run(scan_init(comm, in_place(v), sum)); });
      });
      alike("exclusive_scan", mine, [&](int form, auto& v) {
        with_forms(form, [&] { colligo::exclusive_scan(comm, in_place(v), 7, sum); },
                   [&] { iexclusive_scan(comm, in_place(v), 7, sum).wait(); },
                   [&] { run(exclusive_scan_init(comm, in_place(v), 7, sum)); });
      });
      alike("all_gather", all, [&](int form, auto& v) {
        with_forms(form, [&] { colligo::all_gather(comm, in_place(v)); },
                   [&] { iall_gather(comm, in_place(v)).wait(); }, [&] { run(all_gather_init(comm, in_place(v))); });
      });
      alike("all_gatherv", all, [&](int form, auto& v) {
        with_forms(form, [&] { colligo::all_gatherv(comm, in_place(v), counts); },
                   [&] { iall_gatherv(comm, in_place(v), counts).wait(); },
                   [&] { run(all_gatherv_init(comm, in_place(v), counts)); });
      });
      alike("gather", at_root, [&](int form, auto& v) {
        with_forms(form, [&] { colligo::gather(comm, in_place(v), root); },
                   [&] { igather(comm, in_place(v), root).wait(); },
                   [&] { run(gather_init(comm, in_place(v), root)); });
      });
      alike("gatherv", at_root, [&](int form, auto& v) {
        with_forms(form, [&] { colligo::gatherv(comm, in_place(v), counts, root); },
                   [&] { igatherv(comm, in_place(v), counts, root).wait(); },
                   [&] { run(gatherv_init(comm, in_place(v), counts, root)); });
      });
      alike("scatter", at_root, [&](int form, auto& v) {
        with_forms(form, [&] { colligo::scatter(comm, in_place(v), root); },
                   [&] { iscatter(comm, in_place(v), root).wait(); },
                   [&] { run(scatter_init(comm, in_place(v), root)); });
      });
      alike("all_to_all", all, [&](int form, auto& v) {
        with_forms(form, [&] { colligo::all_to_all(comm, in_place(v)); },
                   [&] { iall_to_all(comm, in_place(v)).wait(); }, [&] { run(all_to_all_init(comm, in_place(v))); });
      });
      std::vector<std::size_t> alike_both_ways;
      for (int r = 0; r < p; ++r) alike_both_ways.push_back(static_cast<std::size_t>(r + me) % 3);
      std::vector<double> const exchanged(std::reduce(alike_both_ways.begin(), alike_both_ways.end()), me);
      alike("all_to_all_v", exchanged, [&](int form, auto& v) {
        with_forms(form, [&] { colligo::all_to_all_v(comm, in_place(v), alike_both_ways); },
                   [&] { iall_to_all_v(comm, in_place(v), alike_both_ways).wait(); },
                   [&] { run(all_to_all_v_init(comm, in_place(v), alike_both_ways)); });
      });
      alike("scatterv", at_root, [&](int form, auto& v) {
        with_forms(form, [&] { colligo::scatterv(comm, in_place(v), counts, root); },
                   [&] { iscatterv(comm, in_place(v), counts, root).wait(); },
                   [&] { run(scatterv_init(comm, in_place(v), counts, root)); });
      });
    });
}

TEST_CASE("to start a request that is active is an error, which changes nothing") {
  for (int const p : {1, 2})
    for (bool const complete : {false, true})
      with_ranks(p, [&](auto& comm) {
        int in = 1, out = 0;
        persistent sum = all_reduce_init(comm, std::span(&in, 1), std::span(&out, 1), std::plus<>{});
        sum.start();
        while (complete && !sum.complete()) std::this_thread::yield();
        bool refused = false;
        try {
          sum.start();
        } catch (error const&) {
          refused = true;
        }
        expect(refused, "a second start is refused");
        expect(sum.active(), "it is active still");
        sum.wait();
        expect(out == p, "sum");
        in = 2;
        sum.start();
        sum.wait();
        expect(out == 2 * p, "sum of the next start");
      });
}

TEST_CASE("what a functor throws comes out of wait, once, and later calls are right") {
  for (char const* name :
       {"recursive_doubling", "circulant@shared_memory", "ring", "direct@shared_memory", "binary_tree"})
    for (int const p : {2, 4, 5})
      with_ranks(p, [&](auto& comm) {
        std::vector<int> in(5, 1), out(5);
        int calls = 0;
        auto const throws = as_commutative([&calls, me = comm.rank()](int a, int b) {
          if (me == 0 && ++calls == 3) throw std::runtime_error("thrown on purpose");
          return a + b;
        });
        request r = iall_reduce(comm, in, out, throws, named(name));
        bool thrown = false;
        try {
          r.wait();
        } catch (std::runtime_error const& e) {
          thrown = std::string(e.what()) == "thrown on purpose";
        }
        expect(comm.rank() != 0 || thrown == (calls >= 3), "thrown on rank 0");
        r.wait();
        for (int i = 0; i < 3; ++i)
          expect(colligo::all_reduce(comm, 1, std::plus<>{}, named(name)) == p, "the next call");
      });
}

TEST_CASE("to wait for what was moved from, or never started, is an error; to wait for all is not") {
  with_ranks(2, [](auto& comm) {
    std::vector<int> const in(3, 1);
    std::vector<int> out(3);
    auto const refused = [](auto call, std::string const& words) {
      try {
        call();
      } catch (error const& e) {
        return std::string(e.what()).starts_with("colligo: ") && std::string(e.what()).find(words) != std::string::npos;
      }
      return false;
    };
    std::vector<request> two(2);
    two[0] = iall_reduce(comm, in, out, std::plus<>{});
    request taken = std::move(two[0]);
    expect(refused([&] { two[0].wait(); }, "moved from"), "a request that was moved from");
    expect(refused([&] { two[1].wait(); }, "empty"), "a request that was never made");
    taken.wait();
    taken.wait();   // complete
    wait_all(two);
    std::vector<persistent> again;
    again.push_back(all_reduce_init(comm, in, out, std::plus<>{}));
    expect(refused([&] { again[0].wait(); }, "never started"), "a persistent call that was never started");
    wait_all(again);
    again[0].start(), again[0].wait(), again[0].wait();
    expect(out == std::vector<int>(3, 2), "sum");
  });
}

TEST_CASE("wait_all, wait_any and test_all complete what there is") {
  with_ranks(4, [](auto& comm) {
    std::vector<std::vector<int>> out(6, std::vector<int>(3));
    std::vector<int> const in(3, 1);
    std::vector<request> all;
    for (auto& o : out) all.push_back(iall_reduce(comm, in, o, std::plus<>{}));
    wait_all(all);
    expect(test_all(all) && wait_any(all) == all.size(), "nothing is left");
    all.clear();
    for (auto& o : out) all.push_back(iall_reduce(comm, in, o, std::plus<>{}));
    std::vector<bool> seen(all.size());
    for (std::size_t k = 0; k < all.size(); ++k) {
      std::size_t const which = wait_any(all);
      expect(which < all.size() && !seen[which], "each is found once");
      seen[which] = true;
    }
    expect(wait_any(all) == all.size(), "and no more");
    std::vector<persistent> again;
    for (auto& o : out) again.push_back(all_reduce_init(comm, in, o, std::plus<>{}));
    for (auto& r : again) r.start();
    while (!test_all(again)) std::this_thread::yield();
    for (auto const& o : out) expect(o == std::vector<int>(3, 4), "sum");
  });
}

TEST_CASE("a request that is dropped or overwritten is completed") {
  with_ranks(3, [](auto& comm) {
    std::vector<int> in(50, 1), out(50);
    { auto const dropped = iall_reduce(comm, in, out, std::plus<>{}); }
    expect(out == std::vector<int>(50, 3), "dropped");
    std::vector<int> first(50), second(50);
    request r = iall_reduce(comm, in, first, std::plus<>{});
    r = iall_reduce(comm, in, second, std::plus<>{});   // both are in progress until the first is overwritten
    expect(first == out, "overwritten");
    r.wait();
    expect(second == out, "what it was overwritten by");
  });
}

// For the thread sanitizer: the call uses what the thread has left in the channels.
TEST_CASE("a thread that sees no request in progress sees the writes of the thread that made progress") {
  for (char const* name : {"direct@shared_memory", "recursive_doubling"})
    with_ranks(3, [name](auto& comm) {
      auto& all = detail::state_at(state_of<thread_communicator>::open(comm)).requests();
      all.share();
      std::jthread const looks([&all](std::stop_token end) {
        while (!end.stop_requested()) {
          if (all.busy()) all.progress();
          std::this_thread::yield();
        }
      });
      std::vector<int> const in(50, 1);
      std::vector<int> out(50);
      for (int round = 0; round < 20; ++round) {
        request r = iall_reduce(comm, in, out, std::plus<>{}, named(name));
        while (all.busy()) std::this_thread::yield();
        expect(colligo::all_reduce(comm, 1, std::plus<>{}, named(name)) == 3, "the call");
        r.wait();
        expect(out == std::vector<int>(50, 3), "the request");
      }
    });
}

TEST_CASE("arguments of requests are checked before anything is started") {
  with_ranks(2, [](auto& comm) {
    std::vector<int> in(3), out(4);
    auto const refused = [](auto call) {
      try {
        call();
      } catch (argument_error const&) {
        return true;
      }
      return false;
    };
    expect(refused([&] { (void)iall_reduce(comm, in, out, std::plus<>{}); }), "lengths that differ");
    expect(refused([&] { (void)ibroadcast(comm, in, 2); }), "a root that is none");
    expect(refused([&] { (void)all_reduce_init(comm, in, in, std::plus<>{}); }), "input and output that overlap");
    expect(refused([&] { (void)iall_gatherv(comm, in, out, std::vector{3, -1}); }), "a negative count");
  });
}
