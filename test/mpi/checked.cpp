// SPDX-License-Identifier: BSL-1.0
// Checked mode over MPI: decided by rank 0 for all, or for one communicator; and shared memory that is asked for.
#define BOOST_TEST_NO_MAIN
#include <boost/test/unit_test.hpp>

#include <cstdlib>

#include "../checked_calls.hpp"
#include "over_mpi.hpp"

namespace {

using boost::mpi::communicator;

/// A variable of the environment on this rank while it lives.
class variable {
 public:
  variable(char const* name, char const* value, bool here = true) : name_(name) {
    if (here) setenv(name, value, 1);
  }
  ~variable() { unsetenv(name_); }
  variable(variable const&) = delete;
  variable& operator=(variable const&) = delete;

 private:
  char const* name_;
};

/// A communicator that the library has not met.
communicator fresh() { return {communicator(), boost::mpi::comm_duplicate}; }

void see(bool right, std::string const& what) { BOOST_CHECK_MESSAGE(right, what); }

/// All ranks throw an Error with the same message, which has these words.
template <class Error, class Call>
void all_throw(communicator const& comm, Call call, std::vector<std::string> const& words) {
  std::string text = "nothing was thrown";
  bool right = false;
  try {
    call();
  } catch (Error const& e) {
    right = true;
    text = e.what();
  }
  auto const texts = over_mpi::gathered(comm, std::vector{checked_calls::on_a_sheet(text)});
  see(right && std::ranges::all_of(texts, [&](auto const& each) { return each[0].text.data() == text; }), text);
  for (auto const& word : words) see(text.find(word) != text.npos, text + "\n lacks " + word);
}

void expect_sum(communicator const& comm) {
  BOOST_CHECK_EQUAL(colligo::all_reduce(comm, comm.rank() + 1, std::plus<>{}), comm.size() * (comm.size() + 1) / 2);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(checked_mode)

BOOST_AUTO_TEST_CASE(rank_0_decides_for_all) {
  communicator const comm = fresh();
  {
    variable const on("COLLIGO_CHECK", "1", comm.rank() == 0);
    expect_sum(comm);
  }
  checked_calls::try_all(comm, see);
}

BOOST_AUTO_TEST_CASE(one_communicator_is_checked) {
  communicator const comm = fresh();
  checked_calls::try_all(colligo::checked(comm), see);
  checked_calls::try_all(colligo::checked(colligo::mpi_communicator(comm)), see);
  expect_sum(comm);
}

BOOST_AUTO_TEST_CASE(the_first_call_of_all_may_be_the_one_that_differs) {
  for (char const* memory : {"on", "off"}) {
    variable const shared("COLLIGO_SHARED_MEMORY", memory);
    communicator const comm = fresh();
    if (comm.size() == 1) return;
    auto const call = [&] {
      auto const checked = colligo::checked(comm);
      std::vector<std::string> words(3);
      std::vector<double> values(3);
      if (comm.rank() == 0) colligo::broadcast(checked, words, 0, colligo::binary_tree{});
      else colligo::all_reduce(checked, colligo::in_place(values), std::plus<>{});
    };
    all_throw<colligo::mismatch_error>(
        comm, call, {"rank 0 calls broadcast of 1 number of std::", " all_reduce of 3 double"});
    expect_sum(comm);
    // Or the one that a rank refuses before it has asked for memory.
    communicator const other = fresh();
    auto const checked = colligo::checked(other);
    if (comm.rank() == 0) BOOST_CHECK_THROW(colligo::reduce(checked, 1, std::plus<>{}, -1), colligo::argument_error);
    else BOOST_CHECK_THROW(colligo::reduce(checked, 1, std::plus<>{}, 0), colligo::mismatch_error);
    expect_sum(other);
  }
}

BOOST_AUTO_TEST_CASE(vendor_is_compared_too) {
  communicator const comm = fresh();
  if (comm.size() == 1) return;
  std::vector<double> in(3, 1), out(3, 77);
  auto const call = [&] {
    bool const other = comm.rank() == comm.size() - 1;
    colligo::all_reduce(colligo::checked(comm), in, out, std::plus<>{}, colligo::named(other ? "vendor" : "ring"));
  };
  all_throw<colligo::mismatch_error>(comm, call, {"calls all_reduce of 3 double (24 bytes), vendor, ", ", ring, "});
  BOOST_CHECK(out == std::vector<double>(3, 77));
}

BOOST_AUTO_TEST_CASE(other_values_are_refused_by_all_where_rank_0_is_strict) {
  communicator const comm = fresh(), other = fresh();
  variable const wrong("COLLIGO_CHECK", "perhaps", comm.rank() == 0);
  expect_sum(other);
  variable const strict("COLLIGO_STRICT", "1", comm.rank() == 0);
  all_throw<colligo::argument_error>(comm, [&] { expect_sum(comm); }, {"COLLIGO_CHECK=perhaps", "0 and 1"});
}

// What comes before a call, such as an agreement on its longest block, is alike on all ranks, whatever one has set.
BOOST_AUTO_TEST_CASE(variables_of_one_rank_or_of_all_leave_every_call_right) {
  int const p = communicator().size(), me = communicator().rank();
  struct setting { char const *name, *value; };
  constexpr setting settings[] = {
      {"COLLIGO_EXPLAIN", "1"}, {"COLLIGO_CHECK", "1"}, {"COLLIGO_ADAPTIVE", "1"}, {"COLLIGO_STRICT", "1"},
      {"COLLIGO_PATIENCE", "60s"}, {"COLLIGO_SUM", "exact"}, {"COLLIGO_BITS", "stable"}, {"COLLIGO_LEVELS", "2x4x8"},
      {"COLLIGO_NETWORK", "30us,1.25GB/s"}, {"COLLIGO_LATENCIES", "25ns,110ns,220ns"}, {"COLLIGO_STORES", "streaming"},
      {"COLLIGO_LINES", "0"}, {"COLLIGO_CHUNKS", "18446744073709551615"}, {"COLLIGO_READ_MEMORY", "16"},
      {"COLLIGO_SHARED_MEMORY", "off"}, {"COLLIGO_TREE", "no_such_file"}, {"COLLIGO_TABLE", "no_such_file"},
      {"COLLIGO_ALL_REDUCE", "vendor"}, {"COLLIGO_ALL_TO_ALL_V", "padded_bruck:longest=1"}};
  bool const many = p > 8;   // then what the rules do for many ranks over messages, for time's sake
  for (char const* const memory : {"off", "on"})
    for (auto const& [name, value] : settings)
      for (int const only : {0, p - 1, -1}) {   // -1: all ranks
        if (many && (only != 0 || memory == std::string_view("on"))) continue;
        variable const shared("COLLIGO_SHARED_MEMORY", memory), asked(name, value, only == me || only == -1);
        checked_calls::agree(fresh(), [&, only = only, name = name](bool right, std::string const& what) {
          see(right, std::string(name) + " on " + (only < 0 ? "all" : std::to_string(only)) + ": " + what);
        });
      }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(memory_that_is_asked_for)

BOOST_AUTO_TEST_CASE(required_and_not_had_is_an_error_on_all_ranks) {
  communicator const comm = fresh();
  if (comm.size() == 1) return;
  {
    variable const required("COLLIGO_SHARED_MEMORY", comm.rank() == comm.size() - 1 ? "off" : "required");
    std::vector<double> in(3, 1), out(3, 77);
    for (int i = 0; i < 2; ++i) {
      all_throw<colligo::error>(comm, [&] { colligo::all_reduce(comm, in, out, std::plus<>{}); },
                                {"COLLIGO_SHARED_MEMORY=required", "off on rank"});
      all_throw<colligo::error>(comm, [&] { colligo::all_reduce(colligo::checked(comm), in, out, std::plus<>{}); },
                                {"COLLIGO_SHARED_MEMORY=required", "off on rank"});
      BOOST_CHECK(out == std::vector<double>(3, 77));
    }
  }
  all_throw<colligo::error>(comm, [&] { expect_sum(comm); }, {"required"});   // kept with the communicator
  colligo::barrier(comm, colligo::over_messages{colligo::dissemination{}});
  expect_sum(fresh());
}

BOOST_AUTO_TEST_CASE(required_and_had_is_nothing_special) {
  communicator const comm = fresh();
  variable const required("COLLIGO_SHARED_MEMORY", "required");
  expect_sum(comm);
  expect_sum(comm.split(comm.rank()));
}

BOOST_AUTO_TEST_CASE(elements_that_are_too_large_are_refused_where_memory_is_required) {
  communicator const comm = fresh();
  if (comm.size() == 1) return;
  struct large { std::array<char, 300000> bytes; };
  variable const required("COLLIGO_SHARED_MEMORY", "required");
  std::vector<large> both(1);
  auto const call = [&] { colligo::broadcast(colligo::checked(comm), both, 0); };
  all_throw<colligo::argument_error>(comm, call, {"elements of 300000 bytes are too large"});
  expect_sum(comm);
}

BOOST_AUTO_TEST_CASE(an_unknown_value_of_any_rank_is_refused_by_all_where_that_is_strict) {
  communicator const comm = fresh(), other = fresh();
  variable const wrong("COLLIGO_SHARED_MEMORY", "perhaps", comm.rank() == comm.size() - 1);
  if (comm.size() == 1) return;
  expect_sum(other);
  BOOST_CHECK_EQUAL(colligo::all_reduce(other, 1, std::plus<>{}, colligo::shared_memory{}), other.size());
  {
    communicator const third = fresh();
    variable const neither("COLLIGO_STRICT", "maybe", comm.rank() == comm.size() - 1);   // counts as not set
    expect_sum(third);
  }
  variable const strict("COLLIGO_STRICT", "1", comm.rank() == comm.size() - 1);
  for (int i = 0; i < 2; ++i)
    all_throw<colligo::argument_error>(comm, [&] { expect_sum(comm); },
                                       {"COLLIGO_SHARED_MEMORY=perhaps", "on, off, required"});
}

BOOST_AUTO_TEST_SUITE_END()
