// SPDX-License-Identifier: BSL-1.0
// What the library keeps with a communicator: nothing of the user's is run, little memory, given back when all have
// left.
#define BOOST_TEST_NO_MAIN
#include <dirent.h>
#include <mpi.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <colligo/colligo.hpp>
#include <colligo/transport/memory/arena.hpp>
#include <colligo/transport/messages/mpi_state.hpp>
#include <colligo/bootstrap/mpi_shared.hpp>
#include <colligo/environment/host.hpp>
#include <colligo/rules/kept_topology.hpp>
#include <colligo/transport/memory/shared_host.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../first_use.hpp"

namespace {

using namespace colligo;
using detail::arena;

// Hosts of uneven sizes, to which ranks are dealt out, where the environment says how many.
int emulated_host(int rank) {
  char const* const hosts = std::getenv("COLLIGO_TEST_HOSTS");
  return hosts ? rank * rank % std::atoi(hosts) : 0;
}

int calls_of_mpi = 0;   // that are collective, or make a communicator
int messages = 0;       // in and out

int rank_of(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}
int size_of(MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  return size;
}
int rank_in_world() { return rank_of(MPI_COMM_WORLD); }
int size_of_world() { return size_of(MPI_COMM_WORLD); }

// In a binomial tree, up or down.
void count_tree(int root, MPI_Comm comm) {
  messages += first_use::messages_through(root, rank_of(comm), size_of(comm)) / 2;
}

MPI_Comm duplicate_of_world() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  return comm;
}
bool adds_up(MPI_Comm comm, int value = 1) {
  return all_reduce(mpi_communicator{comm}, std::int64_t{value}, std::plus<>{}) ==
         std::int64_t{value} * size_of_world();
}

