// SPDX-License-Identifier: BSL-1.0
// Functors with a state, with a call operator that is not const, plain functions, and functors that throw.
#define BOOST_TEST_NO_MAIN
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <colligo/colligo.hpp>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>

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

enum class thrown { nothing, by_the_functor, failed_elsewhere };

template <class Call>
thrown what_is_thrown(Call call) {
  try {
    call();
  } catch (thrown_by_the_functor const& e) {
    BOOST_CHECK_EQUAL(e.what(), "no sum today");
    return thrown::by_the_functor;
  } catch (colligo::failed_elsewhere const&) {
    return thrown::failed_elsewhere;
  }
  return thrown::nothing;
}
template <class Call>
bool throws_from_the_functor(Call call) { return what_is_thrown(call) == thrown::by_the_functor; }

/// Counts calls of a rank's functor, which throws in one of them; 0: in none.
struct fuse {
  int calls = 0, blows_at = 0;
  bool blown() const { return blows_at != 0 && calls >= blows_at; }
};
struct sum_with_fuse {
  fuse* lit;
  template <class T>
  T operator()(T const& a, T const& b) const {
    if (++lit->calls == lit->blows_at) throw thrown_by_the_functor("no sum today");
    return a + b;
  }
};

template <class T>
std::vector<T> values(int rank, std::size_t count) {
  std::vector<T> all(count);
  for (std::size_t i = 0; i < count; ++i)
    if constexpr (std::is_same_v<T, int>) all[i] = rank * 31 + static_cast<int>(i % 17) + 5;
    else all[i] = {static_cast<char>('a' + rank), static_cast<char>('0' + i % 10)};
  return all;
}

/// In which of a functor's calls it throws: in each, or in the first and one in the middle if there are many.
std::vector<int> turns(int calls) {
  std::vector<int> all(static_cast<std::size_t>(calls));
  std::iota(all.begin(), all.end(), 1);
  if (calls > 40) all = {1, calls / 2};
  return all;
}

/// The functors of all ranks throw, and that of each rank alone. Those ranks see their exception, others at most that
/// the call has failed elsewhere, and what is called next is right: `call` again, which gives its result, and an
/// all_reduce by `other`.
template <class Call>
void throw_in(boost::mpi::communicator const& comm, fuse& mine, std::string const& what, colligo::named const& other,
              Call call) {
  constexpr int all = -1;
  mine = {};
  auto const expected = call();
  std::vector<int> calls(static_cast<std::size_t>(comm.size()));
  MPI_Allgather(&mine.calls, 1, MPI_INT, calls.data(), 1, MPI_INT, comm);
  int const p = comm.size(), ranks_before = p * (p - 1) / 2;
  for (int who = all; who < p; ++who)
    for (int const turn : turns(who == all ? std::ranges::max(calls) : calls[static_cast<std::size_t>(who)])) {
      mine = {0, who == all || who == comm.rank() ? turn : 0};
      thrown const seen = what_is_thrown(call);
      bool const blown = std::exchange(mine, {}).blown(), alone = who == comm.rank();
      auto const when = text(what, ": thrown by ", who == all ? "all" : text("rank ", who), " in call ", turn);
      BOOST_CHECK_MESSAGE((seen == thrown::by_the_functor) == blown,
                          when << (blown ? ", and lost" : ", and by others"));
      BOOST_CHECK_MESSAGE(seen != thrown::failed_elsewhere || !alone, when << ", and nowhere else");
      BOOST_CHECK_MESSAGE(call() == expected, when << ", the next call is wrong");
      std::vector<int> const in{comm.rank(), turn};
      std::vector<int> out(2);
      colligo::all_reduce(comm, in, out, std::plus<>{}, other);
      BOOST_CHECK_MESSAGE((out == std::vector{ranks_before, p * turn}), when << ", the next all_reduce is wrong");
    }
}

template <collective C>
using form = std::integral_constant<collective, C>;

