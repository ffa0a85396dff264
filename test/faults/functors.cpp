// SPDX-License-Identifier: BSL-1.0
// Functors that throw at their k-th call, for every k, on one rank and on all: a rank gets the right result or an
// error, and the next call is right.
#define BOOST_TEST_NO_MAIN
#include <boost/mpi/communicator.hpp>
#include <boost/test/unit_test.hpp>
#include <colligo/colligo.hpp>
#include <colligo/transport/threads/thread_state.hpp>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace colligo;

struct refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Sums; throws at the k-th call.
struct angry {
  int* calls_left;   // 0: never throws

  long operator()(long a, long b) const {
    if (*calls_left != 0 && --*calls_left == 0) throw refusal("no");
    return a + b;
  }
};

/// The long collectives that combine, as sums of rank + 1.
struct all_reduced {
  template <class Comm>
  static bool is_right(Comm const& comm, std::size_t n, named const& tag, int& k) {
    long const p = comm.size();
    std::vector<long> const in(n, comm.rank() + 1);
    std::vector<long> out(n, -1);
    colligo::all_reduce(comm, in, out, as_commutative(angry{&k}), tag);
    return out == std::vector<long>(n, p * (p + 1) / 2);
  }
};
struct started {
  template <class Comm>
  static bool is_right(Comm const& comm, std::size_t n, named const& tag, int& k) {
    long const p = comm.size();
    std::vector<long> const in(n, comm.rank() + 1);
    std::vector<long> out(n, -1);
    colligo::iall_reduce(comm, in, out, as_commutative(angry{&k}), tag).wait();
    return out == std::vector<long>(n, p * (p + 1) / 2);
  }
};
struct scanned {
  template <class Comm>
  static bool is_right(Comm const& comm, std::size_t n, named const& tag, int& k) {
    long const r = comm.rank();
    std::vector<long> const in(n, r + 1);
    std::vector<long> out(n, -1);
    colligo::scan(comm, in, out, angry{&k}, tag);
    return out == std::vector<long>(n, (r + 1) * (r + 2) / 2);
  }
};
struct scattered {
  template <class Comm>
  static bool is_right(Comm const& comm, std::size_t n, named const& tag, int& k) {
    long const p = comm.size();
    std::vector<std::size_t> counts(static_cast<std::size_t>(p), n);
    counts[0] = n + 2;
    std::size_t const mine = counts[static_cast<std::size_t>(comm.rank())];
    std::vector<long> const in(n * static_cast<std::size_t>(p) + 2, comm.rank() + 1);
    std::vector<long> out(mine, -1);
    colligo::reduce_scatter(comm, in, out, counts, as_commutative(angry{&k}), tag);
    return out == std::vector<long>(mine, p * (p + 1) / 2);
  }
};

/// At every k as long as there are so many calls, of long vectors at every `stride`-th.
template <class What, class Comm, class Agree, class Report>
void throw_everywhere(Comm const& comm, std::string const& name, std::size_t n, int stride, Agree agree,
                      Report report) {
  named const tag(name);
  for (int who = -1; who < comm.size(); ++who)   // -1: all
    for (int k = 1;; k += stride) {
      bool const mine = who < 0 || who == comm.rank();
      int left = mine ? k : 0;
      std::string outcome = "right";
      try {
        if (!What::is_right(comm, n, tag, left)) outcome = "wrong";
      } catch (refusal const&) {
        outcome = "refused";
      } catch (failed_elsewhere const&) {
        outcome = "failed elsewhere";
      } catch (std::exception const& e) {
        outcome = e.what();
      }
      bool const reached = mine && left == 0;
      std::string const here = name + " of " + std::to_string(n) + " on rank " +
                               std::to_string(comm.rank()) + " of " + std::to_string(comm.size()) +
                               ", the functor throws at call " + std::to_string(k) + " on rank " + std::to_string(who);
      report(outcome == (reached ? "refused" : "right") || outcome == "failed elsewhere", here + ": " + outcome);
      int none = 0;
      report(What::is_right(comm, n, tag, none), here + ": the next call is wrong");
      if (agree(reached) == 0) break;
    }
}

template <class What, class Comm, class Agree, class Report>
void with_each(Comm const& comm, Agree agree, Report report, std::initializer_list<char const*> algorithms) {
  for (std::string const algorithm : algorithms)
    for (char const* const over : {"", "@shared_memory"}) {
      throw_everywhere<What>(comm, algorithm + over, 5, 1, agree, report);
      throw_everywhere<What>(comm, algorithm + over, 3000, 2311, agree, report);
    }
}

template <class Comm, class Agree, class Report>
void try_all(Comm const& comm, Agree agree, Report report) {
  with_each<all_reduced>(comm, agree, report, {"circulant", "recursive_doubling", "ring", "direct", "binary_tree"});
  with_each<started>(comm, agree, report, {"circulant", "direct"});
  with_each<scanned>(comm, agree, report, {"recursive_doubling", "pipelined_chain"});
  with_each<scattered>(comm, agree, report, {"ring", "direct", "halving_doubling"});
}

}  // namespace

BOOST_AUTO_TEST_CASE(functors_throw_over_mpi) {
  boost::mpi::communicator const world;
  auto const agree = [&](bool mine) {
    int const one = mine;
    int all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, world);
    return all;
  };
  try_all(world, agree, [](bool right, std::string const& what) { BOOST_CHECK_MESSAGE(right, what); });
}

BOOST_AUTO_TEST_CASE(functors_throw_over_threads) {
  if (boost::mpi::communicator().size() != 1) return;
  for (int const p : {2, 3, 5})
    run_threads(p, [](thread_communicator& comm) {
      auto const agree = [&](bool mine) { return colligo::all_reduce(comm, mine ? 1 : 0, std::plus<>{}); };
      try_all(comm, agree, [](bool right, std::string const& what) {
        if (!right) throw std::runtime_error(what);
      });
    });
}