/// Kilobytes, of this process: "VmRSS", "RssShmem".
long from_status(std::string const& what) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(what + ':')) return std::atol(line.c_str() + what.size() + 1);
  return 0;
}
/// Allocated bytes of this process's arena, without those of communicators that all ranks have freed: the arena takes
/// them back a little at a time, in later calls. A test that did not wait would count those of earlier tests.
std::size_t used_by_the_living() {
  MPI_Barrier(MPI_COMM_WORLD);   // all ranks have freed what they free
  arena& mine = *arena::of_process();
  for (int i = 0; i < 1000; ++i) mine.free({mine.allocate(64), 64});   // each looks at 16 of them
  return mine.used();
}
/// Of all ranks together.
std::size_t sum_over_ranks(std::size_t mine) {
  std::uint64_t all = 0, here = mine;
  MPI_Allreduce(&here, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

}  // namespace

extern "C" {
#define COUNTED(name, parameters, arguments)  \
  int name parameters {                       \
    ++calls_of_mpi;                           \
    return P##name arguments;                 \
  }
COUNTED(MPI_Comm_dup, (MPI_Comm a, MPI_Comm* b), (a, b))
COUNTED(MPI_Comm_create, (MPI_Comm a, MPI_Group b, MPI_Comm* c), (a, b, c))
COUNTED(MPI_Comm_create_group, (MPI_Comm a, MPI_Group b, int c, MPI_Comm* d), (a, b, c, d))
COUNTED(MPI_Comm_split_type, (MPI_Comm a, int b, int c, MPI_Info d, MPI_Comm* e), (a, b, c, d, e))
COUNTED(MPI_Ibarrier, (MPI_Comm a, MPI_Request* b), (a, b))
COUNTED(MPI_Bcast, (void* a, int b, MPI_Datatype c, int d, MPI_Comm e), (a, b, c, d, e))
COUNTED(MPI_Iallgather,
        (void const* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, MPI_Comm g, MPI_Request* h),
        (a, b, c, d, e, f, g, h))
#undef COUNTED
int MPI_Get_processor_name(char* name, int* length) {
  int const code = PMPI_Get_processor_name(name, length);
  int const host = emulated_host(rank_in_world());
  if (host != 0) *length = std::snprintf(name, MPI_MAX_PROCESSOR_NAME, "host %d", host);
  return code;
}
#define COUNTED(name, count, parameters, arguments)  \
  int name parameters {                              \
    count;                                           \
    return P##name arguments;                        \
  }
COUNTED(MPI_Send, ++messages, (void const* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f), (a, b, c, d, e, f))
COUNTED(MPI_Recv, ++messages, (void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Status* g),
        (a, b, c, d, e, f, g))
COUNTED(MPI_Sendrecv, messages += 2,
        (void const* a, int b, MPI_Datatype c, int d, int e, void* f, int g, MPI_Datatype h, int i, int j, MPI_Comm k,
         MPI_Status* l),
        (a, b, c, d, e, f, g, h, i, j, k, l))
COUNTED(MPI_Igather, count_tree(g, h),
        (void const* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, int g, MPI_Comm h, MPI_Request* i),
        (a, b, c, d, e, f, g, h, i))
COUNTED(MPI_Igatherv, messages += first_use::messages_to(h, rank_of(i), size_of(i)),
        (void const* a, int b, MPI_Datatype c, void* d, int const* e, int const* f, MPI_Datatype g, int h, MPI_Comm i,
         MPI_Request* j),
        (a, b, c, d, e, f, g, h, i, j))
COUNTED(MPI_Ireduce, count_tree(f, g),
        (void const* a, void* b, int c, MPI_Datatype d, MPI_Op e, int f, MPI_Comm g, MPI_Request* h),
        (a, b, c, d, e, f, g, h))
COUNTED(MPI_Ibcast, count_tree(d, e), (void* a, int b, MPI_Datatype c, int d, MPI_Comm e, MPI_Request* f),
        (a, b, c, d, e, f))
#undef COUNTED
}

BOOST_AUTO_TEST_SUITE(communicators)

BOOST_AUTO_TEST_CASE(the_user_s_attribute_callbacks_are_not_run) {
  MPI_Comm comm = duplicate_of_world();
  int copied = 0, key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(
      [](MPI_Comm, int, void*, void* counter, void*, int*) -> int {
        ++*static_cast<int*>(counter);
        return MPI_ERR_OTHER;   // would end the job
      },
      [](MPI_Comm, int, void*, void*) -> int { return MPI_SUCCESS; }, &key, nullptr);
  MPI_Comm_set_attr(comm, key, &copied);
  BOOST_TEST(adds_up(comm));
  BOOST_TEST(all_reduce(mpi_communicator{comm}, 1, std::plus<>{}, vendor{}) == size_of_world());
  MPI_Comm_free(&comm);
  MPI_Comm_free_keyval(&key);
  BOOST_TEST(copied == 0);
}

// In a delete callback, after the library's own: MPI deletes no attribute that is set there, the handle comes again.
BOOST_AUTO_TEST_CASE(calls_while_the_communicator_is_freed) {
  int wrong = 0, key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(
      MPI_COMM_NULL_COPY_FN,
      [](MPI_Comm comm, int, void* counter, void*) -> int {
        for (int i = 0; i < 3; ++i) *static_cast<int*>(counter) += !adds_up(comm, i);
        return MPI_SUCCESS;
      },
      &key, nullptr);
  for (int i = 0; i < 16; ++i) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank_in_world(), &comm);
    MPI_Comm_set_attr(comm, key, &wrong);
    if (i % 4 < 2) wrong += !adds_up(comm, i);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_in_world(), &comm);
    int first = rank_in_world();
    broadcast(mpi_communicator{comm}, first, 0);
    wrong += first != size_of_world() - 1;
    MPI_Comm_free(&comm);
  }
  MPI_Comm_free_keyval(&key);
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(one_rank_alone_needs_no_communicator_and_no_memory) {
  MPI_Comm alone = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank_in_world(), 0, &alone);
  int const before = calls_of_mpi;
  mpi_communicator const comm{alone};
  BOOST_TEST(all_reduce(comm, 3, std::plus<>{}) == 3);
  BOOST_TEST(all_reduce(comm, 3, std::plus<>{}, over_shared_memory<recursive_doubling>{}) == 3);
  std::vector<int> const in(1000, 4);
  std::vector<int> out(1000);
  for (char const* name : {"automatic", "ring", "binary_tree", "direct", "shared_memory"}) {
    all_reduce(comm, in, out, std::plus<>{}, named(name));
    BOOST_TEST((out == in));
  }
  auto request = iall_reduce(comm, in, out, std::plus<>{});
  request.wait();
  BOOST_TEST((out == in));
  BOOST_TEST(calls_of_mpi == before);
  BOOST_TEST((detail::mpi_state::of(alone).shared() == nullptr));
  BOOST_TEST(all_reduce(comm, 3, std::plus<>{}, vendor{}) == 3);
  MPI_Comm_free(&alone);
}

