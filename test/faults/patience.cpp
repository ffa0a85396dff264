// SPDX-License-Identifier: BSL-1.0
// COLLIGO_PATIENCE: who waits for whom is printed while they wait. A rank that is late comes when that has been
// printed.
#define BOOST_TEST_NO_MAIN
#include <boost/mpi/communicator.hpp>
#include <boost/serialization/string.hpp>
#include <boost/test/unit_test.hpp>
#include <colligo/colligo.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "on_stderr.hpp"

namespace {

using namespace colligo;

/// The world under another name and with this patience, and what its ranks write.
struct patient_world {
  boost::mpi::communicator const world, comm{world, boost::mpi::comm_duplicate};
  captured_stderr const captured;

  explicit patient_world(char const* patience) : captured(path_of_all()) {
    MPI_Comm_set_name(comm, "grid");
    setenv("COLLIGO_PATIENCE", patience, 1);
  }
  ~patient_world() {
    unsetenv("COLLIGO_PATIENCE");
    if (std::uncaught_exceptions() == 0) MPI_Barrier(world);
    if (world.rank() == 0) std::remove(captured.path().c_str());
  }
  int last() const { return comm.size() - 1; }
  bool is_last() const { return comm.rank() == last(); }
  /// All have done what they do.
  std::string text() const {
    MPI_Barrier(world);
    return captured.text();
  }

 private:
  std::string path_of_all() const {
    std::array<char, 32> path{};
    if (world.rank() == 0) {
      std::snprintf(path.data(), path.size(), "captured_XXXXXX");
      close(mkstemp(path.data()));
    }
    MPI_Bcast(path.data(), path.size(), MPI_CHAR, 0, world);
    return path.data();
  }
};

bool says(std::string const& text, std::string const& words) { return text.find(words) != text.npos; }

double sum(boost::mpi::communicator const& comm, auto... tag) {
  return colligo::all_reduce(comm, 1.0, std::plus<>{}, tag...);
}
/// The same as a request.
double sum_later(boost::mpi::communicator const& comm, auto... tag) {
  std::vector<double> const in(1, 1.0);
  std::vector<double> out(1);
  colligo::iall_reduce(comm, in, out, std::plus<>{}, tag...).wait();
  return out[0];
}

/// Two at once, of which the second completes only when the first has: each wait or test looks at both.
enum class by { wait_any, tests, test_all };
double sums_later(boost::mpi::communicator const& comm, by how, auto... tag) {
  std::vector<double> const in(1, 1.0);
  std::vector<double> out(1), more(1);
  std::vector<request> both;
  both.push_back(iall_reduce(comm, in, out, std::plus<>{}, tag...));
  both.push_back(iall_reduce(comm, in, more, std::plus<>{}, tag...));
  if (how == by::wait_any) wait_any(both), wait_any(both);
  if (how == by::tests)
    while (!(both[0].test() & both[1].test())) {}
  if (how == by::test_all)
    while (!test_all(both)) {}
  BOOST_CHECK_EQUAL(more[0], comm.size());
  return out[0];
}

/// Of rank 0, which overwrites what it could not send; where ranks share cores the others read it there.
double copy_long(boost::mpi::communicator const& comm) {
  static std::vector<double> values;
  values.assign(1 << 19, comm.rank() == 0 ? comm.size() : -1);
  try {
    colligo::broadcast(comm, values, 0, binary_tree{});
  } catch (...) {
    values.assign(values.size(), -1);
    throw;
  }
  return values.back();
}

/// A call that is right on all ranks, though on a busy machine some may have lost patience before.
template <class Call>
void comes_right(patient_world const& here, Call call) {
  for (int tries = 0, right = 0; !right; ++tries) {
    MPI_Barrier(here.world);
    try {
      right = call(here.comm) == here.comm.size();
      BOOST_CHECK(right);
    } catch (stalled const&) {
    } catch (failed_elsewhere const&) {
    }
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, here.world);
    BOOST_REQUIRE(tries < 50);
  }
}

/// The last rank is late in the call that is second on the communicator.
template <class Call>
void late(Call call, std::string const& way) {
  patient_world const here("200ms");
  if (here.comm.size() == 1) return;
  std::string const which = std::to_string(here.last());
  BOOST_CHECK_EQUAL(sum(here.comm), here.comm.size());
  if (here.is_last()) here.captured.await("  rank " + which + ": ");
  BOOST_CHECK_EQUAL(call(here.comm), here.comm.size());
  std::string const text = here.text();
  for (std::string const& words :
       {"colligo: after 200 ms in all_reduce #2 of 1 double over " + std::to_string(here.comm.size()) +
            " ranks of communicator grid (",
        way + "):\n", way.starts_with("(vendor") ? ": in it\n" : "waiting for rank " + which + "\n",
        "  rank " + which + ": has not called since #1; its process (pid ",
        std::string(") is alive\n")})
    BOOST_CHECK_MESSAGE(says(text, words), words << "is not on stderr, but:\n" << text);
  BOOST_CHECK_EQUAL(here.captured.count("colligo: after 200 ms in all_reduce #2"), 1);   // one speaks for all
  BOOST_CHECK_EQUAL(sum(here.comm), here.comm.size());
}

