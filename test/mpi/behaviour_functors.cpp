// SPDX-License-Identifier: BSL-1.0
// Functors with a state, with a call operator that is not const, plain functions, and functors that throw.
#define BOOST_TEST_NO_MAIN
#include <boost/test/unit_test.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <stdexcept>

#include "over_mpi.hpp"

namespace {

using colligo::collective;
using over_mpi::text;

constexpr std::size_t n = 40;   // at least one element for each rank to combine

std::vector<int> numbers(int rank) {
  std::vector<int> some(n);
  for (std::size_t i = 0; i < n; ++i) some[i] = (rank * 31 + static_cast<int>(i) * 17 + 5) % 97;
  return some;
}

/// all_reduce and reduce to every root by one algorithm: is it what the functor gives one by one?
template <class Op, class Tag>
void combines(Op op, Tag tag, std::string const& what) {
  boost::mpi::communicator const world;
  auto const in = numbers(world.rank());
  auto const expected = over_mpi::in_rank_order(world, in, op);
  if constexpr (over_mpi::takes<collective::all_reduce, Tag, int, Op>()) {
    std::vector<int> out(n);
    colligo::all_reduce(world, in, out, op, tag);
    BOOST_CHECK_MESSAGE(out == expected, what << ": all_reduce by " << Tag::name);
  }
  if constexpr (over_mpi::takes<collective::reduce, Tag, int, Op>())
    for (int root = 0; root < world.size(); ++root) {
      std::vector<int> out(n);
      colligo::reduce(world, in, out, op, root, tag);
      BOOST_CHECK_MESSAGE(world.rank() != root || out == expected,
                          what << ": reduce to " << root << " by " << Tag::name);
    }
}

template <class Op>
void all_combine(Op op, std::string const& what) {
  colligo::for_each_algorithm([&](auto tag) { combines(op, tag, what); });
}

int sum(int const& a, int const& b) { return a + b; }

struct sum_that_counts {
  int calls = 0;
  int operator()(int const& a, int const& b) { return ++calls, a + b; }
};

struct thrown_by_the_functor : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Runs a text to where a rank first combines, which is where a functor that throws ends it, and counts messages by
// peer. What a send combines is combined before the step's messages, what a fold combines after them.
class until_combined {
 public:
  until_combined(int rank, int size) : sent(static_cast<std::size_t>(size)), received(sent), rank_(rank), size_(size) {}

  int rank() const { return rank_; }
  int size() const { return size_; }
  template <class... Operands>
  void operator()(Operands... operands) { (*this)(std::array{colligo::operand(operands)...}); }
  template <colligo::operand_list List>
  void operator()(List const& list) {
    bool send_combines = false, fold_combines = false;
    auto const each = [&](auto f) {
      for (std::size_t i = 0; i < list.size(); ++i)
        if (colligo::operand const o = list[i]; !o.vanishes()) f(o);
    };
    each([&](auto const& o) { (o.sends() ? send_combines : fold_combines) |= o.combined() != 0; });
    combined = combined || send_combines;
    if (combined) return;
    each([&](auto const& o) { ++(o.sends() ? sent : received)[static_cast<std::size_t>(o.peer)]; });
    combined = fold_combines;
  }

  std::vector<int> sent, received;
  bool combined = false;

