// SPDX-License-Identifier: BSL-1.0
// Calls that must be refused, on every rank, before anything is written; and the environment.
#define BOOST_TEST_NO_MAIN
#include <boost/test/unit_test.hpp>

#include <boost/mpi/intercommunicator.hpp>
#include <colligo/all_gatherv.hpp>

#include <cstdlib>
#include <functional>
#include <span>

#include "over_mpi.hpp"

namespace {

using boost::mpi::communicator;
using colligo::collective;

constexpr double sentinel = -4711;
constexpr std::size_t n = 5;

/// The call throws an Error whose message has the call's name, the rank and these words. All ranks of comm are asked.
template <class Error, class Call>
void refuses(communicator const& comm, Call call, std::string const& name, std::vector<std::string> words) {
  int mine = 0, all = 0;
  std::string message = "nothing was thrown";
  try {
    call();
  } catch (colligo::error const& e) {
    message = e.what();
    mine = dynamic_cast<Error const*>(&e) != nullptr;
  }
  words.push_back(over_mpi::text(name, " on rank ", comm.rank(), " of ", comm.size()));
  for (auto const& word : words) mine = mine && message.find(word) != message.npos;
  BOOST_CHECK_MESSAGE(mine, name << " on rank " << comm.rank() << ": " << message);
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm);
  BOOST_CHECK_MESSAGE(all, name << ": not all ranks throw what they should");
}

/// Vectors for one call, and whether the output is as it was.
struct vectors {
  std::vector<double> in = std::vector<double>(n, 1), out = std::vector<double>(n, sentinel);
  ~vectors() { BOOST_CHECK(out == std::vector<double>(out.size(), sentinel)); }
};

double first(double const& a, double const&) { return a; }

/// The value of an environment variable on one rank, while it lives.
class environment {
 public:
  environment(collective c, std::string const& value, bool here)
      : environment(colligo::environment_variable(c), value, here) {}
  environment(std::string name, std::string const& value, bool here) : name_(std::move(name)) {
    if (here) setenv(name_.c_str(), value.c_str(), 1);
  }
  ~environment() { unsetenv(name_.c_str()); }
  environment(environment const&) = delete;
  environment& operator=(environment const&) = delete;

 private:
  std::string name_;
};

/// A communicator that the library has not met.
communicator fresh() { return {communicator(), boost::mpi::comm_duplicate}; }