/// The last rank comes when the others have lost patience, who throw.
template <class Call>
void late_for_good(Call call) {
  patient_world const here("200ms,throw");
  if (here.comm.size() == 1) return;
  comes_right(here, call);
  if (here.is_last()) here.captured.await("it has thrown", here.last());
  int mine = 0, any = 0;
  try {
    BOOST_CHECK_EQUAL(call(here.comm), here.comm.size());   // of what others have sent before
  } catch (stalled const& e) {
    mine = 1;
    BOOST_CHECK_MESSAGE(says(e.what(), " has waited 200 ms for rank"), e.what());
  } catch (failed_elsewhere const&) {
  }
  std::fputs("it has thrown\n", stderr);
  MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, here.world);
  BOOST_CHECK(any);
  for (int i = 0; i < 3; ++i) {
    comes_right(here, call);
    comes_right(here, [](auto const& comm) { return sum(comm); });
  }
}

constexpr over_messages<recursive_doubling> by_messages{};

}  // namespace

BOOST_AUTO_TEST_CASE(patience_with_a_rank_that_is_late) {
  late([](auto const& comm) { return sum(comm); }, "over shared memory");
  late([](auto const& comm) { return sum(comm, by_messages); }, "(recursive_doubling, over messages");
  late([](auto const& comm) { return sum_later(comm); }, "over shared memory");
  late([](auto const& comm) { return sum_later(comm, by_messages); }, "(recursive_doubling, over messages");
  late([](auto const& comm) { return sum(comm, vendor{}); }, "(vendor, in the MPI library");
  late([](auto const& comm) { return sums_later(comm, by::wait_any, by_messages); }, "over messages");
  late([](auto const& comm) { return sums_later(comm, by::tests); }, "over shared memory");
  late([](auto const& comm) { return sums_later(comm, by::test_all); }, "over shared memory");
}

// A rank that computes between its looks does not wait meanwhile.
BOOST_AUTO_TEST_CASE(patience_of_a_rank_that_computes) {
  patient_world const here("600ms,throw");
  std::vector<double> const in(1, 1.0);
  std::vector<double> out(1);
  sum(here.comm);
  bool const late = here.is_last() && here.last() > 0;
  if (late) std::this_thread::sleep_for(std::chrono::milliseconds(800));
  request one = iall_reduce(here.comm, in, out, std::plus<>{});
  if (!late) one.test(), std::this_thread::sleep_for(std::chrono::milliseconds(700));
  one.wait();
  BOOST_CHECK_EQUAL(out[0], here.comm.size());
}

BOOST_AUTO_TEST_CASE(patience_that_throws) {
  late_for_good([](auto const& comm) { return sum(comm); });
  late_for_good([](auto const& comm) { return sum(comm, by_messages); });
  late_for_good([](auto const& comm) { return sum_later(comm); });
  late_for_good([](auto const& comm) { return sum_later(comm, by_messages); });
  late_for_good([](auto const& comm) { return sums_later(comm, by::wait_any, by_messages); });
  late_for_good(copy_long);
}

// Rank 2 waits for rank 1, which has not come, and rank 0 for both, one call further on.
BOOST_AUTO_TEST_CASE(patience_in_different_calls) {
  patient_world const here("200ms");
  if (here.comm.size() != 3) return;
  colligo::barrier(here.comm);
  int number = 2;
  auto const by = [&](auto tag, std::string const& way) {
    std::string const first = detail::concat({"reduce #", number++, " of 1 int, root 2"}),
                      second = detail::concat({"all_reduce #", number++, " of 1 double"});
    if (here.comm.rank() == 1) here.captured.await("colligo: after 200 ms in " + second);
    colligo::reduce(here.comm, 1, std::plus<>{}, 2, tag);
    if (here.comm.rank() == 0) here.captured.await("colligo: after 200 ms in " + first);
    BOOST_CHECK_EQUAL(sum(here.comm, tag), 3);
    std::string const text = here.text();
    for (std::string const& words :
         {second + " over 3 ranks of communicator grid (direct, over " + way +
              "):\n  rank 0: in it, step 1, waiting for ranks 1, 2\n  rank 1: has not called since #" +
              std::to_string(number - 3) + "; its process (pid ",
          "  rank 2: in " + first + " (direct, over " + way + "), step 1, waiting for rank 1\n"})
      BOOST_CHECK_MESSAGE(says(text, words), words << " is not on stderr, but:\n" << text);
  };
  by(over_shared_memory{direct{}}, "shared memory");
  by(over_messages{direct{}}, "messages");
}

