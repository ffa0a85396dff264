// SPDX-License-Identifier: BSL-1.0
// Trees and hosts over MPI: hand-made maps of the ranks of one machine, trees that the environment names, children in
// order of arrival.
#define BOOST_TEST_NO_MAIN
#include <boost/test/unit_test.hpp>

#include <colligo/broadcast.hpp>
#include <colligo/explain.hpp>
#include <colligo/trees.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>

#include "over_mpi.hpp"

namespace {

using namespace colligo;
using over_mpi::text;

boost::mpi::communicator fresh() { return {boost::mpi::communicator(), boost::mpi::comm_duplicate}; }

struct concatenation {
  std::string operator()(std::string const& a, std::string const& b) const { return a + b; }
};
std::string letter(int rank) { return std::string(1, static_cast<char>('a' + rank)); }
std::string letters(int p) {
  std::string all;
  for (int r = 0; r < p; ++r) all += letter(r);
  return all;
}

/// A file of rank 0's that the environment of rank 0 alone names, while it lives.
class named_file {
 public:
  named_file(std::string variable, std::string const& contents)
      : variable_(std::move(variable)), path_("tree_of_a_test." + variable_) {
    if (boost::mpi::communicator().rank() != 0) return;
    std::ofstream(path_) << contents;
    setenv(variable_.c_str(), path_.c_str(), 1);
  }
  ~named_file() {
    if (boost::mpi::communicator().rank() != 0) return;
    std::remove(path_.c_str());
    unsetenv(variable_.c_str());
  }
  named_file(named_file const&) = delete;
  named_file& operator=(named_file const&) = delete;

  std::string const& path() const { return path_; }

 private:
  std::string variable_, path_;
};

/// Everybody reports to rank 0, the last rank first: not in order, so that a result shows who made it.
std::string backwards(int p) {
  std::string file = "# from the last to the first\n0:";
  for (int r = p - 1; r > 0; --r) file += ' ' + std::to_string(r);
  return file;
}
std::string letters_backwards(int p) {
  std::string all = "a";
  for (int r = p - 1; r > 0; --r) all += letter(r);
  return all;
}

template <class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (colligo::error const& e) {
    return e.what();
  }
  return "accepted";
}