/// The first algorithm of the catalogue that reorders operands, by name.
std::string a_reordering_one() {
  std::string name;
  colligo::for_each_algorithm([&]<class Tag>(Tag) {
    if constexpr (over_mpi::has_form<collective::all_reduce, Tag, double, std::plus<>>())
      if (!colligo::keeps_order<colligo::policy_t<collective::all_reduce, Tag, double, std::plus<>>>() && name.empty())
        name = Tag::name;
  });
  return name;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(arguments)

BOOST_AUTO_TEST_CASE(sizes_that_do_not_fit_are_refused) {
  communicator const world;
  vectors v;
  std::vector<double> const longer(n + 1, 1), shorter(n - 1, 1);
  for (auto const& in : {longer, shorter}) {
    auto const words = std::vector{over_mpi::text(n, " elements"), over_mpi::text(in.size())};
    refuses<colligo::argument_error>(
        world, [&] { colligo::all_reduce(world, in, v.out, std::plus<>{}); }, "all_reduce", words);
    auto const by_ring = [&] { colligo::all_reduce(world, in, v.out, std::plus<>{}, colligo::ring{}); };
    refuses<colligo::argument_error>(world, by_ring, "all_reduce", words);
    // Only the root has an output to be refused; the others would wait for it.
    communicator const alone = world.split(world.rank());
    refuses<colligo::argument_error>(
        alone, [&] { colligo::reduce(alone, in, v.out, std::plus<>{}, 0); }, "reduce", words);
  }
}

BOOST_AUTO_TEST_CASE(a_root_out_of_range_is_refused) {
  communicator const world;
  vectors v;
  for (int const root : {-1, world.size(), 1 << 30}) {
    auto const words = std::vector{over_mpi::text("root ", root)};
    refuses<colligo::argument_error>(
        world, [&] { colligo::reduce(world, v.in, v.out, std::plus<>{}, root); }, "reduce", words);
    auto const one_value = [&] { colligo::reduce(world, 1, std::plus<>{}, root, colligo::binary_tree{}); };
    refuses<colligo::argument_error>(world, one_value, "reduce", words);
  }
}

// On three ranks the sum, modulo 2^64, is what the output holds, and the rank's own count is right.
BOOST_AUTO_TEST_CASE(counts_whose_sum_is_too_large_are_refused) {
  communicator const world;
  if (world.size() < 3) return;
  vectors v;
  std::vector<std::size_t> counts(static_cast<std::size_t>(world.size()), std::size_t{1} << 63);
  counts[static_cast<std::size_t>(world.rank())] = n;
  for (int twice = 0; twice < 2; ++twice)
    refuses<colligo::argument_error>(world, [&] { colligo::all_gatherv(world, v.in, v.out, counts); }, "all_gatherv",
                                     {"sum of the counts"});
}

BOOST_AUTO_TEST_CASE(input_and_output_that_overlap_are_refused_and_neighbours_are_not) {
  communicator const world, alone = world.split(world.rank());
  vectors v;
  v.out.resize(2 * n, sentinel);
  for (std::size_t const shift : {std::size_t{0}, std::size_t{1}, n - 1}) {
    auto const low = std::span(v.out).subspan(0, n), high = std::span(v.out).subspan(shift, n);
    refuses<colligo::argument_error>(world, [&] { colligo::all_reduce(world, low, high, std::plus<>{}); }, "all_reduce",
                                     {"overlap"});
    auto const by_vendor = [&] { colligo::all_reduce(world, high, low, std::plus<>{}, colligo::vendor{}); };
    refuses<colligo::argument_error>(world, by_vendor, "all_reduce", {"overlap"});
    refuses<colligo::argument_error>(alone, [&] { colligo::reduce(alone, low, high, std::plus<>{}, 0); }, "reduce",
                                     {"overlap"});
  }
  std::vector<double> both(2 * n, 1);
  colligo::all_reduce(world, std::span(both).subspan(0, n), std::span(both).subspan(n), std::plus<>{});
  BOOST_CHECK_EQUAL(both[n - 1], 1);
  BOOST_CHECK_EQUAL(both[n], world.size());
}

BOOST_AUTO_TEST_CASE(an_unknown_name_is_refused_with_the_names_that_are_known) {
  communicator const world;
  vectors v;
  std::vector<std::string> of_all_reduce, of_reduce;
  colligo::for_each_algorithm([&]<class Tag>(Tag) {
    if constexpr (over_mpi::has_form<collective::all_reduce, Tag, double, std::plus<>>())
      of_all_reduce.emplace_back(Tag::name);
    if constexpr (over_mpi::has_form<collective::reduce, Tag, double, std::plus<>>()) of_reduce.emplace_back(Tag::name);
  });
  for (auto const* const name : {"no_such_algorithm", "", "rin", "ring ", "Ring", "no_such_algorithm:block=1"}) {
    colligo::named const unknown(name);
    auto const all_reduce = [&] { colligo::all_reduce(world, v.in, v.out, std::plus<>{}, unknown); };
    auto const reduce = [&] { colligo::reduce(world, v.in, v.out, std::plus<>{}, 0, unknown); };
    refuses<colligo::algorithm_error>(world, all_reduce, "all_reduce", of_all_reduce);
    refuses<colligo::algorithm_error>(world, reduce, "reduce", of_reduce);
  }
  // An algorithm, but not of this collective.
  colligo::named const no_reduce("recursive_doubling");
  auto const reduce = [&] { colligo::reduce(world, v.in, v.out, std::plus<>{}, 0, no_reduce); };
  refuses<colligo::algorithm_error>(world, reduce, "reduce", of_reduce);
  BOOST_CHECK_THROW(colligo::named(std::string(colligo::named::longest + 1, 'x')), colligo::algorithm_error);
}

BOOST_AUTO_TEST_CASE(a_knob_that_an_algorithm_does_not_have_is_refused) {
  communicator const world;
  vectors v;
  for (auto const* const knob : {"no_such_knob=1", "no_such_knob", "=", ","})
    over_mpi::for_each_that_takes<collective::all_reduce, double, std::plus<>>([&]<class Tag>(Tag) {
      colligo::named const wrong(over_mpi::text(Tag::name, ":", knob));
      auto const call = [&] { colligo::all_reduce(world, v.in, v.out, std::plus<>{}, wrong); };
      refuses<colligo::algorithm_error>(world, call, "all_reduce", {"knob", std::string(Tag::name)});
    });
}

BOOST_AUTO_TEST_CASE(an_algorithm_that_reorders_is_refused_for_a_functor_that_is_not_known_to_commute) {
  communicator const world;
  vectors v;
  using functor = decltype(&first);
  colligo::for_each_algorithm([&]<class Tag>(Tag) {
    colligo::named const name(Tag::name);
    std::vector<std::string> const words{std::string(Tag::name), "commute", "as_commutative"};
    using over_mpi::has_form, over_mpi::takes;
    if constexpr (has_form<collective::all_reduce, Tag, double, functor>() &&
                  !takes<collective::all_reduce, Tag, double, functor>())
      refuses<colligo::algorithm_error>(
          world, [&] { colligo::all_reduce(world, v.in, v.out, &first, name); }, "all_reduce", words);
    if constexpr (has_form<collective::reduce, Tag, double, functor>() &&
                  !takes<collective::reduce, Tag, double, functor>())
      refuses<colligo::algorithm_error>(
          world, [&] { colligo::reduce(world, v.in, v.out, &first, 0, name); }, "reduce", words);
  });
}

BOOST_AUTO_TEST_CASE(a_message_that_is_too_long_is_a_mismatch) {
  communicator const world, pair = world.split(world.rank() / 2);
  if (pair.size() != 2) return;
  // Ranks that disagree about n are the program's mistake; the one with the shorter vector sees it.
  std::vector<double> values(pair.rank() == 0 ? n : 2 * n, 1);
  auto const call = [&] {
    colligo::all_reduce(pair, colligo::in_place(values), std::plus<>{},
                        colligo::over_messages{colligo::recursive_doubling{}});
  };
  auto const explains = [](colligo::mismatch_error const& e) {
    return std::string(e.what()).find("of rank 1, it sends more") != std::string::npos;
  };
  if (pair.rank() == 0) BOOST_CHECK_EXCEPTION(call(), colligo::mismatch_error, explains);
  else BOOST_CHECK_THROW(call(), colligo::error);
}

BOOST_AUTO_TEST_CASE(an_intercommunicator_is_refused) {
  communicator const world;
  if (world.size() == 1) {
    BOOST_TEST_MESSAGE("skipped: one rank has no other side");
    return;
  }
  communicator const side = world.split(world.rank() % 2);
  boost::mpi::intercommunicator const both(side, 0, world, 1 - world.rank() % 2);
  communicator const as_communicator = both;
  vectors v;
  BOOST_CHECK_THROW(colligo::all_reduce(as_communicator, v.in, v.out, std::plus<>{}), colligo::argument_error);
  BOOST_CHECK_THROW(colligo::all_reduce(colligo::mpi_communicator(as_communicator), v.in, v.out, std::plus<>{}),
                    colligo::argument_error);
  BOOST_CHECK_THROW(colligo::reduce(as_communicator, v.in, v.out, std::plus<>{}, 0), colligo::argument_error);
}

BOOST_AUTO_TEST_CASE(an_empty_communicator_is_refused) {
  communicator const none(MPI_COMM_NULL, boost::mpi::comm_attach);
  vectors v;
  BOOST_CHECK_THROW(colligo::all_reduce(none, v.in, v.out, std::plus<>{}), colligo::argument_error);
  BOOST_CHECK_THROW(colligo::reduce(none, v.in, v.out, std::plus<>{}, 0), colligo::argument_error);
}

BOOST_AUTO_TEST_CASE(mpi_s_null_communicator_is_refused) {
  vectors v;
  // Boost's environment asks for error codes; MPI's own default is to end the program.
  MPI_Errhandler boost = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &boost);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  BOOST_CHECK_THROW(colligo::all_reduce(colligo::mpi_communicator(MPI_COMM_NULL), v.in, v.out, std::plus<>{}),
                    colligo::error);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, boost);
  MPI_Errhandler_free(&boost);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(environment_variables)