 private:
  int rank_, size_;
};

/// Every rank combines, and up to there all messages that are sent are received: if all functors throw, no rank waits
/// and nothing is left.
template <class Policy, class... Root>
bool all_can_throw(Policy const& policy, int p, Root... root) {
  std::vector<until_combined> ranks;
  for (int r = 0; r < p; ++r) policy(ranks.emplace_back(r, p), colligo::range{0, n}, root...);
  for (std::size_t a = 0; a < ranks.size(); ++a)
    for (std::size_t b = 0; b < ranks.size(); ++b)
      if (!ranks[a].combined || ranks[a].sent[b] != ranks[b].received[a]) return false;
  return true;
}

template <class Call>
bool throws_from_the_functor(Call call) {
  try {
    call();
  } catch (thrown_by_the_functor const& e) {
    return e.what() == std::string("no sum today");
  }
  return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(functors)

BOOST_AUTO_TEST_CASE(a_functor_that_captures_by_value_is_used_with_the_state_of_each_call) {
  auto const sum_modulo = [](int modulus) {
    return colligo::as_commutative([modulus](int const& a, int const& b) { return (a + b) % modulus; });
  };
  colligo::for_each_algorithm([&](auto tag) {
    for (int const modulus : {7, 11, 7}) combines(sum_modulo(modulus), tag, text("sum modulo ", modulus));
  });
}

BOOST_AUTO_TEST_CASE(a_functor_that_captures_by_reference_is_used_with_the_state_of_each_call) {
  int modulus = 0;
  auto const op = colligo::as_commutative([&modulus](int const& a, int const& b) { return (a + b) % modulus; });
  colligo::for_each_algorithm([&](auto tag) {
    for (int const m : {7, 11, 7}) modulus = m, combines(op, tag, text("sum modulo ", modulus, " by reference"));
  });
}

BOOST_AUTO_TEST_CASE(a_functor_whose_call_operator_is_not_const_is_called_itself_not_a_copy) {
  boost::mpi::communicator const world;
  auto const in = numbers(world.rank());
  all_combine(colligo::as_commutative(sum_that_counts{}), "sum that counts");
  all_combine(sum_that_counts{}, "ordered sum that counts");
  over_mpi::for_each_that_takes<collective::all_reduce, int, sum_that_counts>([&]<class Tag>(Tag tag) {
    sum_that_counts counting;
    std::vector<int> out(n);
    colligo::all_reduce(world, in, out, counting, tag);
    int calls = 0;
    MPI_Allreduce(&counting.calls, &calls, 1, MPI_INT, MPI_SUM, world);
    BOOST_CHECK_MESSAGE(calls >= (world.size() - 1) * static_cast<int>(n),
                        Tag::name << " was seen to combine " << calls << " pairs");
  });
}

BOOST_AUTO_TEST_CASE(a_function_and_a_pointer_to_it_are_functors) {
  all_combine(&sum, "pointer to a function");
  all_combine(colligo::as_commutative(&sum), "commutative pointer to a function");
  boost::mpi::communicator const world;
  auto const in = numbers(world.rank());
  std::vector<int> out(n), by_reference(n);
  colligo::all_reduce(world, in, out, std::plus<>{});
  colligo::all_reduce(world, in, by_reference, sum);
  BOOST_CHECK(out == by_reference);
  colligo::all_reduce(world, in, by_reference, sum, colligo::vendor{});
  BOOST_CHECK(out == by_reference);
}

BOOST_AUTO_TEST_CASE(what_the_functors_throw_reaches_all_callers_and_the_communicator_stays_usable) {
  boost::mpi::communicator const world;
  auto const in = numbers(world.rank());
  bool ill = false;
  auto const op = colligo::as_commutative([&ill](int const& a, int const& b) {
    if (ill) throw thrown_by_the_functor("no sum today");
    return a + b;
  });
  using functor = std::remove_const_t<decltype(op)>;
  int tried = 0;
  std::vector<int> out(n);
  auto const fails = [&](std::string_view name, auto call) {
    ++tried;
    ill = true;
    bool const thrown = throws_from_the_functor(call);
    ill = false;
    BOOST_CHECK_MESSAGE(thrown, name);
    colligo::for_each_algorithm([&](auto tag) { combines(op, tag, text("after a failure in ", name)); });
  };
  if (world.size() == 1) {
    BOOST_TEST_MESSAGE("skipped: one rank combines nothing");
    return;
  }
  over_mpi::for_each_that_takes<collective::all_reduce, int, functor>([&]<class Tag>(Tag tag) {
    if constexpr (!std::is_same_v<Tag, colligo::vendor>) {
      auto const policy = colligo::make_policy<collective::all_reduce, Tag, int, functor>(tag);
      if (all_can_throw(policy, world.size())) fails(Tag::name, [&] { colligo::all_reduce(world, in, out, op, tag); });
    }
  });
  over_mpi::for_each_that_takes<collective::reduce, int, functor>([&]<class Tag>(Tag tag) {
    if constexpr (!std::is_same_v<Tag, colligo::vendor>) {
      auto const policy = colligo::make_policy<collective::reduce, Tag, int, functor>(tag);
      if (all_can_throw(policy, world.size(), 0))
        fails(Tag::name, [&] { colligo::reduce(world, in, out, op, 0, tag); });
    }
  });
  // The pairwise exchange of the ring and the rotating ring at least, for any number of ranks.
  BOOST_CHECK_GE(tried, 3);
}

// MPI decides which ranks combine, so some may come back without an exception.
BOOST_AUTO_TEST_CASE(what_the_functors_throw_within_the_vendor_s_collective_reaches_those_who_called_them) {
  boost::mpi::communicator const world;
  auto const in = numbers(world.rank());
  std::vector<int> out(n);
  int calls = 0, all_calls = 0;
  auto const op = [&calls](int const&, int const&) -> int { throw thrown_by_the_functor((++calls, "no sum today")); };
  bool const thrown_by_all_reduce =
      throws_from_the_functor([&] { colligo::all_reduce(world, in, out, op, colligo::vendor{}); });
  BOOST_CHECK_EQUAL(thrown_by_all_reduce, calls > 0);
  int const before = calls;
  bool const thrown_by_reduce =
      throws_from_the_functor([&] { colligo::reduce(world, in, out, op, 0, colligo::vendor{}); });
  BOOST_CHECK_EQUAL(thrown_by_reduce, calls > before);
  MPI_Allreduce(&calls, &all_calls, 1, MPI_INT, MPI_SUM, world);
  BOOST_CHECK_EQUAL(all_calls >= 2, world.size() > 1);
  all_combine(colligo::as_commutative(&sum), "after a failure in vendor");
}

BOOST_AUTO_TEST_SUITE_END()