// Rank 0 waits for rank 1, which waits for rank 2 on another communicator.
BOOST_AUTO_TEST_CASE(patience_on_several_communicators) {
  patient_world const here("200ms");
  if (here.comm.size() != 3) return;
  int const rank = here.comm.rank();
  boost::mpi::communicator const pair = here.world.split(rank < 2), row = here.world.split(rank > 0);
  MPI_Comm_set_name(pair, "pair"), MPI_Comm_set_name(row, "row");
  colligo::barrier(pair), colligo::barrier(row);
  if (rank == 0) here.captured.await("in barrier #2 over 2 ranks of communicator row");
  if (rank == 2) here.captured.await("; it waits in barrier #2 of communicator row; its process");
  if (rank > 0) colligo::barrier(row);
  if (rank < 2) colligo::barrier(pair);
  std::string const text = here.text();
  bool const told = says(text, "over 2 ranks of communicator pair (direct, over shared memory):\n  rank 0: in it, "
                               "step 1, waiting for rank 1\n  rank 1: has not called since #1; it waits in barrier #2 "
                               "of communicator row; its process (pid ");
  BOOST_CHECK_MESSAGE(told, text);
}

BOOST_AUTO_TEST_CASE(patience_where_no_memory_is_shared) {
  setenv("COLLIGO_SHARED_MEMORY", "off", 1);
  patient_world const here("200ms");
  sum(here.comm);
  if (here.is_last()) here.captured.await("colligo: after 200 ms in all_reduce #2", here.last());   // each for itself
  sum(here.comm);
  unsetenv("COLLIGO_SHARED_MEMORY");
  std::string const text = here.text();
  for (int rank = 0; rank < here.last(); ++rank)
    BOOST_CHECK_MESSAGE(says(text, detail::concat({"  rank ", rank, ": in it, step "})), text);
  BOOST_CHECK_EQUAL(says(text, "not seen from here, since it shares no memory"), here.last() > 0);
}

// Rank 0 names the ranks that have not come, the others name rank 0.
BOOST_AUTO_TEST_CASE(patience_with_a_first_use) {
  for (bool const first_is_late : {false, true}) {
    patient_world const here("200ms");
    int const others = here.last(), rank = here.comm.rank();
    if (others == 0) return;
    std::string const waits = " has waited 200 ms in the first use of communicator grid, for ";
    if (rank == (first_is_late ? 0 : others)) here.captured.await(waits, others);
    else if (rank == 0) here.captured.await(waits, others - 1);   // of ranks that come, whose messages are here then
    first_is_late ? prepare(here.comm) : barrier(here.comm);
    std::string const text = here.text();
    BOOST_CHECK(says(text, "colligo::prepare(comm)"));
    BOOST_CHECK_EQUAL(here.captured.count(waits + "rank 0, or ranks that rank 0 names"), others - !first_is_late);
    BOOST_CHECK_EQUAL(
        says(text, detail::concat({"colligo: rank 0", waits, "rank ", others, ", from which nothing has come"})),
        !first_is_late);
  }
}

// A rank that looks gives its core to others, who keep it for milliseconds.
BOOST_AUTO_TEST_CASE(patience_with_a_first_use_where_others_use_the_cores) {
  patient_world const here("200ms");
  if (here.last() == 0) return;
  double const began = MPI_Wtime();
  if (here.is_last()) {
    std::atomic<bool> ends = false;
    std::vector<std::thread> busy;
    for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i)
      busy.emplace_back([&] { while (!ends) {} });
    here.captured.await(" has waited 200 ms in the first use of communicator grid");
    ends = true;
    for (std::thread& one : busy) one.join();
    double const took = MPI_Wtime() - began;
    BOOST_CHECK_MESSAGE(took < 2, "reported after " << took << " s");
  }
  prepare(here.comm);
}

BOOST_AUTO_TEST_CASE(patience_that_is_not_needed) {
  for (char const* const patience : {"60s", "2min", "100000ms,throw"}) {
    patient_world const here(patience);
    for (int i = 0; i < 50; ++i) {
      BOOST_CHECK_EQUAL(sum(here.comm), here.comm.size());
      BOOST_CHECK_EQUAL(sum(here.comm, by_messages), here.comm.size());
      BOOST_CHECK_EQUAL(sum_later(here.comm), here.comm.size());
      std::vector<std::string> const in(3, "ab");
      std::vector<std::string> out(3);
      colligo::broadcast(here.comm, out, 0);
      colligo::all_reduce(here.comm, in, out, as_commutative(std::plus<>{}));
    }
    BOOST_CHECK_EQUAL(here.text(), "");
  }
  for (char const* const wrong : {"30", "s", "0s", "30s,", "30s,throws", "1h", "4294967295min"}) {
    patient_world const here(wrong);
    sum(here.comm);
    BOOST_CHECK(says(here.text(), std::string("COLLIGO_PATIENCE=") + wrong + ": a time is expected, as 30s"));
  }
}