BOOST_AUTO_TEST_CASE(a_wrong_name_on_rank_0_alone_is_refused_by_all_ranks_if_that_is_strict) {
  environment const strict("COLLIGO_STRICT", "1", communicator().rank() == 0);
  for (bool const everywhere : {false, true}) {
    vectors v;
    communicator const comm = fresh();
    environment const variable(collective::all_reduce, "no_such_algorithm", everywhere || comm.rank() == 0);
    std::vector<std::string> const words{"COLLIGO_ALL_REDUCE=no_such_algorithm can not be used", "ring",
                                         "unset the variable"};
    refuses<colligo::argument_error>(
        comm, [&] { colligo::all_reduce(comm, v.in, v.out, std::plus<>{}); }, "all_reduce", words);
    auto const in_place = [&] { colligo::all_reduce(comm, colligo::in_place(v.out), std::plus<>{}); };
    refuses<colligo::argument_error>(comm, in_place, "all_reduce", words);
    auto const one_value = [&] { colligo::all_reduce(comm, 1.0, std::plus<>{}, colligo::automatic{}); };
    refuses<colligo::argument_error>(comm, one_value, "all_reduce", words);
  }
  vectors v;
  communicator const comm = fresh();
  environment const variable(collective::reduce, "no_such_algorithm", comm.rank() == 0);
  auto const reduce = [&] { colligo::reduce(comm, v.in, v.out, std::plus<>{}, 0); };
  refuses<colligo::argument_error>(comm, reduce, "reduce", {"COLLIGO_REDUCE=no_such_algorithm"});
}

