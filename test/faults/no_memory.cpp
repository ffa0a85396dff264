// SPDX-License-Identifier: BSL-1.0
// Memory that can not be had at the k-th allocation of a call, for every k, on one rank and on all: right results or an
// error on every rank, nobody hangs, and so it is with the calls that follow.
#define BOOST_TEST_NO_MAIN
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/mpi/communicator.hpp>
#include <boost/serialization/string.hpp>
#include <boost/test/unit_test.hpp>
#include <colligo/colligo.hpp>
#include <colligo/transport/memory/arena.hpp>
#include <colligo/bootstrap/mpi_shared.hpp>
#include <colligo/exchange.hpp>
#include <colligo/sequence.hpp>
#include <colligo/sparse.hpp>
#include <colligo/transport/threads/thread_state.hpp>
#include <colligo/views.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <new>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

/// Allocations of this thread until one fails; 0: none does.
thread_local int until_failure = 0;
bool system_is_full = false;

void* taken(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void allocate() {
  if (until_failure != 0 && --until_failure == 0) throw std::bad_alloc();
}

}  // namespace

// The array and nothrow forms call these. Not inline: g++ would take free() for a mismatch of the new that it sees.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return allocate(), taken(std::malloc(bytes ? bytes : 1)); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t boundary) {
  allocate();
  auto const to = static_cast<std::size_t>(boundary);
  return taken(std::aligned_alloc(to, (bytes + to - 1) / to * to + (bytes ? 0 : to)));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

/// Stands before the system's, for what this program calls itself: memory to share.
extern "C" int fallocate(int file, int mode, off_t at, off_t bytes) {
  if (mode == 0 && system_is_full) return errno = ENOSPC, -1;
  return static_cast<int>(syscall(SYS_fallocate, file, mode, at, bytes));
}

