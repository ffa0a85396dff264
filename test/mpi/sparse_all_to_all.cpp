// SPDX-License-Identifier: BSL-1.0
// sparse_all_to_all over MPI: over messages and shared memory, long messages, serialised elements that throw, what is
// refused, memory and communicators after many calls.
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <cstring>
#include <malloc.h>

#include <boost/mpi/communicator.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/barrier.hpp>
#include <colligo/environment.hpp>

#include "../exchange/digraphs.hpp"

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

/// On rank 0 it can not be written, or everywhere not be read.
struct fragile {
  int value = 0;
  bool is_written = true, is_read = true;
  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    if constexpr (Archive::is_saving::value) {
      if (!is_written) throw std::runtime_error("can not be written");
    }
    archive & value & is_written & is_read;
    if constexpr (Archive::is_loading::value) {
      if (!is_read) throw std::runtime_error("can not be read");
    }
  }
};

void try_all(boost::mpi::communicator const& comm, unsigned seeds) {
  for (char const* const way : digraphs::ways)
    for (digraphs::kind const what : digraphs::kinds)
      for (unsigned seed = 1; seed <= seeds; ++seed)
        BOOST_TEST_CONTEXT(way << ", kind " << static_cast<int>(what) << ", seed " << seed) {
          BOOST_TEST(digraphs::is_right_by<double>(comm, way, what, seed));
          BOOST_TEST(digraphs::is_right_by<std::string>(comm, way, what, seed));
        }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sparse_exchange)

BOOST_AUTO_TEST_CASE(digraphs_by_each_way) { try_all(duplicate(), 3); }
BOOST_AUTO_TEST_CASE(digraphs_over_messages) { try_all(with_variable("COLLIGO_SHARED_MEMORY", "off"), 2); }
BOOST_AUTO_TEST_CASE(digraphs_of_checked_calls) { try_all(with_variable("COLLIGO_CHECK", "1"), 1); }

// A send of a long message ends when its receiver takes it, which may be in another call.
BOOST_AUTO_TEST_CASE(long_messages_move_in_every_call) {
  auto const comm = duplicate();
  for (char const* const way : digraphs::ways) {
    int const next = (comm.rank() + 1) % comm.size(), before = (comm.rank() + comm.size() - 1) % comm.size();
    std::vector<std::pair<int, std::vector<int>>> const out{{next, std::vector<int>(1 << 20, comm.rank())}};
    auto pending = isparse_all_to_all(comm, out, named(way));
    if (comm.rank() % 2 == 0) pending.wait();
    barrier(comm);
    auto const& in = pending.wait();
    BOOST_TEST((in.sources == std::vector<int>{before}));
    BOOST_TEST((in.data == std::vector<int>(1 << 20, before)));
  }
}

BOOST_AUTO_TEST_CASE(a_serialisation_that_throws) {
  auto const comm = duplicate();
  if (comm.size() < 2) return;
  for (char const* const way : digraphs::ways) {
    std::vector<std::pair<int, std::vector<fragile>>> out{{(comm.rank() + 1) % comm.size(), {fragile{}}}};
    auto const says = [&](std::string const& words) {
      return [words](std::exception const& e) { return std::strstr(e.what(), words.c_str()) != nullptr; };
    };
    out[0].second[0].is_written = comm.rank() != 0;
    if (comm.rank() == 0)
      BOOST_CHECK_EXCEPTION(sparse_all_to_all(comm, out, named(way)), std::runtime_error, says("can not be written"));
    else
      BOOST_CHECK_EXCEPTION(sparse_all_to_all(comm, out, named(way)), failed_elsewhere,
                            says("rank 0 has refused the call: can not be written"));
    out[0].second[0].is_written = true;
    out[0].second[0].is_read = comm.rank() != 0;   // read by rank 1 alone
    if (comm.rank() == 1)
      BOOST_CHECK_EXCEPTION(sparse_all_to_all(comm, out, named(way)), std::runtime_error, says("can not be read"));
    else BOOST_TEST(sparse_all_to_all(comm, out, named(way)).size() == 1u);
    BOOST_TEST(digraphs::is_right_by<int>(comm, way, digraphs::kind::few, 5));
  }
}

