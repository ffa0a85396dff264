// SPDX-License-Identifier: BSL-1.0
// Non-blocking and persistent collectives over MPI: every way of a message, the vendor's, a program's own messages
// beside them, a thread that makes progress.
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "../request/soak.hpp"

namespace {

using namespace colligo;

boost::mpi::communicator duplicate() { return {boost::mpi::communicator(), boost::mpi::comm_duplicate}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(requests)

BOOST_AUTO_TEST_CASE(of_all_kinds_under_way_together_completed_in_any_order) {
  char const* const value = std::getenv("COLLIGO_TEST_SOAK");
  int const rounds = value ? std::atoi(value) : 60;
  auto const comm = duplicate();
  for (std::vector<std::string> const& ways :
       {std::vector<std::string>{"@messages"}, {"@shared_memory"}, {"@messages", "@shared_memory"}}) {
    unsigned const seed = 77u + static_cast<unsigned>(comm.size() * 10) + static_cast<unsigned>(ways.size());
    BOOST_TEST_CONTEXT("seed " << seed) BOOST_CHECK_NO_THROW(request_soak::soak(comm, seed, rounds, ways));
  }
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
  for (char const* name : {"halving_doubling@messages", "direct@shared_memory"}) {
    progress_thread const looks;
    request r = iall_reduce(comm, in, out, std::plus<>{}, named(name));
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    // It ends although nobody tests it: under_way() only looks.
    while (r.under_way() && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    BOOST_TEST(!r.under_way(), name);
    r.wait();
    BOOST_TEST((out == std::vector<double>(in.size(), comm.size())));
    request_soak::soak(comm, 5, 5, {""});
  }
}

BOOST_AUTO_TEST_SUITE_END()