namespace {

using namespace colligo;

enum class outcome { right, wrong, no_memory, elsewhere, no_shared_memory, other };

/// A call with the k-th of its allocations failing on this rank; 0: none. `reached`: there were as many.
template <class Call>
outcome outcome_of(int k, Call call, bool& reached, std::string& text) {
  struct end {
    ~end() { until_failure = 0; }
  };
  try {
    end const after;
    until_failure = k;
    bool const right = call();
    reached = k != 0 && until_failure == 0;
    return right ? outcome::right : outcome::wrong;
  } catch (std::bad_alloc const&) {
    reached = true;
    return outcome::no_memory;
  } catch (failed_elsewhere const& e) {
    text = e.what();
    return outcome::elsewhere;
  } catch (algorithm_error const& e) {   // it was to go through memory
    text = e.what();
    return outcome::no_shared_memory;
  } catch (std::exception const& e) {
    text = e.what();
    return outcome::other;
  }
}

template <class T>
T value(int rank, std::size_t i) {
  if constexpr (std::is_arithmetic_v<T>) return static_cast<T>(rank + 1 + static_cast<int>(i % 7));
  else return std::string(30, static_cast<char>('a' + rank % 20));   // longer than strings are without an allocation
}

/// Whether an all_reduce is right.
template <class T, class Tag, class Comm>
bool add_up(Comm const& comm, std::vector<T> const& in, std::vector<T>& out, Tag const& tag, bool as_request) {
  if (as_request) colligo::iall_reduce(comm, in, out, as_commutative(std::plus<>{}), tag).wait();
  else colligo::all_reduce(comm, in, out, as_commutative(std::plus<>{}), tag);
  if constexpr (std::is_arithmetic_v<T>) {
    for (std::size_t i = 0; i < out.size(); ++i)
      if (out[i] != static_cast<T>(comm.size() * (comm.size() + 1) / 2 + comm.size() * static_cast<int>(i % 7)))
        return false;
    return true;
  } else {
    return std::all_of(out.begin(), out.end(), [&](T const& s) {
      return s.size() == 30 * static_cast<std::size_t>(comm.size());
    });
  }
}

/// `agree(one)`: the sum over all ranks. `renew()`: a communicator that has not been used, or has been.
template <class T, class Tag, class Renew, class Agree, class Report>
void fail_everywhere(std::string const& what, Tag const& tag, std::size_t n, bool as_request, int p, Renew renew,
                     Agree agree, Report report) {
  for (int who = -1; who < (p == 2 ? 2 : 1); ++who)   // -1: all
    for (int k = 1;; ++k) {
      auto const& comm = renew();
      std::vector<T> in(n), out(n), later(n);
      for (std::size_t i = 0; i < n; ++i) in[i] = value<T>(comm.rank(), i);
      bool reached = false, never = false;
      std::string text;
      std::string const here = what + ", rank " + std::to_string(comm.rank()) + " of " + std::to_string(p) + ", k = " +
                               std::to_string(k) + " on rank " + std::to_string(who) + ": ";
      int const mine = who < 0 || who == comm.rank() ? k : 0;
      outcome const result = outcome_of(mine, [&] { return add_up(comm, in, out, tag, as_request); }, reached, text);
      report(result == outcome::right || result == outcome::elsewhere || result == outcome::no_shared_memory ||
                    (result == outcome::no_memory && mine != 0),
             here + (result == outcome::wrong ? "wrong values " : "") + text);
      int const any = agree(reached);
      for (int again = 0; again < 2; ++again) {
        outcome const then = outcome_of(0, [&] { return add_up(comm, in, later, tag, again == 1); }, never, text);
        int const right = agree(then == outcome::right);
        report(then != outcome::wrong && then != outcome::no_memory && (right == 0 || right == p),
               here + "a later call is " + (then == outcome::wrong ? "wrong " : "not the same on all ranks ") + text);
      }
      if (any == 0) break;
      if (k > 300) {
        report(false, here + "no end");
        break;
      }
    }
}

/// Every form that allocates itself, or makes several calls: calls each(name, form), where form() says whether the
/// result is right.
template <class Comm, class Each>
void forms_that_allocate(Comm const& comm, Each each) {
  using longs = std::vector<long>;
  constexpr int n = 300;
  int const p = comm.size(), me = comm.rank(), root = p - 1;
  auto const all_n = static_cast<std::size_t>(n * p);
  auto const is_from = [](long const* at, int rank) {
    return std::all_of(at, at + n, [&](long x) { return x == rank; });
  };
  auto const are_all = [&](auto const& from, int apart = 0) {   // not 0: the last rank's is first
    for (int r = 0; r < p; ++r)
      if (!is_from(from.data() + (apart ? apart * (p - 1 - r) : n * r), r)) return false;
    return true;
  };
  longs const in(n, me), to_all(all_n, me);
  longs from_root(all_n), room(all_n + static_cast<std::size_t>(p)), apart(room.size()), own(n), out;
  std::vector<int> const counts(static_cast<std::size_t>(p), n);
  std::vector<int> displs;
  for (int r = 0; r < p; ++r) displs.push_back((n + 1) * (p - 1 - r));
  for (int r = 0; r < p; ++r) {
    std::fill_n(from_root.begin() + n * r, n, r);
    std::fill_n(apart.begin() + displs[static_cast<std::size_t>(r)], n, r);
  }
  auto const emptied = [](auto& container) -> auto& {
    std::remove_cvref_t<decltype(container)>().swap(container);
    return container;
  };
  bool const at_root = me == root;
  std::vector<int> ints, indices(n);
  std::iota(indices.begin(), indices.end(), 0);
  std::vector<std::string> texts(3, value<std::string>(me, 0));
  std::string text = value<std::string>(me, 0);

  each("resized", [&] {
    if (!at_root) emptied(out);
    else out = in;
    colligo::broadcast(comm, colligo::resized(out), root);
    return out.size() == n && is_from(out.data(), root);
  });
  each("all_gatherv", [&] { return are_all(colligo::all_gatherv(comm, in).data); });
  each("all_gatherv into an empty one", [&] {
    return colligo::all_gatherv(comm, in, emptied(out), counts), are_all(out);
  });
  each("all_gatherv at displacements", [&] {
    return colligo::all_gatherv(comm, in, room.data(), counts, displs), are_all(room, n + 1);
  });
  each("gatherv", [&] {
    auto const got = colligo::gatherv(comm, in, root);
    return !at_root || are_all(got.data);
  });
  each("gatherv to a pointer", [&] {
    return colligo::gatherv(comm, in, room.data(), counts, root), !at_root || are_all(room);
  });
  each("gatherv at displacements", [&] {
    return colligo::gatherv(comm, in, room.data(), counts, displs, root), !at_root || are_all(room, n + 1);
  });
  each("scatterv", [&] {
    if (at_root) colligo::scatterv(comm, from_root, counts, own.data(), root);
    else colligo::scatterv(comm, own.data(), n, root);
    return is_from(own.data(), me);
  });
  each("scatterv at displacements", [&] {
    colligo::scatterv(comm, std::as_const(apart).data(), counts, displs, own.data(), n, root);
    return is_from(own.data(), me);
  });
  each("all_to_all_v", [&] { return are_all(colligo::all_to_all_v(comm, to_all, counts).data); });
  each("all_gather of a value", [&] {
    colligo::all_gather(comm, me, emptied(ints));
    return std::is_sorted(ints.begin(), ints.end()) && static_cast<int>(ints.size()) == p;
  });
  each("all_to_all", [&] { return colligo::all_to_all(comm, to_all, emptied(out)), are_all(out); });
  each("broadcast of strings", [&] {
    if (!at_root) emptied(texts);
    colligo::broadcast(comm, texts, root);
    return texts.size() == 3 && texts[2] == value<std::string>(root, 2);
  });
  each("broadcast of a string", [&] {
    if (!at_root) emptied(text);
    return colligo::broadcast(comm, text, root), text == value<std::string>(root, 0);
  });
  longs wide(3 * n), sums(2 * n);
  for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = me;
  auto const column = colligo::strided(wide.data(), n, 3), result = colligo::strided(sums.data(), n, 2);
  auto const are_sums = [&] { return sums[0] == p * (p - 1) / 2 && sums[2 * n - 2] == sums[0] && sums[1] == 0; };
  each("all_reduce of views", [&] { return colligo::all_reduce(comm, column, result, std::plus<>{}), are_sums(); });
  each("iall_reduce of views", [&] {
    return colligo::iall_reduce(comm, column, result, std::plus<>{}).wait(), are_sums();
  });
  each("iall_gatherv at displacements", [&] {
    return colligo::iall_gatherv(comm, in, room.data(), counts, displs).wait(), are_all(room, n + 1);
  });
  std::vector<int> const before{(me + p - 1) % p}, behind{(me + 1) % p}, lengths{n};
  each("sparse_all_to_all", [&] {
    auto const got = colligo::sparse_all_to_all(comm, behind, lengths, in);
    return got.sources == before && is_from(got.data.data(), before[0]);
  });
  each("isparse_all_to_all", [&] {
    auto pending = colligo::isparse_all_to_all(comm, behind, lengths, in, colligo::consensus{});
    auto const& got = pending.wait();
    return got.sources == before && is_from(got.data.data(), before[0]);
  });
  each("sparse_all_to_all by host", [&] {
    auto const got = colligo::sparse_all_to_all(comm, behind, lengths, in, colligo::by_host{});
    return got.sources == before && is_from(got.data.data(), before[0]);
  });
  each("discover", [&] { return colligo::discover(comm, behind).sources() == before; });
  each("neighbours", [&] { return colligo::neighbours(comm, before, behind).in_degree() == 1; });
  colligo::neighbours const ring(comm, before, behind);
  each("reduce over neighbours", [&] {
    return colligo::reduce(ring, in, own, std::plus<>{}), is_from(own.data(), before[0]);
  });
  each("ireduce of views over neighbours", [&] {
    return colligo::ireduce(ring, column, result, std::plus<>{}).wait(), sums[0] == before[0] && sums[1] == 0;
  });
  // Longer ones than before, so that there is no memory to pack them.
  auto const twice = colligo::strided(wide.data(), {2, n}, {0, 3});
  auto const often = colligo::strided(wide.data(), {9, n}, {0, 3});
  each("all_gatherv of a view", [&] { return colligo::all_gatherv(comm, twice).data.size() == 2 * all_n; });
  long total = 0;
  each("iaccumulate of a view", [&] {
    return colligo::iaccumulate(comm, often, std::plus<>{}, total).wait(), total == 9 * n * p * (p - 1) / 2;
  });
  each("dot of views", [&] { return colligo::dot(comm, column, in) == n * p * (p - 1) * (2 * p - 1) / 6; });
  each("top", [&] { return colligo::top(comm, in, 5).size() == 5; });
  each("top of many", [&] { return colligo::top(comm, to_all, 5000).size() == all_n * static_cast<std::size_t>(p); });
  each("accumulate", [&] { return colligo::accumulate(comm, in, std::plus<>{}) == n * p * (p - 1) / 2; });
  for (auto const as : {sparse_form::lists, sparse_form::blocks})
    each(as == sparse_form::lists ? "sparse lists" : "sparse blocks", [&] {
      auto const sum = colligo::all_reduce(comm, colligo::sparse(indices, in), std::plus<>{}, as);
      return sum.values.size() == n && is_from(sum.values.data(), p * (p - 1) / 2);
    });
}

/// Some ranks share memory and some do not (mixed.cpp).
bool is_mixed() { return std::getenv("COLLIGO_TEST_RANKS_PER_HOST") != nullptr; }

/// Algorithms over this communicator. A new one: all is used for the first time.
template <class Renew, class Agree, class Report>
void try_all(bool is_new, int p, Renew renew, Agree agree, Report report) {
  auto const each = [&]<class T>(T, std::string const& name, auto tag, std::size_t n, bool as_request = false) {
    std::string const what = std::string(is_new ? "first " : "later ") + name + " of " + std::to_string(n);
    fail_everywhere<T>(what, tag, n, as_request, p, renew, agree, report);
  };
  each(1L, "automatic", automatic{}, 1);
  each(1L, "ring", ring{}, 5000);
  each(1L, "direct in memory", shared_memory{{.slices = 1 << 20}}, 5000);
  each(std::string{}, "strings by recursive_doubling", recursive_doubling{}, 3);
  // Short: a rank that sends long messages to the one that has none waits for its next call.
  each(1L, "ring by name", named("ring@messages"), 300);
  each(1L, "request over messages", over_messages{ring{}}, 300, true);
  if (is_new) return;
  each(std::string{}, "strings by direct", direct{}, 3);
  for (std::size_t const n : {1u, 5000u}) {
    each(1L, "direct", direct{}, n);
    each(1L, "circulant in memory", over_shared_memory{circulant{}}, n);
    each(1L, "binary_tree in memory", over_shared_memory{binary_tree{}}, n);
    each(1L, "request in memory", over_shared_memory{ring{}}, is_mixed() ? std::min<std::size_t>(n, 300) : n, true);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(no_memory_over_mpi) {
  boost::mpi::communicator const world;
  if (world.size() > (is_mixed() ? 4 : 3)) return;   // takes long, and shows nothing else
  auto const agree = [&](bool mine) {
    int const one = mine;
    int all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, world);
    return all;
  };
  auto const report = [](bool right, std::string const& what) { BOOST_CHECK_MESSAGE(right, what); };
  boost::mpi::communicator fresh;
  auto const renew = [&]() -> auto& {
    fresh = boost::mpi::communicator(world, boost::mpi::comm_duplicate);
    return fresh;
  };
  try_all(true, world.size(), renew, agree, report);
  std::size_t const most = std::exchange(detail::mpi_rank_table::most_gathered, 0);   // as many ranks meet
  fail_everywhere<long>("first of many", automatic{}, 1, false, world.size(), renew, agree, report);
  detail::mpi_rank_table::most_gathered = most;
  boost::mpi::communicator const used(world, boost::mpi::comm_duplicate);
  colligo::all_reduce(used, 1, std::plus<>{}, shared_memory{});
  try_all(false, world.size(), [&]() -> auto& { return used; }, agree, report);
}

// The system has no more memory to share, on one rank and on all: for a new communicator, and for one that has some.
BOOST_AUTO_TEST_CASE(no_memory_to_share) {
  using communicator = boost::mpi::communicator;
  communicator const world;
  for (int who = -1; who < world.size() && world.size() > 1; ++who) {   // -1: all
    communicator const used(world, boost::mpi::comm_duplicate), fresh(world, boost::mpi::comm_duplicate);
    colligo::all_reduce(used, 1, std::plus<>{}, shared_memory{});
    bool const mine = who < 0 || who == world.rank();
    auto& arena = *detail::arena::of_process();
    std::vector<detail::arena::part> taken;
    system_is_full = mine;
    for (std::size_t bytes = std::size_t{1} << 22; mine && bytes >= 64; bytes /= 2)
      for (std::uint64_t at = arena.allocate(bytes); at != 0; at = arena.allocate(bytes)) taken.push_back({at, bytes});
    int failed = 0;
    auto const call_all = [&](bool is_full) {
      for (communicator const* comm : {&used, &fresh})
        for (std::size_t const n : {1u, 300u, 5000u, 50000u})
          for (auto const& tag : {named("automatic"), named("ring@shared_memory"), named("direct")}) {
            std::vector<long> in(n), out(n);
            for (std::size_t i = 0; i < n; ++i) in[i] = value<long>(world.rank(), i);
            bool never = false;
            std::string text;
            outcome const result = outcome_of(0, [&] { return add_up(*comm, in, out, tag, false); }, never, text);
            failed += result == outcome::no_memory;
            BOOST_CHECK_MESSAGE(result == outcome::right || (result == outcome::no_shared_memory && comm == &fresh) ||
                                    (is_full && (result == outcome::no_memory ? mine : result == outcome::elsewhere)),
                                "n = " << n << " on rank " << world.rank() << ", none on rank " << who << ": " << text);
            MPI_Barrier(world);
          }
    };
    call_all(true);
    BOOST_CHECK(failed > 0 || !mine || is_mixed());   // there a rank may be alone
    for (auto const& part : taken) arena.free(part);
    system_is_full = false;
    call_all(false);
  }
}

// Every allocation of every form, on every rank in turn: nobody waits for ever or pairs a later call with this one.
BOOST_AUTO_TEST_CASE(no_memory_in_any_form) {
  if (boost::mpi::communicator().size() != 1) return;
  for (int const p : {2, 3})
    run_threads(p, [&](thread_communicator& comm) {
      auto const agree = [&](bool mine) { return colligo::all_reduce(comm, mine ? 1 : 0, std::plus<>{}); };
      forms_that_allocate(comm, [&](std::string const& name, auto form) {
        for (int who = 0; who < p; ++who)
          for (int k = 1;; ++k) {
            bool reached = false, never = false;
            std::string text;
            int const mine = who == comm.rank() ? k : 0;
            outcome const result = outcome_of(mine, form, reached, text);
            outcome const then = outcome_of(0, [&] { return agree(true) == p; }, never, text);
            bool const fits =
                result == outcome::right || result == outcome::elsewhere || (result == outcome::no_memory && mine != 0);
            if (!fits || then != outcome::right)
              throw std::runtime_error(name + " on rank " + std::to_string(comm.rank()) + " of " + std::to_string(p) +
                                       ", k = " + std::to_string(k) + " on rank " + std::to_string(who) +
                                       (fits ? ", a later call: " : ": ") + text);
            if (agree(reached) == 0) break;
          }
      });
    });
}

BOOST_AUTO_TEST_CASE(no_memory_over_threads) {
  if (boost::mpi::communicator().size() != 1) return;
  for (int const p : {2, 3})
    run_threads(p, [&](thread_communicator& comm) {
      auto const agree = [&](bool mine) { return colligo::all_reduce(comm, mine ? 1 : 0, std::plus<>{}); };
      auto const report = [](bool right, std::string const& what) {
        if (!right) throw std::runtime_error(what);
      };
      try_all(false, p, [&]() -> auto& { return comm; }, agree, report);
    });
}
