// SPDX-License-Identifier: BSL-1.0
// The library beside the user: messages, communicators that come and go, threads.
#define BOOST_TEST_NO_MAIN
#include <boost/test/unit_test.hpp>

#include <boost/mpi/cartesian_communicator.hpp>
#include <boost/mpi/intercommunicator.hpp>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <thread>

#include "over_mpi.hpp"

namespace {

using boost::mpi::communicator;
using colligo::collective;

/// Every algorithm, forwards and to the last root: false where a sum is wrong.
template <class Op>
bool all_sums_are_right(communicator const& comm, std::size_t n, Op op) {
  int const p = comm.size();
  bool right = true;
  std::vector<int> const in(n, comm.rank() + 1), expected(n, p * (p + 1) / 2);
  over_mpi::for_each_that_takes<collective::all_reduce, int, Op>([&](auto tag) {
    std::vector<int> out(n);
    colligo::all_reduce(comm, in, out, op, tag);
    right = right && out == expected;
  });
  over_mpi::for_each_that_takes<collective::reduce, int, Op>([&](auto tag) {
    std::vector<int> out(n);
    colligo::reduce(comm, in, out, op, p - 1, tag);
    right = right && (comm.rank() != p - 1 || out == expected);
  });
  return right;
}

bool threads_may_communicate() {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  if (provided < MPI_THREAD_MULTIPLE)
    BOOST_TEST_MESSAGE("skipped: this MPI library does not provide MPI_THREAD_MULTIPLE");
  return provided == MPI_THREAD_MULTIPLE;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(communicators)

BOOST_AUTO_TEST_CASE(a_wild_card_receive_of_the_user_never_meets_a_message_of_the_library) {
  communicator const world;
  int const p = world.size(), next = (world.rank() + 1) % p, previous = (world.rank() - 1 + p) % p;
  std::vector<int> caught(1000, -1);
  MPI_Request pending;
  MPI_Irecv(caught.data(), static_cast<int>(caught.size()), MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &pending);
  BOOST_CHECK(all_sums_are_right(world, 500, std::plus<>{}));
  BOOST_CHECK(all_sums_are_right(world, 1, colligo::as_commutative([](int const& a, int const& b) { return a + b; })));
  auto const text = colligo::all_reduce(world, std::string("x"), std::plus<>{}, colligo::recursive_doubling{});
  BOOST_CHECK_EQUAL(text, std::string(static_cast<std::size_t>(p), 'x'));

  int done = 0;
  MPI_Status status;
  MPI_Request_get_status(pending, &done, &status);
  BOOST_CHECK_MESSAGE(!done, "something was received before anything had been sent");
  MPI_Barrier(world);
  int const message = 42 + world.rank();
  MPI_Send(&message, 1, MPI_INT, next, 7, world);
  MPI_Wait(&pending, &status);
  BOOST_CHECK_EQUAL(caught[0], 42 + previous);
  BOOST_CHECK_EQUAL(status.MPI_SOURCE, previous);
  BOOST_CHECK_EQUAL(status.MPI_TAG, 7);
}

BOOST_AUTO_TEST_CASE(a_grid_s_communicator_is_one_of_boost_mpi_s) {
  communicator const world;
  int const p = world.size();
  boost::mpi::cartesian_communicator const ring(world, boost::mpi::cartesian_topology{{p, true}}, true);
  BOOST_CHECK_EQUAL(colligo::all_reduce(ring, ring.rank() + 1, std::plus<>{}), p * (p + 1) / 2);
  static_assert(!colligo::communicator<boost::mpi::intercommunicator>);
}

BOOST_AUTO_TEST_CASE(two_communicators_may_be_used_alternately) {
  communicator const world, forwards(world, boost::mpi::comm_duplicate), backwards(world.split(0, -world.rank()));
  auto const first = [](int const& a, int const&) { return a; };   // its result depends on the ranks' order
  for (int round = 0; round < 20; ++round) {
    BOOST_CHECK(all_sums_are_right(forwards, 33, std::plus<>{}));
    BOOST_CHECK(all_sums_are_right(backwards, 34, std::plus<>{}));
    over_mpi::for_each_that_takes<collective::all_reduce, int, decltype(first)>([&](auto tag) {
      BOOST_CHECK_EQUAL(colligo::all_reduce(forwards, world.rank(), first, tag), 0);
      BOOST_CHECK_EQUAL(colligo::all_reduce(backwards, world.rank(), first, tag), world.size() - 1);
    });
  }
}

BOOST_AUTO_TEST_CASE(two_threads_may_use_two_communicators_at_once) {
  if (!threads_may_communicate()) return;
  communicator const world, one(world, boost::mpi::comm_duplicate), two(world, boost::mpi::comm_duplicate);
  std::atomic<int> wrong = 0;
  auto const run = [&wrong](communicator const& comm, int offset) {
    try {
      // A functor of its own makes vendor create operations while the other thread does.
      auto const op = colligo::as_commutative([offset](int const& a, int const& b) { return a + b + offset - offset; });
      for (std::size_t round = 0; round < 6; ++round)
        wrong +=
            !all_sums_are_right(comm, 1 + round * 190, op) + !all_sums_are_right(comm, 1 + round * 210, std::plus<>{});
    } catch (std::exception const& e) {
      std::cerr << e.what() << std::endl;
      MPI_Abort(MPI_COMM_WORLD, 1);   // the other ranks' threads wait
    }
  };
  {
    std::jthread const other([&] { run(two, 2); });
    run(one, 1);
  }
  BOOST_CHECK_EQUAL(wrong, 0);
}

// On one of them the environment asks for an algorithm that the other's functor must not be given. A rank on its own
// sends nothing, so that there can be many calls.
BOOST_AUTO_TEST_CASE(two_threads_never_get_each_other_s_communicator) {
  if (!threads_may_communicate()) return;
  communicator const alone = communicator().split(communicator().rank()), by_ring(alone, boost::mpi::comm_duplicate);
  auto const last = [](int const&, int const& b) { return b; };
  colligo::all_reduce(alone, 1, last);
  setenv("COLLIGO_ALL_REDUCE", "ring", 1), setenv("COLLIGO_STRICT", "1", 1);
  BOOST_CHECK_THROW(colligo::all_reduce(by_ring, 1, last), colligo::argument_error);
  unsetenv("COLLIGO_ALL_REDUCE"), unsetenv("COLLIGO_STRICT");
  int wrong = 0;
  {
    std::jthread const other([&](std::stop_token stop) {
      while (!stop.stop_requested()) colligo::all_reduce(by_ring, 1, std::plus<>{});
    });
    for (int call = 0; call < 500000; ++call) try {
        colligo::all_reduce(alone, call, last);
      } catch (colligo::argument_error const&) {
        ++wrong;
      }
  }
  BOOST_CHECK_EQUAL(wrong, 0);
}

BOOST_AUTO_TEST_CASE(communicators_that_come_and_go_are_not_mixed_up) {
  communicator const world;
  for (int round = 0; round < 200; ++round) {
    std::vector<communicator> some;
    some.emplace_back(world, boost::mpi::comm_duplicate);
    some.push_back(world.split((world.rank() + round) % 2));
    some.push_back(world.split(0, -world.rank()));
    if (round % 3 == 0) std::swap(some[0], some[2]);
    for (auto& comm : some) {
      int const p = comm.size();
      BOOST_CHECK_EQUAL(colligo::all_reduce(comm, comm.rank() + 1, std::plus<>{}, colligo::binary_tree{}),
                        p * (p + 1) / 2);
      if (round % 2 == 0) comm = communicator();   // frees it before the next is used
    }
    if (round % 4 == 1) some.erase(some.begin() + 1);
    if (round % 4 == 3) some.pop_back();
    for (auto const& comm : some) BOOST_CHECK(all_sums_are_right(comm, 5, std::plus<>{}));
  }
}

BOOST_AUTO_TEST_CASE(thousands_of_communicators_one_after_the_other_do_not_use_up_anything) {
  communicator const world;
  int const p = world.size();
  int wrong = 0;
  for (int cycle = 0; cycle < 5000; ++cycle) {
    communicator const comm(world, boost::mpi::comm_duplicate);
    wrong += colligo::all_reduce(comm, cycle, std::plus<>{}, colligo::recursive_doubling{}) != p * cycle;
  }
  BOOST_CHECK_EQUAL(wrong, 0);
}

BOOST_AUTO_TEST_SUITE_END()