BOOST_AUTO_TEST_CASE(the_variables_override_automatic_alone_each_in_its_collective) {
  communicator const comm = fresh();
  environment const variable(collective::all_reduce, "no_such_algorithm", true), strict("COLLIGO_STRICT", "1", true);
  BOOST_CHECK_THROW(colligo::all_reduce(comm, 1, std::plus<>{}), colligo::argument_error);
  over_mpi::for_each_that_takes<collective::all_reduce, int, std::plus<>>([&]<class Tag>(Tag tag) {
    BOOST_CHECK_EQUAL(colligo::all_reduce(comm, 1, std::plus<>{}, tag), comm.size());
    BOOST_CHECK_EQUAL(colligo::all_reduce(comm, 1, std::plus<>{}, colligo::named(Tag::name)), comm.size());
  });
  for (int root = 0; root < comm.size(); ++root) {
    int const sum = colligo::reduce(comm, 1, std::plus<>{}, root);
    BOOST_CHECK(comm.rank() != root || sum == comm.size());
  }
}

BOOST_AUTO_TEST_CASE(all_ranks_follow_rank_0_when_they_disagree) {
  communicator const world;
  {
    // Whether a functor is refused shows which algorithm was taken.
    vectors v;
    communicator const comm = fresh();
    environment const reorders(collective::all_reduce, a_reordering_one(), world.rank() == 0);
    environment const strict("COLLIGO_STRICT", "1", world.rank() == 0);
    auto const call = [&] { colligo::all_reduce(comm, v.in, v.out, &first); };
    refuses<colligo::argument_error>(comm, call, "all_reduce", {a_reordering_one(), "commute"});
    BOOST_CHECK_EQUAL(colligo::all_reduce(comm, 1, std::plus<>{}), comm.size());
  }
  {
    communicator const comm = fresh();
    environment const reorders(collective::all_reduce, a_reordering_one(), world.rank() != 0);
    environment const strict("COLLIGO_STRICT", "1", true);
    BOOST_CHECK_EQUAL(colligo::all_reduce(comm, comm.rank() + 1.0, &first), 1);
  }
}

BOOST_AUTO_TEST_CASE(every_algorithm_can_be_set_and_then_gives_the_right_answer) {
  communicator const world;
  over_mpi::for_each_that_takes<collective::all_reduce, int, std::plus<>>([&]<class Tag>(Tag) {
    communicator const comm = fresh();
    environment const variable(collective::all_reduce, std::string(Tag::name), comm.rank() == 0);
    BOOST_CHECK_EQUAL(colligo::all_reduce(comm, comm.rank(), std::plus<>{}), comm.size() * (comm.size() - 1) / 2);
  });
  over_mpi::for_each_that_takes<collective::reduce, int, std::plus<>>([&]<class Tag>(Tag) {
    communicator const comm = fresh();
    environment const variable(collective::reduce, std::string(Tag::name), comm.rank() == 0);
    int const sum = colligo::reduce(comm, comm.rank(), std::plus<>{}, comm.size() - 1);
    BOOST_CHECK(comm.rank() != comm.size() - 1 || sum == comm.size() * (comm.size() - 1) / 2);
  });
}

BOOST_AUTO_TEST_CASE(the_variables_are_read_when_a_communicator_is_first_used) {
  communicator const before = fresh(), after = fresh(), lenient = fresh();
  BOOST_CHECK_EQUAL(colligo::all_reduce(before, 1, std::plus<>{}), before.size());
  {
    environment const variable(collective::all_reduce, "no_such_algorithm", true);
    BOOST_CHECK_EQUAL(colligo::all_reduce(before, 1, std::plus<>{}), before.size());
    BOOST_CHECK_EQUAL(colligo::all_reduce(lenient, 1, std::plus<>{}), before.size());
    environment const strict("COLLIGO_STRICT", "1", true);
    BOOST_CHECK_THROW(colligo::all_reduce(after, 1, std::plus<>{}), colligo::argument_error);
  }
  BOOST_CHECK_THROW(colligo::all_reduce(after, 1, std::plus<>{}), colligo::argument_error);
}

BOOST_AUTO_TEST_SUITE_END()