BOOST_AUTO_TEST_CASE(a_first_use_asks_mpi_for_little) {
  MPI_Comm comm = duplicate_of_world();
  int const before = calls_of_mpi;
  BOOST_TEST(adds_up(comm));
  // Hear of all, a communicator, where their memory is, whether all have it.
  BOOST_TEST(calls_of_mpi - before <= 4);
  int const warm = calls_of_mpi;
  BOOST_TEST(adds_up(comm));
  BOOST_TEST(calls_of_mpi == warm);
  MPI_Comm_free(&comm);
}

BOOST_AUTO_TEST_CASE(many_ranks_know_of_each_other_what_few_do) {
  MPI_Comm by_few = duplicate_of_world(), by_many = duplicate_of_world();
  int const rank = rank_in_world(), p = size_of_world();
  messages = 0;
  auto& few = detail::mpi_state::of(by_few);
  BOOST_TEST(messages == first_use::messages_of_few(rank, p));
  std::size_t const most = std::exchange(detail::mpi_rank_table::most_gathered, 0);
  messages = 0;
  auto& many = detail::mpi_state::of(by_many);
  detail::mpi_rank_table::most_gathered = most;
  std::vector<int> const hosts = many.hosts.empty() ? std::vector<int>(static_cast<std::size_t>(p)) : many.hosts.list();
  auto const here = hosts.begin() + rank;
  for (int r = 0; r < p; ++r)
    BOOST_TEST((hosts[static_cast<std::size_t>(r)] == *here) == (emulated_host(r) == emulated_host(rank)));
  auto const before = std::count(hosts.begin(), here, *here), behind = std::count(here, hosts.end(), *here);
  BOOST_TEST(messages == first_use::messages(rank, p, static_cast<int>(before), static_cast<int>(before + behind)));
  BOOST_TEST(adds_up(by_few));
  BOOST_TEST(adds_up(by_many));
  BOOST_TEST(few.hosts.list() == many.hosts.list());
  for (std::size_t level = 0; level < detail::domain_levels; ++level) {
    std::vector<int> const groups = many.domains[level].list();
    BOOST_TEST(few.domains[level].list() == groups);
    for (std::size_t r = 0; r < groups.size(); ++r)   // none of another host's
      BOOST_TEST((groups[r] != groups[static_cast<std::size_t>(rank)] || hosts[r] == *here));
  }
  BOOST_TEST((few.shared() != nullptr) == (many.shared() != nullptr));
  MPI_Comm_free(&by_few);
  MPI_Comm_free(&by_many);
}

BOOST_AUTO_TEST_CASE(many_ranks_keep_their_hosts_whatever_levels_say) {
  for (char const* const levels : {"off", "2x3", "2x32", "3x2x32"}) {
    setenv("COLLIGO_LEVELS", levels, 1);
    MPI_Comm comm = duplicate_of_world();
    auto& state = detail::mpi_state::of(comm);
    unsetenv("COLLIGO_LEVELS");
    auto const* const hosts = detail::kept_hierarchies<>::hosts_of(state);
    auto const hosts_in = [p = size_of_world()](hierarchy const& groups) {
      return groups.parts(groups.level_within(distance::network), {0, p});
    };
    if (hosts) BOOST_TEST(hosts_in(detail::kept_hierarchies<>::levels_of(state)) == hosts_in(*hosts));
    BOOST_TEST(adds_up(comm));
    MPI_Comm_free(&comm);
  }
}

