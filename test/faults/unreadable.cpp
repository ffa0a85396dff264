// SPDX-License-Identifier: BSL-1.0
// Memory that a peer may not read: messages that are read where they are go another way then, each by itself.
#define BOOST_TEST_NO_MAIN
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <boost/mpi/communicator.hpp>
#include <boost/test/unit_test.hpp>
#include <colligo/colligo.hpp>
#include <colligo/transport/messages/mpi_state.hpp>
#include <colligo/transport/memory/shared_host.hpp>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace {

/// Reads from now on, those of them that failed, and which are made to fail.
unsigned reads = 0, failed_reads = 0, refused_from = 0, refused_to = 0;

}  // namespace

/// Stands before the system's, for what this program calls itself.
extern "C" ssize_t process_vm_readv(pid_t pid, iovec const* here, unsigned long m, iovec const* there, unsigned long n,
                                    unsigned long flags) {
  bool const fails = ++reads >= refused_from && reads < refused_to;
  if (fails) errno = EFAULT;
  ssize_t const got = fails ? -1 : syscall(SYS_process_vm_readv, pid, here, m, there, n, flags);
  failed_reads += got < 0;
  return got;
}

namespace {

using namespace colligo;

/// Reads of which rank, counted from 1.
void refuse(bool mine, unsigned from, unsigned to) {
  reads = failed_reads = 0, refused_from = from, refused_to = mine ? to : from;
}

bool announces(boost::mpi::communicator const& world, std::size_t bytes) {
  auto& state = detail::mpi_state::of(world);
  if (!state.shared() || !state.shared()->can_read()) return false;
  state.shared()->announce_from(bytes);
  return true;
}

struct unordered {
  long operator()(long a, long b) const { return a + b; }
};

/// Every way of reading: exchanges, folds of one and of many, what is published.
void try_all(boost::mpi::communicator const& world, std::size_t n, std::span<long> in, std::string const& what) {
  auto const p = static_cast<std::size_t>(world.size());
  std::iota(in.begin(), in.end(), 1000 * world.rank());
  std::vector<long> sums(n), out(n);
  for (std::size_t i = 0; i < n; ++i) sums[i] = static_cast<long>(i * p + 1000 * p * (p - 1) / 2);
  auto const add = as_commutative(unordered{});
  auto const right = [&](char const* name) {
    BOOST_CHECK_MESSAGE(out == sums, name << ", n = " << n << ", rank " << world.rank() << ", " << what);
    std::fill(out.begin(), out.end(), -1);
  };
  colligo::all_reduce(world, in, out, add, over_shared_memory{recursive_doubling{}}), right("recursive_doubling");
  colligo::all_reduce(world, in, out, add, over_shared_memory{ring{}}), right("ring");
  colligo::all_reduce(world, in, out, add, shared_memory{{.window = 1 << 20}}), right("direct");
  colligo::all_reduce(world, in, out, add, shared_memory{{.slices = 1 << 30}}), right("direct, published");
  colligo::iall_reduce(world, in, out, add, over_shared_memory{circulant{}}).wait(), right("circulant");
  std::vector<long> all(n * p);
  colligo::all_gather(world, in, all, shared_memory{});
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] != static_cast<long>(i % n + 1000 * (i / n))) {
      BOOST_ERROR("all_gather, n = " << n << ", rank " << world.rank() << ", " << what);
      break;
    }
  std::span const last(world.rank() == world.size() - 1 ? in : std::span(out));
  colligo::broadcast(world, last, world.size() - 1, shared_memory{});
  BOOST_CHECK_MESSAGE(last[n - 1] == static_cast<long>(n - 1 + 1000 * (p - 1)), "broadcast, " << what);
}

}  // namespace

BOOST_AUTO_TEST_CASE(reads_that_are_refused) {
  boost::mpi::communicator const world;
  if (!announces(world, 4096)) return;
  for (std::size_t const n : {600u, 5000u, 70000u, 200000u}) {
    std::vector<long> in(n);
    for (int who = -1; who < world.size(); ++who)   // -1: all
      for (auto const& [from, to] : {std::pair{1u, ~0u}, {1u, 2u}, {2u, 3u}, {3u, 5u}, {2u, ~0u}}) {
        refuse(who < 0 || who == world.rank(), from, to);
        try_all(world, n, in, "reads " + std::to_string(from) + " to " + std::to_string(to) + " refused");
        BOOST_CHECK(world.size() == 1 || reads > 0);
      }
    refuse(false, 0, 0);
    try_all(world, n, in, "afterwards");
  }
}

BOOST_AUTO_TEST_CASE(secret_memory) {
  boost::mpi::communicator const world;
  constexpr std::size_t n = 200000;
#ifdef SYS_memfd_secret
  int const file = static_cast<int>(syscall(SYS_memfd_secret, 0));
  void* const memory = file >= 0 && ftruncate(file, n * sizeof(long)) == 0
                           ? mmap(nullptr, n * sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                           : MAP_FAILED;
  int const mine = memory != MAP_FAILED;
#else
  int const mine = 0;
#endif
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, world);
  if (!all || !announces(world, 4096)) {
    BOOST_TEST_MESSAGE("no memory_secret here");
    return;
  }
#ifdef SYS_memfd_secret
  refuse(false, 0, 0);
  try_all(world, n, std::span(static_cast<long*>(memory), n), "secret memory");
  BOOST_CHECK(failed_reads > 0);   // of what leaves the user's memory
  munmap(memory, n * sizeof(long));
  close(file);
#endif
}
