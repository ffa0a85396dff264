// SPDX-License-Identifier: BSL-1.0
// Non-blocking and persistent collectives over MPI: every way of a message, the vendor's, a program's own messages
// beside them, a thread that makes progress.
#include <boost/test/unit_test.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <optional>
#include <random>
#include <thread>

#include <colligo/progress.hpp>
#include <colligo/table.hpp>

#include "../engine/soak.hpp"
#include "../thorough.hpp"

namespace {

using namespace colligo;

boost::mpi::communicator duplicate() { return {boost::mpi::communicator(), boost::mpi::comm_duplicate}; }

/// A communicator whose calls go as the environment says, which it reads when it is first used.
boost::mpi::communicator with_variable(char const* variable, char const* value) {
  ::setenv(variable, value, 1);
  auto const comm = duplicate();
  colligo::barrier(comm);
  ::unsetenv(variable);
  return comm;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(requests)

BOOST_AUTO_TEST_CASE(of_all_kinds_under_way_together_completed_in_any_order) {
  char const* const value = std::getenv("COLLIGO_TEST_SOAK");
  int const rounds = value ? std::atoi(value) : tested::at_most(20, 60);
  auto const comm = duplicate();
  for (std::vector<std::string> const& ways :
       {std::vector<std::string>{"@messages"}, {"@shared_memory"}, {"@messages", "@shared_memory"}}) {
    unsigned const seed = 77u + static_cast<unsigned>(comm.size() * 10) + static_cast<unsigned>(ways.size());
    BOOST_TEST_CONTEXT("seed " << seed) BOOST_CHECK_NO_THROW(request_soak::soak(comm, seed, rounds, ways));
  }
}

BOOST_AUTO_TEST_CASE(a_root_hundreds_of_starts_ahead_of_its_readers) {
  BOOST_CHECK_EQUAL(request_soak::wrong_far_ahead(duplicate()), 0);
}

// No more than the library chooses, and each rank waits when it likes.
BOOST_AUTO_TEST_CASE(of_all_kinds_as_the_environment_and_tables_choose) {
  char const* const value = std::getenv("COLLIGO_TEST_SOAK");
  int const rounds = value ? std::atoi(value) : tested::at_most(12, 30), p = boost::mpi::communicator().size();
  if (p < 2 || p > 5) return;
  auto const goes_on = [&](boost::mpi::communicator const& comm, char const* chosen_by) {
    unsigned const seed = 99u + static_cast<unsigned>(p);
    BOOST_TEST_CONTEXT(chosen_by) BOOST_CHECK_NO_THROW(request_soak::soak(comm, seed, rounds, {"automatic"}));
  };
  goes_on(with_variable("COLLIGO_ADAPTIVE", "1"), "adaptive");
  constexpr char const* wishes[] = {"COLLIGO_ALL_REDUCE", "COLLIGO_BROADCAST", "COLLIGO_ALL_GATHER", "COLLIGO_BARRIER",
                                    "COLLIGO_REDUCE", "COLLIGO_SCAN", "COLLIGO_ALL_TO_ALL", "COLLIGO_GATHERV"};
  for (char const* wish : wishes) ::setenv(wish, "vendor", 1);
  goes_on(with_variable("COLLIGO_REDUCE_SCATTER_BLOCK", "halving_doubling@messages"), "wishes");
  for (char const* wish : wishes) ::unsetenv(wish);
  std::string table;
  for (char const* what : {"all_reduce any any ", "broadcast any any ", "all_gather any any ", "barrier any any "})
    for (char const* row : {" 24 vendor\n", " 2000 recursive_doubling@messages\n", " 24000 vendor\n"})
      if (std::string(what)[0] != 'b' || row[1] != '2' || row[2] != '0') table += what + std::to_string(p) + row;
  use_table(table);
  goes_on(duplicate(), "a table");
  use_table("");
}

BOOST_AUTO_TEST_CASE(on_two_communicators_waited_for_in_different_orders) {
  auto const first = duplicate(), second = duplicate();
  std::vector<double> const in(1000, 1.0);
  std::vector<double> a(1000), b(1000);
  for (int i = 0; i < 20; ++i) {
    request one = iall_reduce(first, in, a, std::plus<>{}, named(i % 2 ? "ring@messages" : "automatic"));
    request two = iall_reduce(second, in, b, std::plus<>{}, named(i % 3 ? "ring@shared_memory" : "automatic"));
    if (first.rank() % 2) one.wait(), two.wait();
    else two.wait(), one.wait();
    BOOST_TEST((a == std::vector<double>(1000, first.size()) && b == a));
  }
}

// Rank 0 waits for the request before its blocking call, the others after it.
BOOST_AUTO_TEST_CASE(a_blocking_call_elsewhere_makes_progress) {
  auto const first = duplicate(), second = duplicate();
  for (char const* name : {"ring@messages", "ring@shared_memory", "automatic"}) {
    std::vector<int> const in(20000, 1);
    std::vector<int> out(in.size());
    request r = iall_reduce(first, in, out, std::plus<>{}, named(name));
    if (first.rank() == 0) r.wait();
    colligo::barrier(second, dissemination{});
    r.wait();
    BOOST_TEST((out == std::vector<int>(in.size(), first.size())), name);
  }
}

// Rank 0 makes its blocking call before it waits for the request, the others after that.
BOOST_AUTO_TEST_CASE(a_blocking_call_of_the_vendors_makes_progress) {
  if (boost::mpi::communicator().size() > 4) return;
  auto const first_waits_late = [](boost::mpi::communicator const& comm, auto const& algorithm) {
    for (int round = 0; round < 30; ++round) {
      std::vector<double> sent(100000, comm.rank() + 1.0), out(10);
      request r = ibroadcast(comm, sent, 0, binary_tree{});
      if (comm.rank() != 0) r.wait();
      colligo::all_reduce(comm, std::vector<double>(10, 1.0), out, std::plus<>{}, algorithm);
      r.wait();
      BOOST_TEST_REQUIRE((sent == std::vector<double>(100000, 1.0) && out == std::vector<double>(10, comm.size())));
    }
  };
  first_waits_late(with_variable("COLLIGO_ALL_REDUCE", "vendor"), automatic{});
  first_waits_late(with_variable("COLLIGO_ADAPTIVE", "1"), automatic{});
  first_waits_late(duplicate(), adaptive{});
  first_waits_late(duplicate(), named("vendor"));
  use_table("all_reduce any any " + std::to_string(duplicate().size()) + " 80 vendor");
  first_waits_late(duplicate(), automatic{});
  use_table("");
}

BOOST_AUTO_TEST_CASE(a_functor_makes_calls_of_its_own) {
  auto const comm = duplicate(), other = duplicate();
  boost::mpi::communicator const alone(MPI_COMM_SELF, boost::mpi::comm_attach);
  std::vector<int> const in(100, 1);
  std::vector<int> out(in.size()), pending(in.size()), in_functor(in.size());
  auto const sums = [&](auto const& f) {
    return as_commutative([&f](int a, int b) {
      f();
      return a + b;
    });
  };
  for (std::string const way : {"@messages", "@shared_memory"}) {
    named const algorithm("recursive_doubling" + way);
    auto const calls_alone = sums([&] {
      colligo::all_reduce(alone, in, in_functor, std::plus<>{});
      iall_reduce(alone, in, in_functor, std::plus<>{}).wait();
    });
    iall_reduce(comm, in, out, calls_alone, algorithm).wait();
    BOOST_TEST((out == std::vector<int>(in.size(), comm.size())));
    request r = iall_reduce(other, in, pending, std::plus<>{}, algorithm);
    out.assign(out.size(), 0);
    colligo::all_reduce(comm, in, out, calls_alone, algorithm);   // is a request: one is in progress
    r.wait();
    BOOST_TEST((out == std::vector<int>(in.size(), comm.size())));
    BOOST_TEST((out == pending));
  }
}

// The last rank waits for the others, so that its functor runs within wait.
BOOST_AUTO_TEST_CASE(a_functor_starts_a_request_that_outlives_it) {
  auto const comm = duplicate(), other = duplicate();
  colligo::prepare(other);   // its first use is collective
  std::vector<int> const in(1, 1);
  std::vector<int> out(1), later(1);
  request pending;
  int round = 0;
  auto const start_once = [&] {
    if (!pending.active()) pending = iall_reduce(other, in, later, std::plus<>{});
  };
  auto const op = as_commutative([&](int a, int b) {
    if (round == 4) start_once();
    return a + b;
  });
  persistent again = all_reduce_init(comm, in, out, op, recursive_doubling{});
  for (; round < 5; ++round) {   // played from the third start on
    if (comm.rank() == comm.size() - 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    again.start();
    again.wait();
    BOOST_CHECK_EQUAL(out[0], comm.size());
  }
  start_once();   // on ranks that combine nothing
  pending.wait();
  BOOST_CHECK_EQUAL(later[0], comm.size());
}

// A blocking call goes on with it, because the other rank, whose functor waits for it, makes no step before.
BOOST_AUTO_TEST_CASE(a_functor_starts_what_the_other_rank_waits_for) {
  auto const comm = duplicate(), other = duplicate();
  if (comm.size() < 2) return;
  colligo::prepare(other);   // its first use is collective
  std::vector<int> const in(2000, 1);
  std::vector<int> out(2000), long_one(1 << 20, comm.rank());
  // By which every rank combines, and goes on after that.
  std::string const by = comm.size() == 2  ? "halving_doubling:halvings=1"
                         : comm.size() % 2 ? "direct"
                                           : "recursive_doubling";
  for (std::string const way : {"@messages", "@shared_memory"}) {
    request pending;
    bool is_first = true;
    auto const op = as_commutative([&](int a, int b) {
      if (std::exchange(is_first, false)) {
        if (comm.rank() == 0) pending = ibroadcast(other, long_one, 0);
        else colligo::broadcast(other, long_one, 0);
      }
      return a + b;
    });
    colligo::all_reduce(comm, in, out, op, named(by + way));
    if (comm.rank() == 0) pending.wait();
    BOOST_TEST((out == std::vector<int>(in.size(), comm.size())));
    BOOST_CHECK_EQUAL(long_one.back(), 0);
  }
}

// Every rank makes it in its functor, once: another request has to go on meanwhile.
BOOST_AUTO_TEST_CASE(a_functor_makes_calls_among_the_same_ranks) {
  auto const comm = duplicate(), other = duplicate();
  if (comm.size() != 2) return;   // of more ranks some combine later, and not as often
  for (char const* name : {"recursive_doubling@messages", "recursive_doubling@shared_memory"}) {
    int sum = 0, of_functor = 0, before = 0, mine = 1;
    auto const span = [](int& value) { return std::span(&value, 1); };
    auto const calls = [&](int a, int b) {
      of_functor = colligo::all_reduce(other, comm.rank() + 1, std::plus<>{}, named(name));
      return a + b;
    };
    request earlier = iall_reduce(other, span(mine), span(before), std::plus<>{}, named(name));
    request r = iall_reduce(comm, span(mine), span(sum), calls, named(name));
    r.wait();
    BOOST_TEST((sum == 2 && of_functor == 3));
    earlier.wait();
    BOOST_TEST(before == 2);
  }
}

// No other rank need make it: an error on some rank, and later calls are right.
BOOST_AUTO_TEST_CASE(a_functor_makes_a_call_on_its_own_communicator) {
  auto const comm = duplicate();
  std::vector<int> const in(100, 1);
  std::vector<int> out(in.size()), in_functor(in.size());
  for (std::string const algorithm : {"recursive_doubling@messages", "recursive_doubling@shared_memory", "vendor"})
    for (int const form : {0, 1, 2, 3}) {   // whether the call of the functor starts a request, whether its own is one
      bool const starts = form % 2 != 0, is_request = form / 2 != 0;
      int thrown = 0;
      auto const calls = as_commutative([&](int a, int b) {
        if (starts) iall_reduce(comm, in, in_functor, std::plus<>{}).wait();
        else colligo::all_reduce(comm, in, in_functor, std::plus<>{});
        return a + b;
      });
      try {
        if (is_request) iall_reduce(comm, in, out, calls, named(algorithm)).wait();
        else colligo::all_reduce(comm, in, out, calls, named(algorithm));
      } catch (colligo::error const& e) {
        thrown = 1;
        std::string const said = e.what();
        BOOST_TEST((said.find("is in a functor of a call on this communicator") != said.npos ||
                    dynamic_cast<failed_elsewhere const*>(&e)), said);
      }
      if (algorithm == "vendor")   // the MPI library does not tell the other ranks
        thrown = boost::mpi::all_reduce(comm, thrown, boost::mpi::maximum<int>{});
      BOOST_TEST(thrown == (comm.size() > 1), algorithm << ", form " << form);
      BOOST_TEST(colligo::all_reduce(comm, 1, std::plus<>{}, named(algorithm)) == comm.size());
    }
}

BOOST_AUTO_TEST_CASE(calls_that_a_functor_may_not_make_count_as_none) {
  auto const comm = duplicate();
  std::vector<int> const in(100, 1);
  std::vector<int> out(in.size()), few(3);
  int refused = 0;
  auto const calls = as_commutative([&](int a, int b) {
    if (comm.rank() == 0 && refused == 0) {
      BOOST_CHECK_THROW(colligo::all_reduce(comm, in, few, std::plus<>{}), argument_error);
      BOOST_CHECK_THROW(colligo::gatherv(comm, in, 0), colligo::error);   // two calls
      ++refused;
    }
    return a + b;
  });
  for (bool const is_request : {false, true}) {
    refused = 0;
    if (is_request) iall_reduce(comm, in, out, calls, named("recursive_doubling")).wait();
    else colligo::all_reduce(comm, in, out, calls, named("recursive_doubling"));
    BOOST_TEST(out.back() == comm.size());
    BOOST_TEST(colligo::all_reduce(comm, 1, std::plus<>{}) == comm.size());
  }
}

/// Some of which have the same ranks, some more or fewer; split, reversed, cartesian.
std::vector<boost::mpi::communicator> communicators() {
  boost::mpi::communicator const world;
  int const p = world.size(), me = world.rank();
  std::vector<boost::mpi::communicator> all{duplicate(), world.split(0, p - me), world.split(me / 2),
                                            world.split(me % 2), world.split(me == 0 ? 0 : 1)};
  MPI_Comm made = MPI_COMM_NULL;
  int const periodic = 1;
  MPI_Cart_create(world, 1, &p, &periodic, 1, &made);
  all.emplace_back(made, boost::mpi::comm_take_ownership);
  return all;
}

// After a call on each, requests on several communicators are started and waited for in an order of each rank's own.
/// Of each rank and the next one, in a circle.
std::vector<boost::mpi::communicator> pairs_in_a_circle() {
  boost::mpi::communicator const world;
  std::vector<boost::mpi::communicator> all;
  for (int first = 0, p = world.size(); first < p; ++first) {
    bool const is_member = world.rank() == first || world.rank() == (first + 1) % p;
    all.push_back(world.split(is_member ? 0 : MPI_UNDEFINED));
  }
  return all;
}

// Each rank starts first on the communicator on which the rank before it starts last.
BOOST_AUTO_TEST_CASE(started_in_a_circle) {
  int const p = boost::mpi::communicator().size(), me = boost::mpi::communicator().rank();
  if (p < 3) return;
  auto const pairs = pairs_in_a_circle();
  for (auto const& pair : pairs)
    if (pair) prepare(pair);
  std::array<int, 1> const one{me};
  std::array<int, 1> after{}, before{};
  auto const& with_next = pairs[static_cast<std::size_t>(me)];
  auto const& with_previous = pairs[static_cast<std::size_t>((me + p - 1) % p)];
  auto later = iall_reduce(with_next, one, after, std::plus<>{});
  iall_reduce(with_previous, one, before, std::plus<>{}).wait();
  later.wait();
  BOOST_CHECK_EQUAL(after[0], me + (me + 1) % p);
  BOOST_CHECK_EQUAL(before[0], me + (me + p - 1) % p);
}

BOOST_AUTO_TEST_CASE(on_many_communicators_in_any_order) {
  auto const all = communicators();
  for (auto const& comm : all) colligo::barrier(comm);
  std::mt19937 own(static_cast<unsigned>(all[0].rank()));
  std::vector<int> const in(2000, 1);
  std::vector<std::vector<int>> out(all.size());
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (char const* name : {"ring@messages", "direct@shared_memory", "automatic"})
    for (int round = 0; round < 20; ++round) {
      std::size_t const n = round % 2 ? in.size() : 3;
      std::vector<request> requests(all.size());
      std::shuffle(order.begin(), order.end(), own);
      for (std::size_t const k : order) {
        out[k].assign(n, -1);
        requests[k] = iall_reduce(all[k], std::span(in).first(n), out[k], std::plus<>{},
                                  named(all[k].size() == 1 ? "automatic" : name));
      }
      std::shuffle(order.begin(), order.end(), own);
      for (std::size_t const k : order) {
        requests[k].wait();
        BOOST_TEST_REQUIRE((out[k] == std::vector<int>(n, all[k].size())), name);
      }
    }
  request first = ibarrier(all[1]), second = ibarrier(all[5]);
  for (auto const& comm : all)
    if (comm.size() > 1) BOOST_CHECK_NO_THROW(request_soak::soak(comm, 3, 4, {"@messages", "@shared_memory"}));
}

BOOST_AUTO_TEST_CASE(on_a_thousand_communicators) {
  if (boost::mpi::communicator().size() > 4) return;
  std::vector<boost::mpi::communicator> all(1000);
  std::vector<int> const in(10, 1);
  std::vector<std::vector<int>> out(all.size(), std::vector<int>(10));
  std::vector<request> requests;
  for (std::size_t k = 0; k < all.size(); ++k) {
    all[k] = duplicate();
    requests.push_back(iall_reduce(all[k], in, out[k], std::plus<>{}));
  }
  for (std::size_t k = all.size(); k-- > 0;) {
    requests[k].wait();
    BOOST_TEST_REQUIRE((out[k] == std::vector<int>(10, all[k].size())));
  }
}

BOOST_AUTO_TEST_CASE(of_many_serialised_elements) {
  auto const comm = duplicate();
  int const p = comm.size();
  if (p > 4) return;
  std::size_t const n = 100000;
  std::vector<std::string> const in(n, std::string(1, static_cast<char>('a' + comm.rank())));
  std::vector<std::string> sum(n), text(comm.rank() == 0 ? in : std::vector<std::string>(n));
  request first = iall_reduce(comm, in, sum, std::plus<>{}), second = ibroadcast(comm, text, 0);
  second.wait();
  first.wait();
  BOOST_TEST((text == std::vector<std::string>(n, "a")));
  BOOST_TEST((sum == std::vector<std::string>(n, std::string("abcd").substr(0, static_cast<std::size_t>(p)))));
}

// Whatever the length, the root, the transport and the form of the call.
BOOST_AUTO_TEST_CASE(with_stable_bits) {
  std::size_t const n = 700;
  std::mt19937_64 random(static_cast<unsigned>(boost::mpi::communicator().rank()));
  std::vector<double> in(n);
  for (double& x : in) x = std::ldexp(static_cast<double>(random()) - 9e18, static_cast<int>(random() % 60));
  ::setenv("COLLIGO_BITS", "stable", 1);
  boost::mpi::communicator const together = with_variable("COLLIGO_EXPLAIN", "0"),
                                 apart = with_variable("COLLIGO_SHARED_MEMORY", "off");
  ::unsetenv("COLLIGO_BITS");
  std::vector<double> one_by_one(n);
  for (std::size_t i = 0; i < n; ++i) one_by_one[i] = colligo::all_reduce(together, in[i], std::plus<>{});
  auto const same = [&](std::vector<double> const& out, std::size_t length) {
    return std::memcmp(out.data(), one_by_one.data(), length * sizeof(double)) == 0;
  };
  for (auto const& comm : {together, apart}) {
    std::vector<std::vector<double>> out(static_cast<std::size_t>(comm.size()) + 2, std::vector<double>(n));
    std::vector<request> requests;
    requests.push_back(iall_reduce(comm, in, out[0], std::plus<>{}));
    requests.push_back(iall_reduce(comm, std::span(in).first(30), std::span(out[1]).first(30), std::plus<>{}));
    for (int root = 0; root < comm.size(); ++root)
      requests.push_back(ireduce(comm, in, out[static_cast<std::size_t>(root) + 2], std::plus<>{}, root));
    wait_all(requests);
    BOOST_TEST((same(out[0], n) && same(out[1], 30)));
    BOOST_TEST(same(out[static_cast<std::size_t>(comm.rank()) + 2], n));
    colligo::all_reduce(comm, in, out[0], std::plus<>{});
    BOOST_TEST(same(out[0], n));
  }
}

/// While it lives this process may have no more than this.
class limit {
 public:
  limit(__rlimit_resource what, rlim_t most) : what_(what) {
    ::getrlimit(what, &before_);
    rlimit const now{std::min(most, before_.rlim_max), before_.rlim_max};
    ::setrlimit(what, &now);
  }
  ~limit() { ::setrlimit(what_, &before_); }
  limit(limit const&) = delete;
  limit& operator=(limit const&) = delete;

 private:
  __rlimit_resource what_;
  rlimit before_{};
};

// Memory may not be shared then; requests go over messages, on all ranks or on none.
BOOST_AUTO_TEST_CASE(with_few_files_or_little_memory) {
  std::ifstream status("/proc/self/statm");
  rlim_t pages = 0;
  status >> pages;
  rlim_t const address_space = (pages << 12) + (rlim_t{64} << 20);
  for (bool const everywhere : {true, false})
    for (auto const& [what, most] : {std::pair(RLIMIT_NOFILE, rlim_t{3}), {RLIMIT_MEMLOCK, rlim_t{0}},
                                     {RLIMIT_AS, address_space}}) {
      auto const comm = duplicate();
      std::optional<limit> few;
      if (everywhere || comm.rank() == 0) few.emplace(what, most);
      BOOST_TEST_CONTEXT("limit " << what) BOOST_CHECK_NO_THROW(request_soak::soak(comm, 8, 8, {"", "@messages"}));
    }
}

BOOST_AUTO_TEST_CASE(beside_a_programs_own_messages) {
  auto const comm = duplicate();
  int const p = comm.size(), to = (comm.rank() + 1) % p, from = (comm.rank() + p - 1) % p;
  for (char const* name : {"halving_doubling@messages", "direct@shared_memory"}) {
    std::vector<double> const in(5000, 2.0);
    std::vector<double> out(in.size());
    int sent = comm.rank(), got = -1;
    auto own = comm.isend(to, 7, sent);
    request r = iall_reduce(comm, in, out, std::plus<>{}, named(name));
    comm.recv(boost::mpi::any_source, boost::mpi::any_tag, got);
    r.wait();
    own.wait();
    BOOST_TEST(got == from);
    BOOST_TEST((out == std::vector<double>(in.size(), 2.0 * p)));
  }
}

BOOST_AUTO_TEST_CASE(a_communicator_freed_before_its_requests_are_complete) {
  boost::mpi::communicator const world;
  for (boost::mpi::communicator const& ranks : {world, world.split(world.rank())})
    for (char const* name : {"ring@messages", "ring@shared_memory", "vendor", "automatic"}) {
      if (ranks.size() == 1 && std::string_view(name).ends_with("memory")) continue;
      std::vector<int> const in(3000, 1), expected(in.size(), ranks.size());
      std::vector<int> out(in.size()), again(in.size());
      persistent often;
      for (int i = 0; i < 3; ++i) {
        request one;
        {
          boost::mpi::communicator const comm(ranks, boost::mpi::comm_duplicate);
          out.assign(in.size(), 0);
          one = iall_reduce(comm, in, out, std::plus<>{}, named(name));
          if (i == 0) often = all_reduce_init(comm, in, again, std::plus<>{}, named(name));
        }
        // Another one may have its handle.
        boost::mpi::communicator const other(ranks, boost::mpi::comm_duplicate);
        BOOST_TEST(colligo::all_reduce(other, 1, std::plus<>{}) == ranks.size());
        one.wait();
        BOOST_TEST(out == expected, name);
        again.assign(in.size(), 0);
        often.start();
        often.wait();
        BOOST_TEST(again == expected, name);
      }
    }
}

BOOST_AUTO_TEST_CASE(the_vendors_in_both_forms) {
  auto const comm = duplicate();
  int const p = comm.size(), me = comm.rank();
  struct pair { double a, b; };
  auto const add = [](pair const& x, pair const& y) { return pair{x.a + y.a, x.b + y.b}; };
  std::vector<pair> in(30, {1.0 * me, 1.0}), out(30);
  std::vector<int> all(static_cast<std::size_t>(p)), one{me};
  request sum = iall_reduce(comm, in, out, add, vendor{});
  request everybody = iall_gather(comm, one, all, vendor{});
  request come = ibarrier(comm, vendor{});
  come.wait();
  everybody.wait();
  sum.wait();
  BOOST_TEST(out[7].a == p * (p - 1) / 2.0);
  BOOST_TEST(out[7].b == p);
  BOOST_TEST(all.back() == p - 1);
  persistent again = all_reduce_init(comm, in, out, add, vendor{});
  for (int i = 0; i < 3; ++i) {
    in.assign(30, {1.0 * i, 2.0});
    again.start();
    again.wait();
    BOOST_TEST(out[0].a == 1.0 * i * p);
    BOOST_TEST(out[0].b == 2.0 * p);
  }
  // Rank 1 has no elements, so that its input and its output are at one address, if at any.
  std::vector<std::size_t> some(static_cast<std::size_t>(p), me == 1 ? 0 : 1);
  if (p > 1) some[1] = 0;
  auto const n_some = static_cast<std::size_t>(std::reduce(some.begin(), some.end()));
  std::vector<int> from(n_some, me), into(n_some);
  colligo::all_to_all_v(comm, from, some, into, some, vendor{});
  BOOST_CHECK_EQUAL(std::reduce(into.begin(), into.end()), me == 1 ? 0 : p * (p - 1) / 2 - (p > 1 ? 1 : 0));
  // Open MPI's MPI_Ialltoallv is wrong in place.
  std::vector<std::size_t> const counts(static_cast<std::size_t>(p), 2000);
  std::vector<int> blocks(2000 * counts.size()), expected;
  for (int r = 0; r < p; ++r) expected.insert(expected.end(), 2000, 10 * r + me);
  persistent exchange = all_to_all_v_init(comm, in_place(blocks), counts, vendor{});
  for (int i = 0; i < 2; ++i) {
    for (std::size_t k = 0; k < blocks.size(); ++k) blocks[k] = 10 * me + static_cast<int>(k / 2000);
    if (i == 0) iall_to_all_v(comm, in_place(blocks), counts, vendor{}).wait();
    else exchange.start(), exchange.wait();
    BOOST_TEST((blocks == expected));
  }
  auto const throws = [](pair const& x, pair const&) -> pair {
    throw std::runtime_error("on purpose" + std::to_string(x.a));
  };
  request failing = iall_reduce(comm, in, out, throws, vendor{});
  int thrown = 0;   // on the ranks that combine, which the vendor chooses
  try {
    failing.wait();
  } catch (std::runtime_error const&) {
    thrown = 1;
  }
  BOOST_TEST((colligo::all_reduce(comm, thrown, std::plus<>{}) > 0) == (p > 1));
}

BOOST_AUTO_TEST_CASE(a_thread_makes_progress_while_the_program_computes) {
  auto const comm = duplicate();
  std::vector<double> const in(2000, 1.0);
  std::vector<double> out(in.size());
  BOOST_CHECK_THROW(progress_thread(std::chrono::milliseconds(-1)), argument_error);
  for (char const* name : {"halving_doubling@messages", "direct@shared_memory"}) {
    progress_thread const looks;
    request r = iall_reduce(comm, in, out, std::plus<>{}, named(name));
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    // It ends although nobody tests it: in_progress() only looks.
    while (r.in_progress() && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    BOOST_TEST(!r.in_progress(), name);
    r.wait();
    BOOST_TEST((out == std::vector<double>(in.size(), comm.size())));
    request_soak::soak(comm, 5, 5, {""});
  }
}

// An element that is no bytes. Its copies throw on a rank that has armed them.
struct throws_when_copied {
  static inline bool armed = false;
  std::string text;

  throws_when_copied() = default;
  throws_when_copied(throws_when_copied const& other) { *this = other; }
  throws_when_copied& operator=(throws_when_copied const& other) {
    if (armed) throw std::runtime_error("no copy");
    text = other.text;
    return *this;
  }
  template <class Archive>
  void serialize(Archive& archive, unsigned) { archive & text; }
};

// The block that a rank has for itself is copied, not sent.
BOOST_AUTO_TEST_CASE(a_copy_that_throws_is_heard_of) {
  auto const comm = duplicate();
  std::vector<throws_when_copied> const in(static_cast<std::size_t>(comm.size()));
  auto out = in;
  for (bool const starts : {false, true}) {
    colligo::barrier(comm);
    throws_when_copied::armed = comm.rank() == 0;
    auto const call = [&] {
      if (starts) iall_to_all(comm, in, out, pairwise{}).wait();
      else colligo::all_to_all(comm, in, out, pairwise{});
    };
    if (comm.rank() == 0) BOOST_CHECK_THROW(call(), std::runtime_error);
    else BOOST_CHECK_THROW(call(), failed_elsewhere);
    throws_when_copied::armed = false;
    BOOST_CHECK_EQUAL(colligo::all_reduce(comm, 1, std::plus<>{}), comm.size());
  }
}

// The last rank's displacements do not fit into MPI's int. Nothing is read before it is started.
persistent beyond_int_from_last(boost::mpi::communicator const& comm) {
  constexpr std::size_t n = 1'200'000'000;
  auto const p = static_cast<std::size_t>(comm.size()), last = p - 1, me = static_cast<std::size_t>(comm.rank());
  std::vector<std::size_t> counts(p), from_each(p);
  if (me == last) counts.assign(p, n), counts[last] = 0;
  else from_each[last] = n;
  static char in, out;
  char* const apart = me == last ? &out + n * p : &out + n;
  return all_to_all_v_init(comm, std::span<char const>(&in, me == last ? n * last : 0), counts,
                           std::span(apart, me == last ? 0 : n), from_each, vendor{});
}

// It sends nothing, so the others go on; and all calls after it are right.
BOOST_AUTO_TEST_CASE(made_ready_on_some_ranks_and_refused_on_others) {
  auto const comm = duplicate();
  for (int what = 0; what < (comm.size() < 3 ? 3 : 4); ++what) {
    bool const refused = what < 3 && comm.rank() == comm.size() - 1;   // vendor compares lengths at each start
    std::vector<int> const in(4, 1);
    std::vector<int> out(refused && what == 0 ? 3 : 4);
    std::vector<int> const counts(static_cast<std::size_t>(comm.size()), refused && what == 1 ? -1 : 4);
    std::vector<int> all(4 * static_cast<std::size_t>(comm.size()));
    std::optional<persistent> made;
    bool threw = false;
    try {
      if (what == 0) made = all_reduce_init(comm, in, out, std::plus<>{});
      else if (what == 1) made = all_gatherv_init(comm, in, all, counts);
      else if (what == 2) made = broadcast_init(comm, out, refused ? comm.size() : 0);
      else made = beyond_int_from_last(comm);
    } catch (argument_error const&) {
      threw = true;
    }
    BOOST_CHECK_EQUAL(threw, refused);
    for (int i = 0; i < 3; ++i)   // of a call's number, not of another one
      BOOST_CHECK_EQUAL(colligo::all_reduce(comm, int{threw} + 10 * i, colligo::maximum{}), int{what < 3} + 10 * i);
  }
}

BOOST_AUTO_TEST_CASE(a_child_of_fork_does_not_wait_for_a_thread_that_it_lacks) {
  using namespace std::chrono_literals;
  auto const comm = duplicate();
  std::vector<double> const in(5, 1.0);
  std::vector<double> out(in.size());
  std::atomic<bool> combines = false;
  auto const slow = [&](double a, double b) {
    combines = true;
    std::this_thread::sleep_for(20ms);
    return a + b;
  };
  std::optional<progress_thread> looks(10us);
  if (comm.rank() % 2 == 0) std::this_thread::sleep_for(50ms);   // so that the others' threads combine
  request sum = iall_reduce(comm, in, out, slow, named("direct@messages"));
  while (!combines && sum.in_progress()) std::this_thread::yield();
  pid_t const child = fork();   // the thread holds a mutex
  if (child == 0) {
    alarm(5);
    sum = {};
    looks.reset();
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  BOOST_TEST(status == 0);
  sum.wait();
  BOOST_TEST((out == std::vector<double>(in.size(), comm.size())));
}

BOOST_AUTO_TEST_SUITE_END()