/// All reductions by all algorithms that take the functor, waited for and as requests.
template <class T, class Op>
void throw_everywhere(fuse& mine, Op op, std::size_t count, std::string const& way) {
  boost::mpi::communicator const world, comm(world, boost::mpi::comm_duplicate);
  int const root = comm.size() / 2;
  auto const in = values<T>(comm.rank(), count * static_cast<std::size_t>(comm.size()));
  std::span const block(in.data(), count);
  auto const by_all = [&]<collective C>(form<C>, std::size_t result, auto call, auto start) {
    over_mpi::for_each_that_takes<C, T, Op>([&]<class Tag>(Tag) {
      if constexpr (!std::is_same_v<Tag, colligo::vendor>) {
        colligo::named const by(std::string(Tag::name) + way), direct("direct" + way);
        auto const what = text(name_of(C), " by ", by.text(), ", n = ", count);
        throw_in(comm, mine, what, direct, [&] {
          std::vector<T> out(result);
          call(out, by);
          return out;
        });
        throw_in(comm, mine, "i" + what, direct, [&] {
          std::vector<T> out(result);
          start(out, by).wait();
          return out;
        });
      }
    });
  };
  by_all(form<collective::all_reduce>{}, count,
         [&](auto& out, auto by) { colligo::all_reduce(comm, block, out, op, by); },
         [&](auto& out, auto by) { return colligo::iall_reduce(comm, block, out, op, by); });
  by_all(form<collective::reduce>{}, comm.rank() == root ? count : 0,
         [&](auto& out, auto by) { colligo::reduce(comm, block, out, op, root, by); },
         [&](auto& out, auto by) { return colligo::ireduce(comm, block, out, op, root, by); });
  by_all(form<collective::scan>{}, count,
         [&](auto& out, auto by) { colligo::scan(comm, block, out, op, by); },
         [&](auto& out, auto by) { return colligo::iscan(comm, block, out, op, by); });
  by_all(form<collective::reduce_scatter_block>{}, count,
         [&](auto& out, auto by) { colligo::reduce_scatter_block(comm, in, out, op, by); },
         [&](auto& out, auto by) { return colligo::ireduce_scatter_block(comm, in, out, op, by); });
}

}  // namespace