template <class Tag>
void conforms(boost::mpi::communicator const& world, Tag const& tag, std::string const& what) {
  int const p = world.size(), me = world.rank();
  auto const sorted = [](std::string s) { return std::ranges::sort(s), s; };
  for (std::size_t const n : {0u, 1u, 7u, 1000u, 100000u}) {
    std::vector<int> in(n), out(n), expected(n);
    for (std::size_t i = 0; i < n; ++i) {
      in[i] = me * 17 + static_cast<int>(i);
      expected[i] = 17 * p * (p - 1) / 2 + p * static_cast<int>(i);
    }
    colligo::all_reduce(world, in, out, std::plus<>{}, tag);
    BOOST_CHECK_MESSAGE(out == expected, what << ": all_reduce, n = " << n);
    colligo::all_reduce(world, in_place(in), std::plus<>{}, tag);
    BOOST_CHECK_MESSAGE(in == expected, what << ": all_reduce in place, n = " << n);
  }
  auto const combined = colligo::all_reduce(world, letter(me), as_commutative(concatenation{}), tag);
  BOOST_CHECK_MESSAGE(sorted(combined) == letters(p), what << ": letters");
  for (int root = 0; root < p; ++root) {
    if constexpr (offers<Tag, collective::reduce, int, std::plus<>>) {
      int const sum = colligo::reduce(world, me, std::plus<>{}, root, tag);
      BOOST_CHECK_MESSAGE(me != root || sum == p * (p - 1) / 2, what << ": reduce to " << root);
    }
    if constexpr (offers<Tag, collective::broadcast, std::string, std::plus<>>) {
      std::vector<std::string> both{letter(me)};
      colligo::broadcast(world, both, root, tag);
      BOOST_CHECK_MESSAGE(both[0] == letter(root), what << ": broadcast from " << root);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(hand_made_maps_of_hosts) {
  boost::mpi::communicator const world;
  int const p = world.size();
  auto const map = [p](auto host) {
    std::vector<int> hosts;
    for (int r = 0; r < p; ++r) hosts.push_back(host(r));
    return hosts;
  };
  for (auto const& hosts :
       {map([](int r) { return r / 2; }), map([](int r) { return r % 2; }), map([p](int r) { return r * 2 > p; }),
        map([](int r) { return r; }), map([](int) { return 0; })}) {
    conforms(world, hierarchical<>{.hosts = hosts}, "hierarchical");
    conforms(world, multi_leader<>{.hosts = hosts}, "multi_leader");
    conforms(world, hierarchical<halving_doubling, ring>{.hosts = hosts}, "hierarchical of other parts");
    conforms(world, multi_leader<circulant, recursive_doubling>{.hosts = hosts}, "multi_leader of other parts");
    conforms(world, configured{trees::by_host(hosts)}, "by_host");
    auto const two_groups = trees::by_host(hosts, {.within = trees::flat, .groups = 2, .root = p - 1});
    conforms(world, configured{two_groups, trees::lam_broadcast(p)}, "two groups, another way back");
    auto const flat = trees::by_host(hosts, {.within = trees::flat, .between = trees::flat});
    conforms(world, configured{flat, {}, true}, "order of arrival");
  }
}

BOOST_AUTO_TEST_CASE(the_ranks_of_one_machine_are_one_host) {
  boost::mpi::communicator const world;
  BOOST_CHECK(trees::by_host(world) == trees::binomial(world.size()));
  BOOST_CHECK(trees::by_host(mpi_communicator(world), {.within = trees::flat, .root = world.size() - 1}).root() ==
              world.size() - 1);
}

BOOST_AUTO_TEST_CASE(the_environment_remaps_automatic_calls) {
  int const p = boost::mpi::communicator().size(), me = boost::mpi::communicator().rank();
  auto const op = as_commutative(concatenation{});
  {
    named_file const file("COLLIGO_TREE", backwards(p));
    boost::mpi::communicator const world = fresh();
    BOOST_CHECK_EQUAL(colligo::all_reduce(world, letter(me), op), letters_backwards(p));
    std::string const at_root = colligo::reduce(world, letter(me), op, p - 1);
    if (me == p - 1) BOOST_CHECK_EQUAL(at_root, letters_backwards(p));
    BOOST_CHECK_EQUAL(colligo::all_reduce(world, letter(me), op, named("configured")), letters_backwards(p));
    BOOST_CHECK_EQUAL(colligo::all_reduce(world, letter(me), op, configured{}), letters_backwards(p));
    BOOST_CHECK_EQUAL(colligo::all_reduce(world, letter(me), op, binary_tree{}), letters(p));
    BOOST_CHECK_EQUAL(colligo::all_reduce(world, letter(me), op, configured{trees::chain(p)}), letters(p));
    BOOST_CHECK_EQUAL(colligo::all_reduce(world, letter(me), concatenation{}), letters(p));   // an override, not taken
    auto const by_order = [&] { colligo::all_reduce(world, letter(me), concatenation{}, named("configured")); };
    if (p > 2) BOOST_CHECK(message_of(by_order).find("configured reorders operands") != std::string::npos);
    if (me == 0) std::ofstream(file.path()) << "nonsense";   // read already
    BOOST_CHECK_EQUAL(colligo::all_reduce(world, letter(me), op), letters_backwards(p));
    setenv("COLLIGO_ALL_REDUCE", "binary_tree", 1);
    boost::mpi::communicator const other = fresh();
    BOOST_CHECK_EQUAL(colligo::all_reduce(other, letter(me), op), letters(p));   // more specific
    unsetenv("COLLIGO_ALL_REDUCE");
  }
  {
    named_file const up("COLLIGO_REDUCE_TREE", backwards(p)), nonsense("COLLIGO_TREE", "nonsense");
    boost::mpi::communicator const world = fresh();
    std::string const at_root = colligo::reduce(world, letter(me), op, 0);
    if (me == 0) BOOST_CHECK_EQUAL(at_root, letters_backwards(p));
    std::vector<int> both{me};
    auto const by_nonsense = [&] { colligo::broadcast(world, both, 0, named("configured")); };
    BOOST_CHECK(message_of(by_nonsense).find("COLLIGO_TREE=") != std::string::npos);
    BOOST_CHECK_EQUAL(both[0], me);
    colligo::broadcast(world, both, 0);   // an override, not taken
    BOOST_CHECK_EQUAL(both[0], 0);
  }
  named_file const down("COLLIGO_BROADCAST_TREE", backwards(p));
  boost::mpi::communicator const world = fresh();
  std::vector<std::string> both{letter(me)};
  colligo::broadcast(world, both, p - 1);
  BOOST_CHECK_EQUAL(both[0], letter(p - 1));
  // Up as the communicator knows.
  BOOST_CHECK_EQUAL(colligo::all_reduce(world, letter(me), concatenation{}), letters(p));
}

BOOST_AUTO_TEST_CASE(a_file_that_is_no_tree_over_the_ranks_is_refused_on_all_of_them_with_line_and_reason) {
  int const p = boost::mpi::communicator().size(), me = boost::mpi::communicator().rank();
  if (me == 0) setenv("COLLIGO_STRICT", "1", 1);
  auto const refused = [&](std::string const& contents, std::string const& reason) {
    named_file const file("COLLIGO_TREE", contents);
    boost::mpi::communicator const world = fresh();
    std::vector<int> const in{me};
    std::vector<int> out{-7};
    for (int again = 0; again < 2; ++again) {
      auto const message = message_of([&] { colligo::all_reduce(world, in, out, std::plus<>{}); });
      auto const expected = text("colligo: all_reduce on rank ", me, " of ", p, ": COLLIGO_TREE=", file.path(), reason);
      BOOST_CHECK_MESSAGE(message.starts_with(expected), message << "\n  instead of\n" << expected);
    }
    BOOST_CHECK_EQUAL(out[0], -7);
    BOOST_CHECK_EQUAL(colligo::all_reduce(world, 1, std::plus<>{}, binary_tree{}), p);
  };
  refused("# nothing", ":1: rank 0 is not in the tree");
  refused("0:\n\n0:", ":3: rank 0 has a line already, line 1");
  refused(backwards(p + 1), text(":2: \"", p, "\" is out of range"));
  refused("0: one", ":1: \"one\" is not a rank");
  if (me == 0) setenv("COLLIGO_TREE", "no_such_file", 1);
  boost::mpi::communicator const world = fresh();
  auto const call = [&] { colligo::all_reduce(world, 1, std::plus<>{}); };
  BOOST_CHECK(message_of(call).ends_with("COLLIGO_TREE=no_such_file: cannot be opened"));
  if (me == 0) unsetenv("COLLIGO_TREE"), unsetenv("COLLIGO_STRICT");
}

// Rank 0's table holds, whatever the others' environment says.
BOOST_AUTO_TEST_CASE(a_table_of_rank_0_decides_on_all_ranks) {
  int const p = boost::mpi::communicator().size(), me = boost::mpi::communicator().rank();
  if (p == 1) return;
  if (me == p - 1) setenv("COLLIGO_TABLE", "no_such_file", 1), setenv("COLLIGO_READ_MEMORY", "nonsense", 1);
  auto const rows = [p](char const* algorithm) {
    return text("all_reduce any any ", p, " 8 vendor\nall_reduce any any ", p, " 64k ", algorithm, '\n');
  };
  auto const took = [](boost::mpi::communicator const& world, std::size_t n) {
    std::vector<double> const in(n, 1);
    std::vector<double> out(n);
    colligo::all_reduce(world, in, out, std::plus<>{});
    BOOST_CHECK(out == std::vector<double>(n, world.size()));
    return latest_choice(world, collective::all_reduce);
  };
  if (me == 0) setenv("COLLIGO_READ_MEMORY", "768k", 1);   // for what the ring of shared memory is too short for
  {
    named_file const file("COLLIGO_TABLE", rows("ring@messages"));
    boost::mpi::communicator const world = fresh();
    for (int again = 0; again < 2; ++again) {
      BOOST_CHECK_EQUAL(took(world, 1), "vendor");
      BOOST_CHECK_EQUAL(took(world, 8000), "ring@messages");
      BOOST_CHECK_EQUAL(took(world, 1), "vendor");
      BOOST_CHECK(took(world, 1 << 19) != "ring@messages");
    }
  }
  if (me == 0) setenv("COLLIGO_STRICT", "1", 1);
  {
    named_file const file("COLLIGO_TABLE", rows("rings"));
    boost::mpi::communicator const world = fresh();
    auto const message = message_of([&] { colligo::all_reduce(world, 1, std::plus<>{}); });
    auto const expected =
        text("colligo: all_reduce on rank ", me, " of ", p, ": COLLIGO_TABLE=", file.path(), ":2: no algorithm");
    BOOST_CHECK_MESSAGE(message.starts_with(expected), message << "\n  instead of\n" << expected);
  }
  for (char const* each : {"COLLIGO_STRICT", "COLLIGO_TABLE", "COLLIGO_READ_MEMORY"}) unsetenv(each);
}

// Rank 1, the first child, joins in only after rank 0 has combined what the others sent; if rank 0 waited for it the
// test would not end well.
BOOST_AUTO_TEST_CASE(in_order_of_arrival_a_late_first_child_does_not_hold_up_the_others) {
  boost::mpi::communicator const world;
  int const p = world.size(), me = world.rank();
  std::vector<int> combined;
  auto const op = as_commutative([&](int const& a, int const& b) {
    combined.push_back(b);
    if (static_cast<int>(combined.size()) == p - 2) world.send(1, 0);
    return a + b;
  });
  bool came = p < 3 || me != 1;
  double const abandon_call = MPI_Wtime() + 20;
  while (!came && MPI_Wtime() < abandon_call) came = world.iprobe(0, 0).has_value();
  BOOST_CHECK_MESSAGE(came, "rank 0 waits for its first child before it combines the others");
  int const sum = colligo::reduce(world, 1 << me, op, 0, configured{trees::flat(p), {}, true});
  if (me == 1 && p > 2) world.recv(0, 0);
  if (me != 0) return;
  BOOST_CHECK_EQUAL(sum, (1 << p) - 1);
  BOOST_CHECK_EQUAL(combined.size(), static_cast<std::size_t>(p - 1));
  if (p > 1) BOOST_CHECK_EQUAL(combined.back(), 2);
}

BOOST_AUTO_TEST_CASE(order_of_arrival_asks_for_a_functor_that_commutes) {
  boost::mpi::communicator const world;
  configured const by_arrival{trees::flat(world.size()), {}, true};
  auto const unknown = [](int const& a, int const& b) { return a + b; };
  auto const by_tag = [&] { colligo::reduce(world, 1, unknown, 0, by_arrival); };
  auto const by_name = [&] { colligo::all_reduce(world, 1, unknown, named("configured:arrival=1")); };
  BOOST_CHECK(message_of(by_tag).find("reorders operands") != std::string::npos);
  BOOST_CHECK(message_of(by_name).find("reorders operands") != std::string::npos);
  BOOST_CHECK_EQUAL(colligo::all_reduce(world, 1, as_commutative(unknown), by_arrival), world.size());
}

BOOST_AUTO_TEST_CASE(a_functor_that_throws_while_others_arrive_leaves_the_communicator_usable) {
  boost::mpi::communicator const world;
  int const p = world.size();
  configured const by_arrival{trees::flat(p), {}, true};
  auto const op = as_commutative([](int const&, int const&) -> int { throw std::runtime_error("no sum today"); });
  if (p > 1 && world.rank() == 0) BOOST_CHECK_THROW(colligo::reduce(world, 1, op, 0, by_arrival), std::runtime_error);
  else colligo::reduce(world, 1, op, 0, by_arrival);
  for (int i = 1; i < 4; ++i) BOOST_CHECK_EQUAL(colligo::all_reduce(world, i, std::plus<>{}, by_arrival), i * p);
}