BOOST_AUTO_TEST_CASE(a_first_use_of_many_ranks_has_short_messages) {
  constexpr std::size_t p = 20000, hosts = p / 16;
  if (rank_in_world() != 0) return;
  unsigned random = 1;
  for (std::size_t const placed : {0u, 1u, 2u, 3u}) {   // hosts in order, dealt out, dealt out in blocks, anyhow
    std::vector<detail::mpi_rank_info> all(p), read(p);
    for (std::size_t r = 0; r < p; ++r) {
      random = random * 1664525u + 1013904223u;
      std::array const host{r / 16, r % hosts, r / 4 % hosts, (random >> 8) % hosts};
      std::array const place{r % 16, r / hosts, r / 4 / hosts * 4 + r % 4, std::size_t{0}};
      all[r].host = (host[placed] + 1) * 0x9e3779b97f4a7c15u;
      all[r].setting = r == 77;
      all[r].domains.group = {static_cast<int>(place[placed]), static_cast<int>(place[placed] / 8 * 8), 0, -1, 0};
    }
    std::vector<int> const words = detail::mpi_rank_table::write(all);
    detail::mpi_rank_table::read(words, read);
    bool right = true;
    for (std::size_t r = 0; r < p; ++r)
      right = right && read[r].host == all[r].host && read[r].setting == all[r].setting &&
              read[r].domains.group == all[r].domains.group &&
              all[static_cast<std::size_t>(read[r].lowest)].host == all[r].host &&
              read[static_cast<std::size_t>(read[r].lowest)].lowest == read[r].lowest;
    BOOST_TEST(right);
    std::size_t const of_hosts = 2 * hosts;
    BOOST_TEST(words.size() < of_hosts + (placed == 3 ? 3 * p : 200));
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_ever_in_dev_shm) {
  auto const is_mapped = [](char const* file) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
      if (line.find(file) != line.npos) return true;
    return false;
  };
  bool const before = is_mapped("memfd:colligo");   // by another test
  MPI_Comm comm = duplicate_of_world();
  BOOST_TEST(adds_up(comm));
  std::vector<int> in(100000, 1), out(100000);
  all_reduce(mpi_communicator{comm}, in, out, std::plus<>{}, named("ring@shared_memory"));
  BOOST_TEST(!is_mapped("/dev/shm/colligo"));
  BOOST_TEST(is_mapped("memfd:colligo") == (before || size_of_world() > 1));
  MPI_Comm_free(&comm);
}

BOOST_AUTO_TEST_CASE(thousands_made_used_once_and_freed) {
  char const* const value = std::getenv("COLLIGO_TEST_COMMUNICATORS");
  int const all = value ? std::atoi(value) : 2000;
  long before = 0;
  int wrong = 0;
  for (int i = 0; i < all; ++i) {
    if (i == 200) before = from_status("VmRSS");
    MPI_Comm comm = duplicate_of_world();
    wrong += !adds_up(comm, i);
    MPI_Comm_free(&comm);
  }
  BOOST_TEST(wrong == 0);
  BOOST_TEST(from_status("VmRSS") - before < 16 * 1024);
  BOOST_TEST(arena::of_process()->reserved() < std::size_t{16} << 20);
}

BOOST_AUTO_TEST_CASE(hundreds_alive_at_once_and_their_memory_given_back) {
  std::size_t const most = (std::size_t{256} << 20) / 1500;   // bytes of a host for one communicator of two ranks
  char const* const value = std::getenv("COLLIGO_TEST_ALIVE");
  std::vector<MPI_Comm> all(value ? static_cast<std::size_t>(std::atoi(value)) : 300);
  std::size_t const before = used_by_the_living();
  int wrong = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = duplicate_of_world();
    wrong += !adds_up(all[i], static_cast<int>(i));
  }
  auto const ranks = static_cast<std::size_t>(size_of_world());
  std::size_t const reserved = sum_over_ranks(arena::of_process()->reserved());
  BOOST_TEST_MESSAGE(all.size() << " communicators of " << ranks << " ranks: " << reserved / 1024 << " KiB");
  BOOST_TEST(reserved < ranks * most / 2 * all.size() + ranks * (std::size_t{5} << 20));
  for (MPI_Comm comm : all) wrong += !adds_up(comm, 7);
  for (MPI_Comm& comm : all) MPI_Comm_free(&comm);
  BOOST_TEST(wrong == 0);
  BOOST_TEST(used_by_the_living() <= before + 128 * 1024);   // of the first ones
}

// A message that has been sent lies in its sender's memory: freeing the communicator must not give that to others.
BOOST_AUTO_TEST_CASE(a_peer_that_comes_late_finds_its_message_though_the_communicator_was_freed) {
  for (auto const& [n, name] : {std::pair{1u, "direct@shared_memory"}, {100u, "binary_tree@shared_memory"},
                                {100u, "direct@shared_memory"}, {10000u, "binary_tree@shared_memory"},
                                {10000u, "direct@shared_memory"}}) {   // lines, chunks; to all, to one
    MPI_Comm comm = duplicate_of_world();
    BOOST_TEST(adds_up(comm));
    std::vector<int> both(n, rank_in_world() == 0 ? 5 : 0);
    if (rank_in_world() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(500));
    broadcast(mpi_communicator{comm}, both, 0, named(name));
    BOOST_TEST((both == std::vector<int>(n, 5)));
    MPI_Comm_free(&comm);
    if (rank_in_world() != 0 || size_of_world() == 1) continue;
    arena& mine = *arena::of_process();
    std::vector<arena::part> parts;
    for (int i = 0; i < 100; ++i)
      for (std::size_t const bytes : {std::size_t{400}, sizeof(detail::channel_front), std::size_t{256} * 1024}) {
        parts.push_back({mine.allocate(bytes), bytes});
        BOOST_REQUIRE(parts.back().at != 0);
        std::memset(mine.begin() + parts.back().at, 0xee, bytes);
      }
    for (arena::part const& p : parts) mine.free(p);
  }
}

