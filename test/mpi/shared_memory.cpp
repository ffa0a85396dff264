// SPDX-License-Identifier: BSL-1.0
// Ranks that share memory, as processes: agreement where it can not be had, many communicators, late ranks, peers that
// need MPI's progress, a soak.
#include <boost/test/unit_test.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <colligo/colligo.hpp>
#include <colligo/table.hpp>
#include <colligo/transport/messages/mpi_state.hpp>
#include <colligo/transport/memory/shared_host.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <random>
#include <thread>

#include "over_mpi.hpp"

namespace {

using namespace colligo;

detail::shared_host* memory_of(MPI_Comm comm) { return detail::mpi_state::of(comm).shared(); }

/// A duplicate of MPI_COMM_WORLD that frees itself.
class own_comm {
 public:
  own_comm() { MPI_Comm_dup(MPI_COMM_WORLD, &comm_); }
  explicit own_comm(MPI_Comm comm) : comm_(comm) {}
  own_comm(own_comm&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
  own_comm& operator=(own_comm other) noexcept {
    std::swap(comm_, other.comm_);
    return *this;
  }
  ~own_comm() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }
  operator MPI_Comm() const { return comm_; }
  mpi_communicator over() const { return {comm_}; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

void expect_sum(mpi_communicator const& comm, std::size_t n, char const* algorithm, int round = 0) {
  std::vector<int> in(n), out(n);
  for (std::size_t i = 0; i < n; ++i) in[i] = comm.rank() + round + static_cast<int>(i % 100);
  all_reduce(comm, in, out, std::plus<>{}, named(algorithm));
  int const p = comm.size();
  for (std::size_t i = 0; i < n; ++i)
    if (out[i] != p * (p - 1) / 2 + p * (round + static_cast<int>(i % 100)))
      throw std::runtime_error(over_mpi::text("wrong sum at ", i, " of ", n, " by ", algorithm));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shared)

BOOST_AUTO_TEST_CASE(all_share_or_none_and_results_are_right_either_way) {
  own_comm const with, without;
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  BOOST_TEST((memory_of(with) != nullptr) == (size > 1));   // one alone needs none
  if (rank == size - 1) setenv("COLLIGO_SHARED_MEMORY", "off", 1);   // one rank alone
  BOOST_TEST((memory_of(without) == nullptr));
  unsetenv("COLLIGO_SHARED_MEMORY");
  for (std::size_t const n : {1u, 1000u, 300000u}) {
    for (char const* way : {"shared_memory", "ring@shared_memory", "ring@messages", "ring"})
      expect_sum(with.over(), n, way);
    for (char const* way : {"automatic", "ring", "ring@messages"}) expect_sum(without.over(), n, way);
    if (size > 1)
      for (char const* way : {"shared_memory", "ring@shared_memory"})
        BOOST_CHECK_EXCEPTION(expect_sum(without.over(), n, way), algorithm_error, [&](algorithm_error const& e) {
          return std::string(e.what()).ends_with(
              over_mpi::text("which can not be used: COLLIGO_SHARED_MEMORY=off on rank ", size - 1));
        });
  }
}

// What a tag or a name alone takes, and that the bits do not depend on it.
BOOST_AUTO_TEST_CASE(tags_go_through_memory_where_there_is_some_and_the_bits_are_those_of_messages) {
  own_comm const comm;
  auto const over = comm.over();
  boost::mpi::communicator const world;
  std::vector<std::string> names;
  over_mpi::for_each_that_takes<collective::all_reduce, double, std::plus<>>([&]<class Tag>(Tag) {
    if (!std::is_same_v<Tag, vendor> && !std::is_same_v<Tag, shared_memory>) names.emplace_back(Tag::name);
  });
  for (std::size_t const n : {5u, 20000u}) {
    std::vector<double> in(n), by_memory(n), by_messages(n), by_name(n);
    for (std::size_t i = 0; i < n; ++i)
      in[i] = std::ldexp(1 + static_cast<double>(i % 11) / 7, (over.rank() * 37 + static_cast<int>(i % 81)) % 81 - 40);
    for (std::string const& name : names) {
      all_reduce(over, in, by_messages, std::plus<>{}, named(name + "@messages"));
      all_reduce(over, in, by_memory, std::plus<>{}, named(name + "@shared_memory"));
      all_reduce(over, in, by_name, std::plus<>{}, named(name));
      auto const bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
      BOOST_TEST(std::ranges::equal(by_messages, by_memory, {}, bits, bits), name << ", n = " << n);
      BOOST_TEST(std::ranges::equal(by_messages, by_name, {}, bits, bits), name << ", n = " << n);
    }
  }
  if (over.size() == 1) return;
  auto const said = [&](auto const& algorithm) {
    return explain<double>(over, collective::all_reduce, 1, std::plus<>{}, algorithm);
  };
  BOOST_TEST(said(recursive_doubling{}).find("recursive_doubling over shared memory, pinned") != std::string::npos);
  BOOST_TEST(said(named("ring")).find("ring over shared memory, named") != std::string::npos);
  BOOST_TEST(said(over_messages{ring{}}).find("ring over messages, pinned") != std::string::npos);
  BOOST_TEST(said(automatic{}).find(" over shared memory, chosen by the library's table") != std::string::npos);
  configured const by_arrival{trees::flat(over.size()), {}, true};   // which memory does not see
  BOOST_TEST(said(by_arrival).find("configured over messages") != std::string::npos);
}

// As on a host of several caches. Some ranks are late, and functors throw on one of them.
BOOST_AUTO_TEST_CASE(by_levels) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 8) return;
  own_comm const comm;
  setenv("COLLIGO_LEVELS", "4x4x2", 1);
  BOOST_REQUIRE((memory_of(comm) != nullptr));
  unsetenv("COLLIGO_LEVELS");
  std::mt19937 random(static_cast<unsigned>(rank));
  for (int call = 0; call < 40; ++call) {
    if (random() % 16 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::size_t const n = std::array<std::size_t, 4>{1, 60, 3000, 40000}[static_cast<std::size_t>(call) % 4];
    for (char const* algorithm : {"automatic", "direct_by_level@shared_memory", "slices_by_level@shared_memory"})
      expect_sum(comm.over(), n, algorithm, call);
    if (call % 10 != 7) continue;
    std::vector<int> in(n, 1), out(n);
    bool const angry = rank == call % size;
    bool thrown = true;
    auto const add = [angry](int a, int b) { return angry ? throw std::domain_error("no") : a + b; };
    try {
      all_reduce(comm.over(), in, out, as_commutative(add), named("direct_by_level@shared_memory"));
      thrown = false;
    } catch (std::domain_error const&) {
      BOOST_TEST(angry);
    } catch (failed_elsewhere const&) {
      BOOST_TEST(!angry);
    }
    if (!thrown) BOOST_TEST((!angry && out == std::vector(n, size)));   // all that counts had come before
  }
}

BOOST_AUTO_TEST_CASE(many_communicators_freed_in_any_order_and_after_a_split) {
  std::vector<own_comm> all(12);
  std::mt19937 random(3);   // the same on all ranks
  for (std::size_t i = 0; i < all.size(); ++i)
    expect_sum(all[i].over(), std::size_t{1000} << i % 5, "shared_memory", static_cast<int>(i));
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(all[3], rank % 2, -rank, &half);   // and in another order
  own_comm const split(half);
  while (!all.empty()) {
    auto const which = static_cast<std::ptrdiff_t>(random() % all.size());
    all.erase(all.begin() + which);
    for (auto const& comm : all) expect_sum(comm.over(), 100, "shared_memory");
    expect_sum(split.over(), 50000, "shared_memory");
  }
}

BOOST_AUTO_TEST_CASE(a_rank_that_comes_seconds_late_finds_what_it_should) {
  own_comm const comm;
  auto const over = comm.over();
  expect_sum(over, 10, "shared_memory");
  for (std::size_t const n : {3u, 100000u}) {
    if (over.rank() == over.size() - 1) std::this_thread::sleep_for(std::chrono::seconds(1));
    for (int i = 0; i < 50; ++i) expect_sum(over, n, "shared_memory", i);
    std::vector<int> both(n, over.rank() == 0 ? 7 : 0);
    broadcast(over, both, 0, shared_memory{});
    BOOST_TEST((both == std::vector<int>(n, 7)));
  }
}

BOOST_AUTO_TEST_CASE(a_peer_in_a_send_that_needs_our_progress_does_not_hold_us_up_for_ever) {
  own_comm const comm;
  auto const over = comm.over();
  if (over.size() < 2) return;
  expect_sum(over, 1, "shared_memory");
  constexpr int n = 1 << 20;   // a rendezvous
  std::vector<double> data(n, 1.0);
  MPI_Request request = MPI_REQUEST_NULL;
  if (over.rank() == 0) MPI_Irecv(data.data(), n, MPI_DOUBLE, 1, 5, comm, &request);
  if (over.rank() == 1) MPI_Ssend(data.data(), n, MPI_DOUBLE, 0, 5, comm);
  expect_sum(over, 1, "shared_memory");   // rank 0 waits here while rank 1 is still sending
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

BOOST_AUTO_TEST_CASE(long_messages_that_cross_are_right_whichever_way_they_take) {
  own_comm const comm;
  auto const over = comm.over();
  int const me = over.rank();
  std::size_t const n = colligo::detail::least_exchanged_in_place / sizeof(int) + 1;
  std::size_t const p = static_cast<std::size_t>(over.size());
  std::vector<int> in(p * n), out(p * n), all(p * n);
  for (int call = 0; call < 40; ++call) {   // the ways take turns at first
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = call + 1000 * me + static_cast<int>(i);
    all_to_all(over, in, out);
    all_gather(over, std::span(in).first(n), all);
    std::size_t wrong = 0;
    for (std::size_t r = 0; r < p; ++r)
      for (std::size_t i = 0; i < n; ++i) {
        int const of_rank = call + 1000 * static_cast<int>(r) + static_cast<int>(i);
        wrong += out[r * n + i] != of_rank + me * static_cast<int>(n);
        wrong += all[r * n + i] != of_rank;
      }
    BOOST_TEST(wrong == 0u);
  }
}

BOOST_AUTO_TEST_CASE(unaligned_vectors_and_vectors_in_place) {
  own_comm const comm;
  auto const over = comm.over();
  int const p = over.size();
  for (char const* algorithm :
       {"shared_memory", "ring@shared_memory", "halving_doubling@shared_memory", "recursive_doubling@shared_memory"})
    for (std::size_t const n : {5u, 1001u, 40001u, 600001u}) {
      std::vector<char> memory(n * 2 + 1), result(n * 2 + 1);
      auto const unaligned = [](std::vector<char>& m, std::size_t count) { return std::span(m).subspan(1, count); };
      for (char& c : unaligned(memory, n)) c = 1;
      all_reduce(over, unaligned(memory, n), unaligned(result, n), std::plus<>{}, named(algorithm));
      BOOST_TEST(std::ranges::all_of(unaligned(result, n), [p](char c) { return c == p; }), algorithm << ", n = " << n);
      all_reduce(over, in_place(unaligned(memory, n)), std::plus<>{}, named(algorithm));
      BOOST_TEST(std::ranges::all_of(unaligned(memory, n), [p](char c) { return c == p; }),
                 algorithm << " in place, n = " << n);
    }
}

// Calls of all kinds and sizes without barriers between them, on two communicators.
BOOST_AUTO_TEST_CASE(soak) {
  own_comm const first, second;
  mpi_communicator const over[]{first.over(), second.over()};
  int const p = over[0].size(), me = over[0].rank();
  std::mt19937 random(11);   // the same on all ranks
  char const* const sums[]{"shared_memory", "recursive_doubling@shared_memory", "halving_doubling@shared_memory",
                           "ring@shared_memory", "circulant@shared_memory", "binary_tree@shared_memory", "automatic",
                           "recursive_doubling"};
  char const* const value = std::getenv("COLLIGO_TEST_SOAK");
  int const calls = value ? std::atoi(value) : p == 2 ? 100000 : 20000;   // more ranks than cores take their time
  std::vector<std::int64_t> in(1 << 16), out(in.size() * static_cast<std::size_t>(p));
  int wrong = 0;
  for (int call = 0; call < calls; ++call) {
    auto const& comm = over[random() % 2];
    auto const kind = random() % 8;
    auto const most = random() % 50 == 0 ? 16u : random() % 10 == 0 ? 12u : 8u;
    std::size_t const n = 1 + random() % (1u << most);
    int const root = static_cast<int>(random() % static_cast<unsigned>(p));
    auto const from = std::span(in).first(n);
    auto const to = std::span(out).first(n);
    for (std::size_t i = 0; i < n; i += std::max<std::size_t>(1, n / 7))
      from[i] = call + me + static_cast<std::int64_t>(i);
    auto const check = [&](auto expected, std::span<std::int64_t> got) {
      for (std::size_t i = 0; i < n; i += std::max<std::size_t>(1, n / 7))
        wrong += got[i] != expected(static_cast<std::int64_t>(i));
    };
    std::int64_t const ranks = p, sum = ranks * (ranks - 1) / 2;
    switch (kind) {
      case 0: case 1: case 2:
        all_reduce(comm, from, to, std::plus<>{}, named(sums[random() % std::size(sums)]));
        check([&](std::int64_t i) { return sum + ranks * (call + i); }, to);
        break;
      case 3:
        reduce(comm, from, to, maximum{}, root, shared_memory{});
        if (me == root) check([&](std::int64_t i) { return call + ranks - 1 + i; }, to);
        break;
      case 4:
        if (me == root) std::ranges::copy(from, to.begin());
        broadcast(comm, to, root);
        check([&](std::int64_t i) { return call + root + i; }, to);
        break;
      case 5: {
        auto const all = std::span(out).first(n * static_cast<std::size_t>(p));
        all_gather(comm, from, all);
        for (int r = 0; r < p; ++r)
          check([&](std::int64_t i) { return call + r + i; }, all.subspan(n * static_cast<std::size_t>(r), n));
        break;
      }
      case 6:
        scan(comm, from, to, std::plus<>{});
        check([&](std::int64_t i) { return std::int64_t{me} * (me + 1) / 2 + (me + 1) * (call + i); }, to);
        break;
      default: barrier(comm);
    }
  }
  BOOST_TEST(wrong == 0, wrong << " wrong elements in " << calls << " calls");
}

BOOST_AUTO_TEST_CASE(the_mpi_library_s_own_is_wished_for_and_counts_with_int) {
  constexpr std::size_t many = std::size_t{1} << 31;
  auto const takes_vendor = [](mpi_communicator const& comm, collective what, std::size_t n) {
    return explain<char>(comm, what, n).find("vendor by the MPI library") != std::string::npos;
  };
  setenv("COLLIGO_ALL_GATHERV", "vendor", 1), setenv("COLLIGO_ALL_GATHER", "vendor", 1);
  own_comm const wishing;
  int const p = wishing.over().size();
  for (std::size_t const n : {many, std::size_t{1}, many}) {
    BOOST_TEST(takes_vendor(wishing.over(), collective::all_gather, n) == (n < many), n);
    BOOST_TEST(takes_vendor(wishing.over(), collective::all_gatherv, n) == (n < many), n);
  }
  unsetenv("COLLIGO_ALL_GATHERV"), unsetenv("COLLIGO_ALL_GATHER");
  own_comm const with_table;
  use_table("all_gather any any " + std::to_string(p) + " 2G vendor");
  BOOST_TEST(takes_vendor(with_table.over(), collective::all_gather, many - 1));
  BOOST_TEST(!takes_vendor(with_table.over(), collective::all_gather, many));
  use_table("");
  auto* const nowhere = reinterpret_cast<char*>(std::uintptr_t{1} << 40);   // it throws before it reads
  std::span<char> const all(nowhere + many, many * static_cast<std::size_t>(p));
  BOOST_CHECK_THROW(all_gather(wishing.over(), std::span<char const>(nowhere, many), all, vendor{}), algorithm_error);
  // Rank 0 alone has too many, all for itself but one; the others learn it.
  std::vector<std::size_t> counts(static_cast<std::size_t>(p), 1);
  if (wishing.over().rank() == 0) counts[0] = many;
  std::size_t const mine = counts[0] + counts.size() - 1;
  auto const room = [&] {
    void* const at = mmap(nullptr, mine, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    BOOST_REQUIRE(at != MAP_FAILED);
    return std::span(static_cast<char*>(at), mine);
  };
  std::span<char> const in = room(), out = room();
  BOOST_CHECK_THROW(all_to_all_v(wishing.over(), in, counts, out, counts, vendor{}), algorithm_error);
  BOOST_CHECK_THROW(iall_to_all_v(wishing.over(), in, counts, out, counts, vendor{}).wait(), algorithm_error);
  barrier(wishing.over(), vendor{}), barrier(wishing.over());
  munmap(in.data(), mine), munmap(out.data(), mine);
}

BOOST_AUTO_TEST_CASE(the_page_shows_what_explain_prints) {
  boost::mpi::communicator const world(boost::mpi::communicator(), boost::mpi::comm_duplicate);
  if (world.size() != 4) return;
  auto const words_of = [](std::istream&& text) {
    std::string words;
    for (std::string one; text >> one;) words += one + ' ';
    return words;
  };
  char const* const name = "explained_on_stderr";
  if (world.rank() == 0) setenv("COLLIGO_EXPLAIN", "1", 1);
  std::fflush(stderr);
  int const before = dup(2);
  if (world.rank() == 0) BOOST_REQUIRE(std::freopen(name, "w", stderr));
  colligo::all_reduce(world, 1.0, std::plus<>{});
  std::fflush(stderr);
  dup2(before, 2), close(before);
  unsetenv("COLLIGO_EXPLAIN");
  if (world.rank() != 0) return;
  std::string said = words_of(std::ifstream(name));
  std::string const page = words_of(std::ifstream(COLLIGO_PAGE));
  if (auto const at = said.find("plus<>"); at != said.npos) said.insert(at + 5, "void");   // as clang++ writes it
  std::remove(name);
  BOOST_TEST(said.starts_with("colligo: all_reduce of 1 double"));
  BOOST_TEST(page.find(said) != page.npos, "choosing.md does not have: " << said);
}

BOOST_AUTO_TEST_SUITE_END()
