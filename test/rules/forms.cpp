// SPDX-License-Identifier: BSL-1.0
// Every form of a call with a generic lambda, whose body is no functor on whole containers: to ask for more than
// elements would not compile. And elements of all kinds that travel as bytes.
#include <catch2/catch.hpp>

#include <boost/mpi/inplace.hpp>

#include <string>
#include <tuple>

#include "../laws.hpp"

using namespace colligo;

namespace {

auto const add = [](auto const& a, auto const& b) { return a + b; };

/// Two ranks: everybody has {1, 2} plus its rank.
std::vector<int> mine(thread_communicator& comm) { return {1 + comm.rank(), 2 + comm.rank()}; }
std::vector<int> const total{3, 5};

void holds(bool right) {
  if (!right) throw std::logic_error("a result is wrong");
}

/// No default constructor, and bytes.
struct metres {
  explicit metres(double length) : value(length) {}
  double value;
  friend metres operator+(metres a, metres b) { return metres(a.value + b.value); }
};

/// Counts what is copied on this thread.
struct counted {
  int value = 0;
  static inline thread_local int copies = 0;

  counted() = default;
  explicit counted(int n) : value(n) {}
  counted(counted const& other) : value(other.value) { ++copies; }
  counted& operator=(counted const& other) {
    value = other.value;
    ++copies;
    return *this;
  }
  friend counted operator+(counted const& a, counted const& b) { return counted(a.value + b.value); }
};

}  // namespace

TEST_CASE("every form takes a generic lambda on elements") {
  run_threads(2, [](thread_communicator& comm) {
    int const me = comm.rank();
    std::vector<int> const in = mine(comm), up_to_here = me == 0 ? in : total, before = me == 0 ? std::vector{9, 9}
                                                                                                : std::vector{10, 11};
    std::vector<int> out(2), both;
    auto const gives = [&](std::vector<int> const& expected) {
      holds(out == expected);
      out.assign(2, 0);
      both = in;
    };
    auto const stays = [&](std::vector<int> const& expected) {
      holds(both == expected);
      both = in;
    };
    both = in;

    colligo::all_reduce(comm, in, out, add), gives(total);
    colligo::all_reduce(comm, in, out, add, recursive_doubling{}), gives(total);
    colligo::iall_reduce(comm, in, out, add).wait(), gives(total);
    auto all = colligo::all_reduce_init(comm, in, out, add);
    all.start(), all.wait(), gives(total);
    colligo::all_reduce(comm, in_place(both), add), stays(total);
    colligo::iall_reduce(comm, in_place(both), add).wait(), stays(total);
    auto all_in_place = colligo::all_reduce_init(comm, in_place(both), add);
    all_in_place.start(), all_in_place.wait(), stays(total);
    colligo::all_reduce(comm, boost::mpi::inplace(both), add), stays(total);
    colligo::all_reduce(comm, boost::mpi::inplace(both.data()), 2, add), stays(total);
    colligo::all_reduce(comm, in.data(), 2, out.data(), add), gives(total);
    holds(colligo::all_reduce(comm, in[0], add) == 3);
    colligo::all_reduce(comm, in[0], out[0], add), gives({3, 0});

    auto const at_root = [&](std::vector<int> const& expected) { gives(me == 1 ? expected : std::vector{0, 0}); };
    colligo::reduce(comm, in, out, add, 1), at_root(total);
    colligo::ireduce(comm, in, out, add, 1).wait(), at_root(total);
    auto one = colligo::reduce_init(comm, in, out, add, 1);
    one.start(), one.wait(), at_root(total);
    if (me == 1) colligo::reduce(comm, in, out, add, 1);
    else colligo::reduce(comm, in, add, 1);
    at_root(total);
    if (me == 1) colligo::reduce(comm, in.data(), 2, out.data(), add, 1);
    else colligo::reduce(comm, in.data(), 2, add, 1);
    at_root(total);
    int const sum = colligo::reduce(comm, in[0], add, 1);
    holds(me != 1 || sum == 3);
    colligo::reduce(comm, in[0], out[0], add, 1), at_root({3, 0});
    colligo::reduce(comm, in_place(both), add, 1), stays(me == 1 ? total : in);
    colligo::ireduce(comm, boost::mpi::inplace(both), add, 1).wait(), stays(me == 1 ? total : in);
    auto one_in_place = colligo::reduce_init(comm, in_place(both), add, 1);
    one_in_place.start(), one_in_place.wait(), stays(me == 1 ? total : in);

    colligo::scan(comm, in, out, add), gives(up_to_here);
    colligo::iscan(comm, in, out, add).wait(), gives(up_to_here);
    auto prefix = colligo::scan_init(comm, in, out, add);
    prefix.start(), prefix.wait(), gives(up_to_here);
    colligo::scan(comm, in.data(), 2, out.data(), add), gives(up_to_here);
    holds(colligo::scan(comm, in[0], add) == up_to_here[0]);
    colligo::scan(comm, in[0], out[0], add), gives({up_to_here[0], 0});
    colligo::scan(comm, in_place(both), add), stays(up_to_here);
    colligo::iscan(comm, boost::mpi::inplace(both), add).wait(), stays(up_to_here);
    auto prefix_in_place = colligo::scan_init(comm, in_place(both), add);
    prefix_in_place.start(), prefix_in_place.wait(), stays(up_to_here);

    colligo::exclusive_scan(comm, in, out, 9, add), gives(before);
    colligo::iexclusive_scan(comm, in, out, 9, add).wait(), gives(before);
    auto others = colligo::exclusive_scan_init(comm, in, out, 9, add);
    others.start(), others.wait(), gives(before);
    colligo::exclusive_scan(comm, in_place(both), 9, add), stays(before);
    colligo::iexclusive_scan(comm, in_place(both), 9, add).wait(), stays(before);
    auto others_in_place = colligo::exclusive_scan_init(comm, in_place(both), 9, add);
    others_in_place.start(), others_in_place.wait(), stays(before);
    holds(colligo::exclusive_scan(comm, in[0], 9, add) == before[0]);
    holds(colligo::exclusive_scan(comm, in[0], add) == me);

    std::vector<int> block(1);
    auto const has_block = [&] { holds(std::exchange(block[0], 0) == total[static_cast<std::size_t>(me)]); };
    colligo::reduce_scatter(comm, in, block, std::array{1, 1}, add), has_block();
    colligo::ireduce_scatter(comm, in, block, std::array{1, 1}, add).wait(), has_block();
    auto parts = colligo::reduce_scatter_init(comm, in, block, std::array{1, 1}, add);
    parts.start(), parts.wait(), has_block();
    colligo::reduce_scatter_block(comm, in, block, add), has_block();
    colligo::ireduce_scatter_block(comm, in, block, add).wait(), has_block();
    auto even = colligo::reduce_scatter_block_init(comm, in, block, add);
    even.start(), even.wait(), has_block();
  });
}