BOOST_AUTO_TEST_CASE(a_mapped_file_is_not_backed_where_memory_to_come_is_locked) {
  arena& mine = *arena::of_process();
  pid_t const child = fork();
  if (child == 0) {
    std::uint64_t const cookie = 1;
    int const file = memfd_create("colligo", 0);
    bool const is_made = ftruncate(file, 64 << 20) == 0 && pwrite(file, &cookie, sizeof cookie, 0) == sizeof cookie;
    if (!is_made) _exit(2);
    if (mlockall(MCL_FUTURE) != 0) _exit(0);   // it may not
    mine.map({.cookie = cookie, .process = getpid(), .file = file});
    struct stat status{};
    _exit(fstat(file, &status) != 0 || status.st_blocks * 512 > 1 << 20);
  }
  int status = 0;
  BOOST_REQUIRE(waitpid(child, &status, 0) == child);
  BOOST_TEST(WIFEXITED(status));
  BOOST_TEST(WEXITSTATUS(status) == 0);
}

BOOST_AUTO_TEST_CASE(the_arena_gives_each_part_once_and_returns_what_is_free) {
  std::size_t const used = used_by_the_living();
  arena& mine = *arena::of_process();
  std::vector<arena::part> parts;
  unsigned random = 1;
  for (int round = 0; round < 3000; ++round) {
    random = random * 1664525u + 1013904223u;
    if (parts.size() > 40 || (random >> 28 < 6 && !parts.empty())) {
      std::size_t const which = (random >> 8) % parts.size();
      arena::part const p = parts[which];
      for (std::size_t i = 0; i < p.bytes; i += 509)
        BOOST_REQUIRE(mine.begin()[p.at + i] == static_cast<std::byte>(p.at / 64));
      mine.free(p);
      parts[which] = parts.back();
      parts.pop_back();
      continue;
    }
    std::size_t const bytes = (random >> 8) % (random >> 30 == 0 ? 1000000 : 20000) + 1;
    std::uint64_t const at = mine.allocate(bytes);
    BOOST_REQUIRE(at != 0);
    BOOST_REQUIRE(at % 64 == 0);
    std::memset(mine.begin() + at, static_cast<int>(at / 64 % 256), bytes);
    parts.push_back({at, bytes});
  }
  for (arena::part const& p : parts) mine.free(p);
  BOOST_TEST(mine.used() == used);
  BOOST_TEST(mine.reserved() <= mine.used() + (std::size_t{5} << 20));
  BOOST_TEST(mine.allocate(std::size_t{1} << 40) == 0u);
}

// A rank that waits looks whether the others' processes are there.
BOOST_AUTO_TEST_CASE(communicators_share_what_they_know_of_processes) {
  auto const files = [] {
    DIR* const all = opendir("/proc/self/fd");
    int n = 0;
    while (readdir(all)) ++n;
    closedir(all);
    return n;
  };
  std::array<MPI_Comm, 5> comms;
  int before = 0;
  for (MPI_Comm& comm : comms) {
    comm = duplicate_of_world();
    BOOST_TEST(adds_up(comm));
    if (rank_in_world() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(500));
    BOOST_TEST(adds_up(comm));
    if (before == 0) before = files();
  }
  BOOST_TEST(files() < before + size_of_world());   // one for each other rank at most
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

// It would receive messages that are its parent's.
BOOST_AUTO_TEST_CASE(a_child_of_fork_leaves_messages_to_its_parent) {
  int const me = rank_in_world(), p = size_of_world();
  MPI_Comm comm = duplicate_of_world();
  BOOST_TEST(adds_up(comm));
  int token = 5, came = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(&token, 1, MPI_INT, (me + 1) % p, 5, MPI_COMM_WORLD);   // so short that it does not wait
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  if (pid_t const child = fork(); child == 0) {
    MPI_Comm_free(&comm);
    _exit(0);
  } else {
    waitpid(child, nullptr, 0);
  }
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&token, 1, MPI_INT, (me + p - 1) % p, 5, MPI_COMM_WORLD, &request);
  auto const began = std::chrono::steady_clock::now();
  while (!came && std::chrono::steady_clock::now() - began < std::chrono::seconds(5))
    MPI_Test(&request, &came, MPI_STATUS_IGNORE);
  BOOST_REQUIRE(came);
  BOOST_TEST(adds_up(comm));
  MPI_Comm_free(&comm);
}

