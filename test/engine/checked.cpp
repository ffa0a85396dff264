// SPDX-License-Identifier: BSL-1.0
// Checked mode among threads.
#include <catch2/catch.hpp>

#include <cstdlib>

#include "../checked_calls.hpp"

using namespace colligo;
using Catch::Matchers::Contains;

namespace {

/// COLLIGO_CHECK while it lives.
struct check_variable {
  explicit check_variable(char const* value) { setenv("COLLIGO_CHECK", value, 1); }
  ~check_variable() { unsetenv("COLLIGO_CHECK"); }
};

void throw_if_wrong(bool right, std::string const& what) {
  if (!right) throw std::runtime_error(what);
}

}  // namespace

TEST_CASE("ranks that make different calls all hear who makes which, over a checked communicator") {
  for (int const p : {1, 2, 3, 5})
    CHECK_NOTHROW(run_threads(p, [](thread_communicator& comm) {
      checked_calls::try_all(checked(comm), throw_if_wrong);
    }));
}

TEST_CASE("the same where the environment asks for it") {
  check_variable const on("1");
  for (int const p : {2, 4})
    CHECK_NOTHROW(run_threads(p, [](thread_communicator& comm) { checked_calls::try_all(comm, throw_if_wrong); }));
}

TEST_CASE("without the mode nothing is compared before the call") {
  for (char const* off : {"", "0"}) {
    check_variable const value(off);
    auto const differ = [](thread_communicator& comm) {
      std::vector<int> values(comm.rank() == 0 ? 1 : 2);
      all_reduce(comm, in_place(values), std::plus<>{}, recursive_doubling{});
    };
    CHECK_THROWS_WITH(run_threads(2, differ), Contains("different calls"));
  }
}

TEST_CASE("other values of COLLIGO_CHECK are off, and an error where the environment is strict") {
  check_variable const value("perhaps");
  CHECK_NOTHROW(run_threads(3, [](thread_communicator& comm) { all_reduce(comm, 1, std::plus<>{}); }));
  setenv("COLLIGO_STRICT", "1", 1);
  CHECK_THROWS_WITH(run_threads(3, [](thread_communicator&) {}),
                    Contains("COLLIGO_CHECK=perhaps") && Contains("0 and 1"));
  unsetenv("COLLIGO_STRICT");
}

TEST_CASE("calls that differ in what is not shown are told apart") {
  constexpr std::size_t p = 40;
  CHECK_THROWS_WITH(run_threads(p, [](thread_communicator& comm) {
    std::vector<std::size_t> counts(p, 1);
    counts[p - 1] = comm.rank() == 3 ? 2 : 3;   // the same sum
    counts[p - 2] = comm.rank() == 3 ? 3 : 2;
    std::vector<int> in(counts[static_cast<std::size_t>(comm.rank())]), out(p + 3);
    all_gatherv(checked(comm), in, out, counts);
  }), Contains("rank 3 calls all_gatherv of 1, 1, ") && Contains("... int (172 bytes), ") && Contains(" [") &&
          Contains("; ranks 0-2, 4-39 call all_gatherv"));
}

TEST_CASE("of many different calls a few are named") {
  CHECK_THROWS_WITH(run_threads(20, [](thread_communicator& comm) {
    std::vector<int> values(static_cast<std::size_t>(comm.rank() / 2 * 2));
    broadcast(checked(comm), values, 0);
  }), Contains("ranks 0, 1 call broadcast of 0 int") && Contains("ranks 14, 15 call") && Contains("; and 2 more"));
}