BOOST_AUTO_TEST_CASE(arguments_refused_on_one_rank_with_its_reason_on_all) {
  for (auto const& comm : {duplicate(), with_variable("COLLIGO_SHARED_MEMORY", "off")})
    for (char const* const way : digraphs::ways) {
      int const last = comm.size() - 1;
      std::vector<std::pair<int, std::vector<int>>> const out{{comm.rank() == last ? comm.size() : 0, {1}}};
      std::string said;
      try {
        sparse_all_to_all(comm, out, named(way));
      } catch (argument_error const& e) {
        if (comm.rank() == last) said = e.what();
      } catch (failed_elsewhere const& e) {
        if (comm.rank() != last) said = e.what();
      }
      std::string const reason = "message 0 is for rank " + std::to_string(comm.size()) + ", ranks are 0 to ";
      BOOST_TEST(said.find(reason) != std::string::npos, way << " says " << said);
      BOOST_TEST(digraphs::is_right_by<int>(comm, way, digraphs::kind::few, 5));
    }
}

BOOST_AUTO_TEST_CASE(different_types_in_checked_mode) {
  auto const comm = duplicate();
  if (comm.size() < 2) return;
  auto const call = [&]<class T>(T value) {
    std::vector<std::pair<int, std::vector<T>>> const out{{0, {value}}};
    BOOST_CHECK_EXCEPTION(sparse_all_to_all(checked(comm), out), mismatch_error, [](mismatch_error const& e) {
      return std::strstr(e.what(), "float") != nullptr && std::strstr(e.what(), "double") != nullptr;
    });
  };
  if (comm.rank() == 0) call(1.0f);
  else call(1.0);
}

BOOST_AUTO_TEST_CASE(the_variable_pins_a_way_unless_the_program_does) {
  for (char const* const way : {"consensus", "dense", "by_host", "nonsense"}) {
    auto const comm = with_variable("COLLIGO_SPARSE_ALL_TO_ALL", way);
    auto& at = state_of<boost::mpi::communicator>::open(comm);
    detail::sparse_call const call{.at = at, .of = detail::element_of<int, detail::no_functor>, .wire = nullptr,
                                   .out = {}, .refused = nullptr, .is_request = true};
    bool const is_known = std::string_view(way) != "nonsense";
    auto const taken = detail::way_of(call, "automatic", true);
    if (is_known) BOOST_TEST(detail::sparse_ways[static_cast<std::size_t>(taken)] == way);
    BOOST_TEST((detail::way_of(call, "counters", true) == detail::sparse_way::counters));
    BOOST_TEST(digraphs::is_right_by<int>(comm, "automatic", digraphs::kind::few, 1));
  }
}

// No communicator is made, and nothing is kept that grows.
BOOST_AUTO_TEST_CASE(ten_thousand_calls_beside_others_and_the_programs_own_messages) {
  auto const comm = duplicate();
  int const next = (comm.rank() + 1) % comm.size();
  std::vector<std::pair<int, std::vector<int>>> const out{{next, {comm.rank()}}, {next, {7}}};
  std::size_t first = 0;
  int rounds = 0;
  char const* const value = std::getenv("COLLIGO_TEST_SOAK");
  int const most = value ? std::atoi(value) : 1000;
  for (; rounds < most; ++rounds) {
    auto const by = named(detail::sparse_ways[static_cast<std::size_t>(rounds) % detail::sparse_ways.size()]);
    int token = -1;
    auto const heard = comm.irecv(boost::mpi::any_source, boost::mpi::any_tag, token);   // never one of the library's
    auto pending = isparse_all_to_all(comm, out, by);
    int const sum = all_reduce(comm, 1, std::plus<>{});
    auto const in = sparse_all_to_all(comm, out, by);
    auto const& later = pending.wait();
    comm.send(next, 5, rounds);
    boost::mpi::request(heard).wait();
    if (sum != comm.size() || in.data != later.data || in.data.size() != 2 || in.data[1] != 7 || token != rounds) break;
    if (rounds == most / 10) first = mallinfo2().uordblks;
  }
  BOOST_TEST(rounds == most);
  BOOST_TEST(mallinfo2().uordblks < first + (1 << 16));
}

BOOST_AUTO_TEST_SUITE_END()