TEST_CASE("a text, an array or a vector is one value where nothing is said of its elements") {
  run_threads(2, [](thread_communicator& comm) {
    using moments = std::array<int, 2>;
    auto const whole = [](auto const& a, auto const& b) { return moments{a[0] + b[0], a[1] + b[1]}; };
    holds(colligo::all_reduce(comm, moments{1, comm.rank()}, whole) == moments{2, 1});
    holds(colligo::scan(comm, moments{1, 1}, whole)[0] == 1 + comm.rank());
    holds(colligo::exclusive_scan(comm, moments{1, 1}, moments{5, 5}, whole)[0] == 5 + comm.rank());
    std::vector<moments> const in(3, moments{1, 1});
    std::vector<moments> out(3);
    colligo::all_reduce(comm, in, out, whole);
    holds(out == std::vector(3, moments{2, 2}));

    std::string const mine(1, comm.rank() == 0 ? 'a' : 'b');
    std::string text;
    auto const joined = [](auto const& a, auto const& b) { return a.substr(0) + b; };   // not for characters
    holds(colligo::all_reduce(comm, mine, joined) == "ab");
    colligo::all_reduce(comm, mine, text, joined);
    holds(text == "ab");
    auto const longer = [](std::vector<int> const& a, std::vector<int> const& b) {
      return a.size() < b.size() ? b : a;
    };
    holds(colligo::all_reduce(comm, std::vector<int>(comm.rank() == 0 ? 2 : 1), longer).size() == 2);
  });
}

TEST_CASE("elements without a default constructor, pairs and tuples travel as bytes") {
  static_assert(travels_as_bytes<metres>);
  using both = std::tuple<int, std::pair<char, metres>, std::array<std::tuple<float>, 2>>;
  static_assert(travels_as_bytes<both> && !std::is_trivially_copyable_v<both>);
  static_assert(!travels_as_bytes<std::tuple<int, std::string>> && elements<std::vector<std::tuple<int>>>);
  static_assert(!elements<std::vector<std::tuple<int, char const*>>> && !elements<std::vector<std::tuple<int&>>>);
  run_threads(3, [](thread_communicator& comm) {
    std::vector<metres> const in(4, metres(2));
    std::vector<metres> out(4, metres(0)), all(12, metres(0));
    colligo::reduce(comm, in, out, add, 0);
    holds(out[3].value == (comm.rank() == 0 ? 6 : 0));
    colligo::all_gather(comm, in, all);
    holds(all[11].value == 2);
    auto const last = [](both const&, both const& b) { return b; };
    both const here{comm.rank(), {'x', metres(comm.rank())}, {}};
    holds(std::get<1>(colligo::all_reduce(comm, here, last)).second.value == 2);
  });
}

TEST_CASE("the first rank of an exclusive scan copies what it sends and init, and not its input into the output") {
  run_threads(2, [](thread_communicator& comm) {
    std::vector<counted> const in(100, counted(1));
    std::vector<counted> out(100);
    counted::copies = 0;
    colligo::exclusive_scan(comm, in, out, counted(9), add);
    holds(counted::copies == 200);
    holds(out[99].value == (comm.rank() == 0 ? 9 : 10));
  });
}