BOOST_AUTO_TEST_CASE(a_child_of_fork_leaves_requests_to_its_parent) {
  int const p = size_of_world();
  MPI_Comm comm = duplicate_of_world();
  for (char const* const way : {"ring@shared_memory", "ring@messages", "vendor"}) {
    std::vector<double> const in(100'000, 1);
    std::vector<double> out(in.size());
    BOOST_TEST(adds_up(comm));
    request sum = iall_reduce(mpi_communicator{comm}, in, out, std::plus<>{}, named(way));
    pid_t const child = fork();
    if (child == 0) {
      alarm(5);
      int const open = sum.in_progress();   // on one rank it is complete
      int refused = 0;
      for (bool const waits : {false, true}) {
        try {
          if (waits) sum.wait();
          else sum.test();
        } catch (error const& e) {
          refused += std::string(e.what()).find("child of fork()") != std::string::npos;
        }
      }
      sum = {};
      _exit(refused == open ? 0 : 1);   // it is told once
    }
    int status = -1;
    waitpid(child, &status, 0);
    BOOST_TEST(status == 0, way);
    MPI_Barrier(MPI_COMM_WORLD);
    sum.wait();
    BOOST_TEST(std::all_of(out.begin(), out.end(), [p](double x) { return x == p; }), way);
  }
  MPI_Comm_free(&comm);
}

// The launchers' variables, each by itself: the number of the job's ranks on this host, and whether they are bound.
BOOST_AUTO_TEST_CASE(launchers_say_how_many_ranks_a_host_has_and_whether_they_are_bound) {
  constexpr std::array of_ranks{"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE",
                                "PALS_LOCAL_SIZE", "PMI_LOCAL_SIZE"};
  constexpr std::array others{"SLURM_STEP_TASKS_PER_NODE", "SLURM_NODEID", "SLURM_CPU_BIND_TYPE",
                              "OMPI_MCA_orte_bound_at_launch"};
  std::vector<std::pair<char const*, std::string>> before;
  for (auto const& names : {std::vector<char const*>(of_ranks.begin(), of_ranks.end()),
                            std::vector<char const*>(others.begin(), others.end())})
    for (char const* const name : names) {
      if (char const* const value = std::getenv(name)) before.emplace_back(name, value);
      unsetenv(name);
    }
  BOOST_TEST(detail::ranks_of_job() == 0);
  for (char const* const name : of_ranks) {
    setenv(name, "7", 1);
    BOOST_TEST(detail::ranks_of_job() == 7, name);
    setenv(name, "many", 1);
    BOOST_TEST(detail::ranks_of_job() == 0, name);
    unsetenv(name);
  }
  setenv("SLURM_STEP_TASKS_PER_NODE", "3(x2),5", 1);
  BOOST_TEST(detail::ranks_of_job() == 0);   // of which node this is is not known
  for (auto const& [node, ranks] : {std::pair{"0", 3}, std::pair{"1", 3}, std::pair{"2", 5}, std::pair{"3", 0}}) {
    setenv("SLURM_NODEID", node, 1);
    BOOST_TEST(detail::ranks_of_job() == ranks, node);
  }
  BOOST_TEST(!detail::is_bound_by_launcher());
  for (auto const& [kind, bound] : {std::pair{"mask_cpu:", true}, std::pair{"cores", true}, std::pair{"none", false},
                                    std::pair{"", false}}) {
    setenv("SLURM_CPU_BIND_TYPE", kind, 1);
    BOOST_TEST(detail::is_bound_by_launcher() == bound, kind);
  }
  setenv("OMPI_MCA_orte_bound_at_launch", "1", 1);
  BOOST_TEST(detail::is_bound_by_launcher());
  for (char const* const name : others) unsetenv(name);
  for (auto const& [name, value] : before) setenv(name, value.c_str(), 1);
}

BOOST_AUTO_TEST_SUITE_END()