namespace {

/// all_reduce of one value a rank by vendor is what the functor gives in the order of ranks, bit by bit but for the
/// sign and the bits of a NaN.
template <class T, class Op>
void vendor_means(Op op, std::deque<T> const& of_ranks, std::string const& what) {
  boost::mpi::communicator const world;
  auto const p = static_cast<std::size_t>(world.size());
  for (std::size_t shift = 0; shift < of_ranks.size(); ++shift) {
    auto const of_rank = [&](std::size_t r) { return of_ranks[(r + shift) % of_ranks.size()]; };
    T expected = of_rank(0);
    for (std::size_t r = 1; r < p; ++r) expected = static_cast<T>(op(expected, of_rank(r)));
    std::array<T, 40> in, out;   // Open MPI's AVX takes 32 at once
    in.fill(of_rank(static_cast<std::size_t>(world.rank())));
    auto const same = [](T const& a, T const& b) { return a == b || (a != a && b != b); };
    auto const check = [&](std::string const& form) {
      for (T const& x : out)
        BOOST_CHECK_MESSAGE(same(x, expected), what << form << ", shift " << shift << ", p = " << p);
    };
    colligo::all_reduce(world, in, out, op, colligo::vendor{});
    check("");
    colligo::iall_reduce(world, in, out, op, colligo::named("vendor")).wait();
    check(" as a request");
  }
}
template <class T>
void vendor_means_everything(std::deque<T> const& of_ranks, std::string const& type) {
  vendor_means<T>(colligo::maximum{}, of_ranks, "maximum of " + type);
  vendor_means<T>(colligo::minimum{}, of_ranks, "minimum of " + type);
  vendor_means<T>(colligo::maximum_or_nan{}, of_ranks, "maximum_or_nan of " + type);
  vendor_means<T>(colligo::minimum_or_nan{}, of_ranks, "minimum_or_nan of " + type);
  std::deque<colligo::located<T, int>> pairs;
  for (std::size_t i = 0; i < of_ranks.size(); ++i) pairs.push_back({of_ranks[i], 7 - static_cast<int>(i) % 3});
  vendor_means<colligo::located<T, int>>(colligo::maxloc{}, pairs, "maxloc of " + type);
  vendor_means<colligo::located<T, int>>(colligo::minloc{}, pairs, "minloc of " + type);
}
template <class T>
void vendor_means_integers(std::string const& type) {
  using limits = std::numeric_limits<T>;
  std::deque<T> const some{limits::max(), 3, limits::min(), limits::max(), 100};
  vendor_means_everything<T>(some, type);
  vendor_means<T>(std::plus<T>{}, some, "sum of " + type);
  vendor_means<T>(std::multiplies<T>{}, some, "product of " + type);
  vendor_means<T>(std::bit_xor<T>{}, some, "xor of " + type);
  vendor_means<T>(std::logical_and<>{}, some, "logical and of " + type);
  vendor_means<T>(std::logical_or<>{}, {0, 4, 0, 2, 0}, "logical or of " + type);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(functors)

BOOST_AUTO_TEST_CASE(vendor_keeps_the_meaning_of_a_functor) {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  vendor_means_everything<double>({1, nan, 9, 5, -2}, "double");
  vendor_means_everything<double>({nan, nan, -9, nan, 3}, "double");
  vendor_means_everything<float>({1, std::numeric_limits<float>::quiet_NaN(), 9, 5, -2}, "float");
  vendor_means_everything<long double>({1, std::numeric_limits<long double>::quiet_NaN(), 9, 5, -2}, "long double");
  vendor_means_integers<std::int8_t>("int8");
  vendor_means_integers<std::uint8_t>("uint8");
  vendor_means_integers<std::int16_t>("int16");
  vendor_means_integers<std::uint16_t>("uint16");
  vendor_means_integers<std::uint32_t>("uint32");
  vendor_means_integers<std::uint64_t>("uint64");
  vendor_means<bool>(std::logical_and<>{}, {true, false, true}, "and of bool");
  vendor_means<bool>(std::logical_or<>{}, {false, false, true}, "or of bool");
}

// It tries the MPI library's own, too.
BOOST_AUTO_TEST_CASE(adaptive_keeps_the_meaning_of_a_functor) {
  boost::mpi::communicator const world;
  double const nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> const in(100, world.rank() == world.size() - 1 ? nan : world.rank() + 1.0);
  std::vector<double> out(100);
  int wrong = 0;
  for (int i = 0; i < 200 && world.size() > 1; ++i) {
    colligo::all_reduce(world, in, out, colligo::minimum{}, colligo::adaptive{});
    wrong += out[99] != 1;
    colligo::all_reduce(world, in, out, colligo::maximum{}, colligo::adaptive{});
    wrong += out[99] != world.size() - 1;
  }
  BOOST_CHECK_EQUAL(wrong, 0);
}

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

// What a functor throws comes out when all messages of the call are through.
BOOST_AUTO_TEST_CASE(whoever_throws_and_when_the_others_have_a_result_or_are_told_and_later_calls_are_right) {
  fuse mine;
  sum_with_fuse const op{&mine};
  for (std::string const way : {"", "@shared_memory"}) {
    for (std::size_t const count : {1u, 5u, 2000u})   // in shared memory: lines, and a ring
      throw_everywhere<int>(mine, colligo::as_commutative(op), count, way);
    // Read where it lies, if each rank has a core.
    if (boost::mpi::communicator().size() == 2)
      throw_everywhere<int>(mine, colligo::as_commutative(op), 200000, way);
  }
  throw_everywhere<std::string>(mine, op, 5, "");
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
