// SPDX-License-Identifier: BSL-1.0
// The shared-memory model among threads: every algorithm over it, words that are bytes, lengths that go every way a
// message can go.
#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <variant>

#include <colligo/transport/memory/look_ahead.hpp>
#include <colligo/transport/memory/stores.hpp>
#include <colligo/transport/threads/thread_state.hpp>

#include "../laws.hpp"
#include "../thorough.hpp"
#include "counted_host.hpp"

#ifdef COLLIGO_TEST_MOST_RANKS   // sanitizers: what they look at does not depend on the algorithm
#define COLLIGO_TEST_ALGORITHMS direct, recursive_doubling, circulant
#define COLLIGO_TEST_CHUNKS 4'000
#else
#define COLLIGO_TEST_MOST_RANKS 33
#define COLLIGO_TEST_CHUNKS tested::at_most(10'000, 30'000)
#define COLLIGO_TEST_FAULTS   // of pages, which sanitizers take for errors
#endif

namespace {

using namespace colligo;

/// A word of the free monoid that travels as bytes: the letters say which ranks, `element` which element of the vector.
template <std::size_t Longest>
struct word {
  std::uint32_t element;
  std::uint16_t length;
  std::array<std::uint8_t, Longest> letters;
  friend bool operator==(word const&, word const&) = default;
};

struct joining {
  template <class Word>
  Word operator()(Word const& a, Word const& b) const {
    Word both = a;
    // Seen by the check.
    if (a.element != b.element || a.length + b.length > a.letters.size()) return both.length = 0, both;
    std::copy_n(b.letters.begin(), b.length, both.letters.begin() + a.length);
    both.length = static_cast<std::uint16_t>(a.length + b.length);
    return both;
  }
};

using letters = word<COLLIGO_TEST_MOST_RANKS>;

letters letter(int rank, std::size_t i) {
  letters w{static_cast<std::uint32_t>(i), 1, {}};
  w.letters[0] = static_cast<std::uint8_t>(rank);
  return w;
}
std::vector<letters> letters_of(int rank, std::size_t n, std::size_t first = 0) {
  std::vector<letters> all;
  for (std::size_t i = 0; i < n; ++i) all.push_back(letter(rank, first + i));
  return all;
}

void expect_all(std::vector<letters> const& got, int first_rank, int last_rank, bool in_order, std::string const& what,
                std::size_t first = 0) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    auto w = got[i];
    bool right = w.element == first + i && w.length == last_rank - first_rank;
    if (right && !in_order) std::sort(w.letters.begin(), w.letters.begin() + w.length);
    for (int r = first_rank; right && r < last_rank; ++r)
      right = w.letters[static_cast<std::size_t>(r - first_rank)] == r;
    if (!right)
      throw std::runtime_error(what + ": element " + std::to_string(i) + " of " + std::to_string(got.size()) +
                               " is wrong");
  }
}

template <class Policy>
auto fitting() {
  if constexpr (keeps_order<Policy>()) return joining{};
  else return as_commutative(joining{});
}

/// Every collective that the tag offers, over shared memory.
template <class Tag>
void over_memory(thread_communicator& comm, Tag const& algorithm, std::size_t n) {
  using enum collective;
  int const p = comm.size(), me = comm.rank();
  auto const ranks = static_cast<std::size_t>(p), here = static_cast<std::size_t>(me);
  over_shared_memory<Tag> const tag{algorithm};
  auto const in = letters_of(me, n);
  auto const what = [&](collective c) {
    return std::string(name_of(c)) + " by " + std::string(Tag::name) + ", p = " + std::to_string(p) + ", rank " +
           std::to_string(me);
  };

  if constexpr (offers<Tag, all_reduce, letters, joining>) {
    using policy = policy_t<all_reduce, Tag, letters, joining>;
    std::vector<letters> out(n);
    colligo::all_reduce(comm, in, out, fitting<policy>(), tag);
    expect_all(out, 0, p, keeps_order<policy>(), what(all_reduce));
    auto both = in;
    colligo::all_reduce(comm, in_place(both), fitting<policy>(), tag);
    expect_all(both, 0, p, keeps_order<policy>(), what(all_reduce) + " in place");
  }
  for (int const root : {0, p / 2, p - 1}) {
    if constexpr (offers<Tag, reduce, letters, joining>) {
      using policy = policy_t<reduce, Tag, letters, joining>;
      std::vector<letters> out(me == root ? n : 0);
      colligo::reduce(comm, in, out, fitting<policy>(), root, tag);
      expect_all(out, 0, p, keeps_order<policy>(), what(reduce));
    }
    if constexpr (offers<Tag, broadcast, letters, joining>) {
      auto both = me == root ? in : std::vector<letters>(n);
      colligo::broadcast(comm, both, root, tag);
      expect_all(both, root, root + 1, true, what(broadcast));
    }
  }
  if constexpr (offers<Tag, scan, letters, joining>) {
    std::vector<letters> out(n);
    colligo::scan(comm, in, out, joining{}, tag);
    expect_all(out, 0, me + 1, true, what(scan));
  }
  for (auto const& counts : laws::distributions(p, n)) {
    std::vector<std::size_t> offsets{0};
    for (std::size_t const count : counts) offsets.push_back(offsets.back() + count);
    auto const expect_gathered = [&](std::vector<letters> const& out, collective c) {
      for (std::size_t r = 0; r < ranks; ++r)
        expect_all({out.begin() + static_cast<std::ptrdiff_t>(offsets[r]),
                    out.begin() + static_cast<std::ptrdiff_t>(offsets[r + 1])},
                   static_cast<int>(r), static_cast<int>(r) + 1, true, what(c), offsets[r]);
    };
    auto const mine = letters_of(me, counts[here], offsets[here]);
    if constexpr (offers<Tag, all_gatherv, letters, joining>) {
      std::vector<letters> out(offsets.back());
      colligo::all_gatherv(comm, mine, out, counts, tag);
      expect_gathered(out, all_gatherv);
    }
    if constexpr (offers<Tag, reduce_scatter, letters, joining>) {
      using policy = policy_t<reduce_scatter, Tag, letters, joining>;
      std::vector<letters> out(counts[here]);
      colligo::reduce_scatter(comm, letters_of(me, offsets.back()), out, counts, fitting<policy>(), tag);
      expect_all(out, 0, p, keeps_order<policy>(), what(reduce_scatter), offsets[here]);
    }
    if constexpr (offers<Tag, gatherv, letters, joining>) {
      std::vector<letters> out(me == p - 1 ? offsets.back() : 0);
      colligo::gatherv(comm, mine, out, counts, p - 1, tag);
      if (me == p - 1) expect_gathered(out, gatherv);
    }
    if constexpr (offers<Tag, scatterv, letters, joining>) {
      std::vector<letters> all, out(counts[here]);
      if (me == 0)
        for (int r = 0; r < p; ++r)
          for (auto const& w : letters_of(r, counts[static_cast<std::size_t>(r)], offsets[static_cast<std::size_t>(r)]))
            all.push_back(w);
      colligo::scatterv(comm, all, counts, out, 0, tag);
      expect_all(out, me, me + 1, true, what(scatterv), offsets[here]);
    }
  }
  if constexpr (offers<Tag, barrier, letters, joining>) colligo::barrier(comm, tag);
}

void over_memory_all(thread_communicator& comm, std::size_t n) {
#ifdef COLLIGO_TEST_ALGORITHMS
  [&]<class... Tags>(std::variant<Tags...>*) {
    (over_memory(comm, Tags{}, n), ...);
  }(static_cast<std::variant<COLLIGO_TEST_ALGORITHMS>*>(nullptr));
#else
  for_each_algorithm([&]<class Tag>(Tag tag) {
    if constexpr (tested::is_made_of_steps<Tag>) over_memory(comm, tag, n);
  });
#endif
}

// Lengths in elements at which messages of `letters` change their way, and beside them.
std::vector<std::size_t> lengths() {
  auto const lines = detail::lines_of_host(2);
  std::size_t const from_all = lines.from_all * detail::line_payload / sizeof(letters);
  std::size_t const from_root = lines.from_root * detail::line_payload / sizeof(letters);
  return {0, 1, from_all, from_all + 1, from_root, from_root + 1, 700};
}

/// Memory is bounded for cache lines of 64 bytes; others take more in proportion.
constexpr std::size_t of_line_of_64 = detail::cache_line / 64;

}  // namespace

TEST_CASE("over shared memory every algorithm combines each rank's word exactly once, in order where it keeps order") {
  for (int const p : {1, 2, 3, 5, 4, 8}) {
    if (p == 4 && !tested::is_thorough()) break;
    REQUIRE_NOTHROW(run_threads(p, [](thread_communicator& comm) {
      for (std::size_t const n : lengths()) over_memory_all(comm, n);
    }));
  }
}

TEST_CASE("messages longer than a ring, and those read from their sender's memory") {
  for (int p = 2; p <= tested::at_most(2, 3); ++p)
    for (std::size_t const from : {std::size_t{4096}, detail::memory_limits::by_ring, detail::memory_limits::as_it_is})
      REQUIRE_NOTHROW(run_threads(p, [from](thread_communicator& comm) {
        static_cast<detail::thread_state&>(state_of<thread_communicator>::open(comm)).shared()->announce_from(from);
        std::size_t const n = 2 * detail::segment_layout(comm.size()).capacity(0) / sizeof(letters) + 5;
        over_memory_all(comm, n);
      }));
}

TEST_CASE("long messages are announced to be read in the sender's memory, unless they are combined") {
  constexpr std::size_t ring = 256 * 1024;
  counted::memory memory;
  detail::rank_record record{};
  auto const announces = [&](bool spin, bool can_read, std::size_t bytes, bool combines,
                             bool crosses = false) {
    detail::shared_host host(0, 1, memory, {});
    auto const read = [](void*, int, std::byte*, std::byte const*, std::size_t) { return true; };
    host.open([&](std::size_t) { return reinterpret_cast<std::byte*>(&record); },
              {.spin = spin, .read = can_read ? +read : nullptr});
    return host.announces(bytes, ring, combines, crosses);
  };
  CHECK(announces(false, true, ring + 1, false));
  CHECK_FALSE(announces(false, true, ring, false));
  CHECK_FALSE(announces(false, true, ring + 1, true));
  CHECK_FALSE(announces(false, false, ring + 1, false));
  CHECK_FALSE(announces(true, true, detail::least_exchanged_in_place, false));
  CHECK(announces(true, true, detail::least_exchanged_in_place, false, true));
  CHECK_FALSE(announces(true, true, detail::least_exchanged_in_place - 1, false, true));
  CHECK_FALSE(announces(true, true, detail::least_exchanged_in_place, true, true));
}

namespace {
std::string_view name_of_letter() { return "letter"; }
std::string_view name_of_number() { return "number"; }
}  // namespace

// The writer is always some calls ahead, so that the entry that is read is written again meanwhile.
TEST_CASE("a report is of the call whose number it has, or not known") {
  auto const call_of = [](std::uint32_t k) {
    return detail::call_identity{k, collective::reduce, static_cast<int>(k % 3), k, 8, {k, k, k}};
  };
  auto const record = std::make_unique<detail::rank_record>();
  std::atomic<bool> ends = false;
  std::atomic<std::uint32_t> latest = 1;
  std::thread writer([&] {
    for (std::uint32_t k = 1; !ends; ++k) {
      record->enter(call_of(k), ~std::uint64_t{k}, k / 64 % 2 ? &name_of_letter : &name_of_number);
      latest.store(k, std::memory_order_relaxed);
    }
  });
  int known = 0, torn = 0;
  auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (std::uint32_t i = 0; known < 300'000 && std::chrono::steady_clock::now() < end; ++i) {
    std::uint32_t const k = latest.load(std::memory_order_relaxed) - i % 8;
    detail::rank_record::report report{.call = {.number = k}};
    if (k == 0 || k > (1u << 31) || !record->read(report)) continue;
    ++known;
    bool const same_type = report.type.empty() || report.type == (k / 64 % 2 ? name_of_letter() : name_of_number());
    torn += report.call != call_of(k) || report.before != ~std::uint64_t{k} || !same_type;
  }
  ends = true;
  writer.join();
  CHECK(known > 1000);
  CHECK(torn == 0);
}

TEST_CASE("of many calls that a rank has abandoned the latest are known, and that there were more") {
  auto const all = std::make_unique<detail::abandoned_calls>();
  for (std::uint32_t k = 1; k <= 300; ++k) {
    all->add(2 * k, "its reason");
    REQUIRE(all->has(2 * k));
    REQUIRE_FALSE(all->has(2 * k - 1));
    CHECK(all->may_have_forgotten(1) == (k >= 128));
  }
  CHECK(all->reason(600) == "its reason");
  CHECK(all->reason(500) == "no reason is known");
  CHECK(all->reason(599).empty());
  CHECK_FALSE(all->may_have_forgotten(600));
  CHECK_FALSE(all->may_have_forgotten(599));
  CHECK(all->may_have_forgotten(20));
}

TEST_CASE("calls that were abandoned long ago are forgotten, because their numbers come again") {
  auto const all = std::make_unique<detail::abandoned_calls>();
  std::uint32_t const long_ago = 7, now = 7 + 3 * (1u << 30);
  all->add(long_ago, "an old reason");
  all->add(now - 5, "a reason");
  all->forget_before(now);
  CHECK_FALSE(all->has(long_ago));
  CHECK(all->reason(long_ago).empty());
  CHECK(all->reason(now - 5) == "a reason");
}

TEST_CASE("a reason is that of its own call, also where many in a row have been abandoned") {
  auto const all = std::make_unique<detail::abandoned_calls>();
  for (std::uint32_t k = 1; k <= 10; ++k) all->add(k, "reason " + std::to_string(k));
  CHECK(all->reason(10) == "reason 10");
  CHECK(all->reason(3) == "no reason is known");
  CHECK(all->reason(11).empty());
}

namespace {
// Two messages of different lengths to each rank in one step.
struct in_two_parts {
  static constexpr std::string_view name = "in_two_parts";
  template <class T>
  struct broadcast {
    template <steps Step>
    constexpr void operator()(Step& step, range all, int root) const {
      range const first{all.first, all.first + all.size() / 3}, rest{first.last, all.last};
      if (step.rank() != root) return step(recv{root, first}, recv{root, rest});
      step(listed{2 * (step.size() - 1), [=](int i) {
        return operand(send{i / 2 < root ? i / 2 : i / 2 + 1, i % 2 ? rest : first});
      }});
    }
  };
};
}  // namespace

TEST_CASE("a request receives messages of different lengths from one rank in one step") {
  hierarchy const levels = hierarchy::of_sizes(8, std::array{2, 2, 2});
  for (std::size_t n = 0; n <= 40; ++n)
    REQUIRE_NOTHROW(run_threads(8, [&](thread_communicator& comm) {
      for (int root = 0; root < comm.size(); root += 3) {
        std::vector<int> all(n, comm.rank() == root ? 7 : 0);
        ibroadcast(comm, all, root, over_shared_memory{in_two_parts{}}).wait();
        if (all != std::vector<int>(n, 7)) throw std::runtime_error("wrong broadcast");
      }
      auto const ranks = static_cast<std::size_t>(comm.size());
      std::vector<std::uint8_t> in(n * ranks), out(n * ranks);
      auto const value = [](int from, int to, std::size_t i) {
        return static_cast<std::uint8_t>(from * 31 + to * 5 + static_cast<int>(i));
      };
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = value(comm.rank(), static_cast<int>(i / n), i % n);
      iall_to_all(comm, in, out, over_shared_memory{bundles_by_level{.levels = &levels}}).wait();
      for (std::size_t i = 0; i < out.size(); ++i)
        if (out[i] != value(static_cast<int>(i / n), comm.rank(), i % n)) throw std::runtime_error("wrong all_to_all");
    }));
}

TEST_CASE("direct gives the same bits on all ranks, those of the order of ranks") {
  for (int const p : {2, 3, 5, 8})
    for (bool const shared : {false, true})
      REQUIRE_NOTHROW(run_threads(p, [p, shared](thread_communicator& comm) {
        auto const value = [](int rank, std::size_t i) {
          return 1.0 / (3 + rank) * (i % 2 ? 1e16 : 1e-3) + static_cast<double>(i);
        };
        for (std::size_t const n : {1u, 30u, 3000u}) {
          std::vector<double> in(n), out(n);
          for (std::size_t i = 0; i < n; ++i) in[i] = value(comm.rank(), i);
          auto both = in;
          if (shared) {
            all_reduce(comm, in, out, std::plus<>{}, shared_memory{});
            all_reduce(comm, in_place(both), std::plus<>{}, shared_memory{});
          } else {
            all_reduce(comm, in, out, std::plus<>{}, direct{});
            all_reduce(comm, in_place(both), std::plus<>{}, direct{});
          }
          for (std::size_t i = 0; i < n; ++i) {
            double expected = value(0, i);
            for (int r = 1; r < p; ++r) expected += value(r, i);
            if (out[i] != expected || both[i] != expected) throw std::runtime_error("other bits");
          }
        }
      }));
}

TEST_CASE("a group's messages are asked for ahead, each rank beginning behind itself") {
  for (std::size_t const members : {1u, 3u, 4u, 15u, 127u}) {
    std::vector<std::size_t> asked, taken;
    auto const ask = [&](std::size_t k) { asked.push_back(k); };
    for (detail::look_ahead next(members, 5, ask); !next.is_over(); next.advance(ask)) {
      taken.push_back(next.member());
      std::size_t const ahead = members <= 3 ? 0 : std::min<std::size_t>(8, members - taken.size() + 1);
      CHECK(asked.size() == (members <= 3 ? 0 : taken.size() - 1 + ahead));
    }
    CHECK(taken.front() == (members <= 3 ? 0 : 5 % members));
    if (members > 3) CHECK(asked == taken);
    std::sort(taken.begin(), taken.end());
    for (std::size_t k = 0; k < members; ++k) CHECK(taken[k] == k);
  }
}

TEST_CASE("calls of different sizes, types and collectives in a row, without barriers between them") {
  for (int const p : {2, 3, 4})
    REQUIRE_NOTHROW(run_threads(p, [](thread_communicator& comm) {
      std::mt19937 random(7);   // the same on all ranks
      int const q = comm.size();
      for (int call = 0; call < 400; ++call) {
        auto const n = static_cast<std::size_t>(1 << random() % 15);
        int const root = static_cast<int>(random()) & 0x7fffffff;
        switch (random() % 5) {
          case 0: {
            std::vector<int> in(n, call + comm.rank()), out(n);
            all_reduce(comm, in, out, std::plus<>{}, named(random() % 2 ? "shared_memory" : "ring@shared_memory"));
            laws::expect(out == std::vector(n, q * call + q * (q - 1) / 2), "all_reduce", q, n);
            break;
          }
          case 1: {
            std::vector<char> both(n, static_cast<char>(comm.rank() == root % q ? call : 0));
            broadcast(comm, both, root % q, shared_memory{});
            laws::expect(both == std::vector(n, static_cast<char>(call)), "broadcast", q, n);
            break;
          }
          case 2: barrier(comm, shared_memory{}); break;
          case 3: {
            std::vector<double> in(n, comm.rank()), out(n * static_cast<std::size_t>(q));
            all_gather(comm, in, out, shared_memory{});
            for (std::size_t i = 0; i < out.size(); ++i)
              laws::expect(out[i] == static_cast<double>(i / n), "all_gather", q, n);
            break;
          }
          default: {
            std::vector<long> in(n, 1), out(n);
            scan(comm, in, out, std::plus<>{}, named("recursive_doubling@shared_memory"));
            laws::expect(out == std::vector(n, comm.rank() + 1L), "scan", q, n);
          }
        }
      }
    }));
}

TEST_CASE("what a functor throws comes out on every rank, and the next call is right") {
  for (std::size_t const n : {1u, 100u, 20000u})
    run_threads(3, [n](thread_communicator& comm) {
      std::vector<int> in(n, 1), out(n);
      auto const angry = [](int, int) -> int { throw std::domain_error("no"); };
      bool thrown = false;
      try {
        all_reduce(comm, in, out, as_commutative(angry), shared_memory{{.slices = 1 << 20}});
      } catch (std::domain_error const&) {
        thrown = true;
      }
      if (!thrown) throw std::runtime_error("nothing was thrown");
      all_reduce(comm, in, out, std::plus<>{}, shared_memory{});
      laws::expect(out == std::vector<int>(n, 3), "the next call", 3, n);
    });
}

TEST_CASE("elements too large for the rings, and elements larger than a chunk") {
  struct large { std::array<std::uint64_t, 3000> values; };      // 24 KB: fits
  struct larger { std::array<std::uint64_t, 5000> values; };     // 40 KB: over messages
  auto const check = []<class T>(T) {
    run_threads(3, [](thread_communicator& comm) {
      std::vector<T> in(3), out(3);
      for (auto& x : in) x.values.fill(static_cast<std::uint64_t>(comm.rank()));
      auto const add = [](T const& a, T const& b) {
        T sum;
        for (std::size_t i = 0; i < a.values.size(); ++i) sum.values[i] = a.values[i] + b.values[i];
        return sum;
      };
      all_reduce(comm, in, out, add, shared_memory{});
      for (auto const& x : out)
        for (auto const v : x.values) laws::expect(v == 3, "large elements", 3, 3);
    });
  };
  check(large{});
  check(larger{});
}

TEST_CASE("128 ranks of one host") {
  REQUIRE_NOTHROW(run_threads(128, [](thread_communicator& comm) {
    int const p = comm.size();
    for (std::size_t const n : {1u, 100u, 3000u}) {
      std::vector<int> in(n, comm.rank()), out(n);
      all_reduce(comm, in, out, std::plus<>{}, over_shared_memory<recursive_doubling>{});
      laws::expect(out == std::vector(n, p * (p - 1) / 2), "all_reduce", p, n);
      all_reduce(comm, in, out, maximum{}, over_shared_memory<direct>{});
      laws::expect(out == std::vector(n, p - 1), "direct", p, n);
    }
  }));
}

TEST_CASE("rings are as long as the page of channels says") {
  struct host_size { int ranks; std::size_t to_one, to_all, to_some; };   // KiB
  for (host_size const row : {host_size{2, 512, 256, 512}, {3, 512, 256, 512}, {4, 256, 256, 256}, {5, 256, 256, 256},
                              {6, 128, 256, 128}, {9, 128, 256, 128}, {16, 64, 256, 64}, {17, 16, 64, 16},
                              {33, 8, 64, 16}, {64, 4, 64, 16}, {65, 4, 64, 8}, {288, 4, 64, 8}}) {
    CAPTURE(row.ranks);
    detail::segment_layout const layout(row.ranks);
    CHECK(layout.capacity(0) == row.to_one << 10);
    CHECK(layout.capacity(static_cast<std::size_t>(row.ranks)) == row.to_all << 10);
    CHECK(layout.capacity_among() == row.to_some << 10);
  }
}

TEST_CASE("64 ranks that all send long messages to each other need less than 32 MiB, and ends find each other") {
  constexpr std::size_t p = 64;
  detail::call_identity const sum{.number = 1, .what = collective::all_reduce, .n = 1};
  std::uint64_t const tag = detail::message_tag(sum.number, sum.hash()).of(1);
  counted::host hosts(p);
  std::vector<operand> everybody(2 * p - 2);
  for (std::size_t r = 0; r < p; ++r)
    hosts[r].allocate_ring(hosts[r].to(*hosts[r].reader_group_of(everybody, list_kind::published)));
  std::size_t const chunk_size = hosts[0].chunk_of(1);
  for (std::size_t other = 1; other < p; ++other) {
    for (std::size_t r = 0; r < p; ++r) {
      int const peer = static_cast<int>(r ^ other);
      if (r % 2) hosts[r].from(peer);   // either end may be the first
      detail::sender& out = hosts[r].to(peer);
      auto const value = static_cast<std::byte>(r);
      out.put_lines(&value, 1, tag);
      *out.room_for(chunk_size, tag) = value;
      out.put();
    }
    for (std::size_t r = 0; r < p; ++r) {
      auto const expected = static_cast<std::byte>(r ^ other);
      int const peer = static_cast<int>(r ^ other);
      detail::receiver& in = hosts[r].from(peer);
      detail::awaited const message{nullptr, peer, tag};
      REQUIRE(in.has_line(message));
      std::byte got{};
      in.take_line(&got, 1);
      REQUIRE(got == expected);
      std::byte const* const chunk = in.chunk(chunk_size, message);
      REQUIRE(chunk != nullptr);
      REQUIRE(*chunk == expected);
      in.release(chunk_size);
    }
  }
  CHECK(hosts.shared_bytes() < (std::size_t{32} << 20) * of_line_of_64);
}

TEST_CASE("what automatic takes on hosts whose ranks have a core each stays in O(p lg p), whether groups are even") {
  struct host_size { int p; std::array<int, 2> levels; int mebibytes; };
  for (auto const& [p, sizes, mebibytes] :
       {host_size{64, {4, 16}, 12}, {121, {4, 16}, 23}, {128, {4, 16}, 22}, {281, {72, 4}, 56}, {288, {72, 4}, 56}}) {
    counted::host host(static_cast<std::size_t>(p));
    counted::prepare_all(host, p, hierarchy::of_sizes(p, sizes));
    if (p > 8 * COLLIGO_TEST_MOST_RANKS + 100) break;
    INFO(p << " ranks");
    double const counters = detail::line_is_found ? 1.1 : 1;   // lie twice as far apart
    CHECK(static_cast<double>(host.shared_bytes()) / (1 << 20) < mebibytes * counters * of_line_of_64);
  }
}

TEST_CASE("short vectors by level: a rank writes one line per level, for whoever reads it there") {
  struct target { int p; std::vector<int> sizes; int lines, peers; };
  for (auto const& [p, sizes, lines, peers] :
       {target{16, {4}, 2, 6}, {32, {4}, 2, 10}, {64, {4}, 3, 9}, {128, {4, 16, 2}, 4, 10}, {72, {}, 2, 15},
        {288, {72}, 3, 18}}) {
    hierarchy const levels = hierarchy::of_sizes(p, sizes);
    detail::small_vector<operand> list;
    for (int const me : {0, p / 3, p - 1}) {
      detail::rank_plan plan;
      detail::planner plans(me, p, sizeof(double), plan, list);
      direct_by_level const tag{.levels = &levels};
      make_policy<collective::all_reduce, direct_by_level, double, std::plus<>>(tag)(plans, range{0, 1});
      int written = 0, read = 0;
      for (auto const& s : plan.steps) {
        int sends = 0;
        for (operand const& o : plan.operands_of(s)) o.sends() ? ++sends : ++read;
        written += s.kind == list_kind::published_among ? 1 : sends;
      }
      INFO(p << " ranks, rank " << me);
      CHECK(written == lines);
      CHECK(read == peers);
    }
  }
}

TEST_CASE("ranks of a reader group find each other, whoever comes first, and others are none of them") {
  constexpr std::size_t p = 12;
  counted::host hosts(p);
  detail::call_identity const sum{.number = 1, .what = collective::all_reduce, .n = 1};
  std::uint64_t const tag = detail::message_tag(sum.number, sum.hash()).of(1);
  auto const to = [](int me, std::vector<int> const& members) {
    std::vector<operand> list;
    for (bool const sends : {true, false})
      for (int const r : members)
        if (r != me) list.push_back(sends ? operand(send{r, range{0, 1}}) : operand(fold{r, range{0, 1}}));
    return list;
  };
  auto const reader_group_of = [&](int me, std::vector<int> const& members) {
    return hosts[static_cast<std::size_t>(me)].reader_group_of(to(me, members), list_kind::published_among);
  };
  CHECK(reader_group_of(0, {0, 5}) == nullptr);   // a message like any
  int made = 0;
  for (std::vector<int> const& members : {std::vector{0, 1, 2, 3}, {0, 4, 8}, {0, 4, 9}, {5, 7, 11}}) {
    for (int const me : members) {
      detail::reader_group* const group = reader_group_of(me, members);
      REQUIRE(group != nullptr);
      CHECK(group->readers() == members.size() - 1);
      CHECK(reader_group_of(me, {members.rbegin(), members.rend()}) == group);   // in any order
      auto const value = static_cast<std::byte>(10 * made + me);
      hosts[static_cast<std::size_t>(me)].to(*group).put_lines(&value, 1, tag);
    }
    for (int const me : members)
      for (int const from : members) {
        if (from == me) continue;
        detail::receiver& in = hosts[static_cast<std::size_t>(me)].from(*reader_group_of(me, members), from);
        REQUIRE(in.has_line({nullptr, from, tag}));
        std::byte got{};
        in.take_line(&got, 1);
        CHECK(got == static_cast<std::byte>(10 * made + from));
      }
    ++made;
  }
  // Who finds no place in the segment of the lowest does without, on all ranks alike.
  int found = 0;
  for (int a = 1; a < static_cast<int>(p); ++a)
    for (int b = a + 1; b < static_cast<int>(p); ++b) {
      bool const is_there = reader_group_of(a, {0, a, b}) != nullptr;
      CHECK((reader_group_of(0, {0, a, b}) != nullptr) == is_there);
      CHECK((reader_group_of(b, {b, a, 0}) != nullptr) == is_there);
      found += is_there;
    }
  CHECK(found == static_cast<int>(detail::segment_layout::reader_groups) - 1);   // {0, 1, 2, 3} has one
}

TEST_CASE("a copy past the cache writes what it is to write, and nothing beside it") {
  std::vector<std::byte> from(700), to(700);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + 1);
  for (std::size_t const bytes : {0u, 1u, 15u, 63u, 64u, 65u, 128u, 191u, 500u})
    for (std::size_t at = 0; at < 70; ++at) {
      std::ranges::fill(to, std::byte{});
      detail::copy_streaming(to.data() + at, from.data() + at / 3, bytes);
      std::vector<std::byte> expected(to.size());
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(at / 3), bytes,
                  expected.begin() + static_cast<std::ptrdiff_t>(at));
      REQUIRE(to == expected);
    }
}

TEST_CASE("a channel stores as is quicker for its writer and its readers together, and follows what changes") {
  struct { std::uint32_t cached, streaming; } reader{}, writer{};
  detail::store_choice choice;
  detail::measured_cost seen[2];
  std::uint32_t chunks = 0;
  bool one_way = false;
  auto const streamed = [&](int n) {   // of n chunks of 1 KiB
    int count = 0;
    for (int k = 0; k < n; ++k) {
      auto const store = choice.next(one_way, [&](bool streams) { return seen[streams].known(); });
      count += store.second;
      if (!store.timed) continue;
      bool const interrupted = ++chunks % 10 == 0;   // a rank that had to wait for its core
      choice.took(store.second, 1024, (store.second ? writer.streaming : writer.cached) * (interrupted ? 100 : 1));
      seen[store.second].add(1024, store.second ? reader.streaming : reader.cached);
    }
    return count;
  };
  reader = {300, 400}, writer = {100, 300};
  CHECK(streamed(24) == 12);
  CHECK(streamed(4000) < 60);
  reader = {1600, 400}, writer = {900, 300};   // the ranks have been moved to different dies
  CHECK(streamed(200) > 150);
  CHECK(streamed(40000) > 39850);
  reader = {300, 400}, writer = {100, 300};    // and back
  CHECK(streamed(6000) < 4500);
  reader = {400, 300}, writer = {300, 400};    // as quick: it stays as it is
  CHECK(streamed(4000) < 60);
  reader = {190, 220}, writer = {200, 40};     // less work in all, but the reader takes longer
  one_way = true;
  CHECK(streamed(4000) < 60);
  one_way = false;
  CHECK(streamed(4000) > 3500);
}

TEST_CASE("a channel finds the quicker way where a chunk takes a few ticks of the clock") {
  struct { double cached, streaming; } chunk{};   // nanoseconds of the writer and, again, of the reader
  for (double const tick : {42., 10., 8.3}) {     // of 24, 100 and 120 MHz
    detail::store_choice choice;
    detail::measured_cost seen[2];
    double now = 0;
    int pause = 0;
    auto const ticks = [&](double ns) {
      auto const began = static_cast<std::uint64_t>(now / tick);
      now += ns;
      auto const took = static_cast<std::uint64_t>(now / tick) - began;
      now += 217 + pause++ * 37 % 101;   // until the next chunk
      return took;
    };
    auto const streamed = [&](int n) {   // of n chunks of 1 KiB
      int count = 0;
      for (int k = 0; k < n; ++k) {
        auto const store = choice.next(false, [&](bool streams) { return seen[streams].known(); });
        count += store.second;
        if (!store.timed) continue;
        double const ns = store.second ? chunk.streaming : chunk.cached;
        choice.took(store.second, 1024, ticks(ns));
        seen[store.second].add(1024, ticks(ns));
      }
      return count;
    };
    for (int round = 0; round < 3; ++round) {
      chunk = {60, 80};
      streamed(20000);   // notices it, by some trials
      CHECK(streamed(100000) < 400);
      chunk = {80, 60};
      streamed(20000);
      CHECK(streamed(100000) > 99600);
    }
  }
}

TEST_CASE("a channel does not measure the pages of a new ring, nor where it is told how to store") {
  counted::host hosts(2);
  detail::sender& to = hosts[0].to(1);
  constexpr std::size_t bytes = 2048;
  constexpr std::uint64_t tag = 1 << 8;
  auto const is_timed = [&] {   // one more chunk
    REQUIRE(to.room_for(bytes, tag));
    bool const timed = to.is_timed();
    to.put();
    REQUIRE(hosts[1].from(0).chunk(bytes, {nullptr, 0, tag}));
    hosts[1].from(0).release(bytes);
    return timed;
  };
  for (std::size_t k = to.capacity() / detail::chunk_header::whole(bytes); k > 0; --k) REQUIRE_FALSE(is_timed());
  CHECK(is_timed());
  for (auto const stores : {detail::stores_setting::cached, detail::stores_setting::streaming}) {
    hosts[0].limit({.stores = stores});
    CHECK_FALSE(is_timed());
  }
}

TEST_CASE("the pages of a new ring come many at a time, and no more than a writer will soon use") {
  constexpr std::size_t page = 4096, at_once = 64 * 1024;
  std::vector<std::byte> probed(2 * page);
  auto const whole = (reinterpret_cast<std::uintptr_t>(probed.data()) + page - 1) & ~(page - 1);
  constexpr int populate = 23;   // MADV_POPULATE_WRITE
  if (sysconf(_SC_PAGESIZE) != page || madvise(reinterpret_cast<void*>(whole), page, populate) != 0) {
    WARN("this system has pages of another size, or gives them one at a time alone");
    return;
  }
  counted::host hosts(2);
  detail::sender& to = hosts[0].to(1);
  auto const next = [&] {   // the place of one more chunk
    std::byte* const there = to.room_for(2048, 1 << 8);
    REQUIRE(there);
    return there;
  };
  std::byte* place = next();
  auto const begin = reinterpret_cast<std::uintptr_t>(place) & ~(page - 1), second = begin + at_once;
  std::size_t const others = to.capacity() - at_once - 2 * page;
  REQUIRE(madvise(reinterpret_cast<void*>(second), others, MADV_DONTNEED) == 0);   // they may be of earlier tests
  while (reinterpret_cast<std::uintptr_t>(place) < second) {
    to.put();
    REQUIRE(hosts[1].from(0).chunk(2048, {nullptr, 0, 1 << 8}));
    hosts[1].from(0).release(2048);
    place = next();
  }
  std::vector<unsigned char> there(others / page);
  REQUIRE(mincore(reinterpret_cast<void*>(second), others, there.data()) == 0);
  auto const pages = std::count_if(there.begin(), there.end(), [](unsigned char p) { return (p & 1) != 0; });
  CHECK(pages >= static_cast<int>(at_once / page) - 1);
  CHECK(pages <= static_cast<int>(at_once / page) + 2);
}

TEST_CASE("long results are stored, and long messages exchanged, as a rank measures or as it is told") {
  using detail::stores_setting;
  counted::memory memory;
  detail::rank_record record{};
  detail::shared_host host(0, 1, memory, {});
  auto const read = [](void*, int, std::byte*, std::byte const*, std::size_t) { return true; };
  host.open([&](std::size_t) { return reinterpret_cast<std::byte*>(&record); }, {.spin = true, .read = read});
  constexpr std::size_t longest_cached = detail::least_streamed_result - 1, chunk = 32 * 1024;
  auto const streamed = [&](std::uint64_t cached, std::uint64_t streaming) {   // of 1000 chunks
    int count = 0;
    for (int k = 0; k < 1000; ++k) {
      auto const store = host.next_result(longest_cached + 1);
      count += store.second;
      if (store.timed) host.stored(store, chunk, store.second ? streaming : cached);
    }
    return count;
  };
  CHECK(streamed(3000, 2000) > 900);
  streamed(2000, 3000);   // the other way is tried ever less often
  CHECK(streamed(2000, 3000) < 200);
  CHECK_FALSE(host.next_result(longest_cached).second);
  for (bool const streams : {false, true}) {
    host.limit({.stores = streams ? stores_setting::streaming : stores_setting::cached});
    CHECK(host.next_result(longest_cached + 1).second == streams);
    CHECK_FALSE(host.next_result(longest_cached + 1).timed);
  }
  host.limit({});
  auto const in_place = [&](std::size_t bytes, std::uint64_t ring, std::uint64_t place) {   // of 1000 steps
    int count = 0;
    for (int k = 0; k < 1000; ++k) {
      bool const timed = host.exchanges.begin(bytes);
      count += host.exchanges.is_in_place();
      if (timed) host.exchanges.took(bytes, host.exchanges.is_in_place() ? place : ring);
    }
    return count;
  };
  CHECK(in_place(1 << 20, 300000, 200000) > 900);
  CHECK(in_place(1 << 19, 100000, 200000) < 100);   // another length
  CHECK(in_place(1 << 20, 200000, 300000) < 200);
}

namespace {
struct variable {
  char const* name;
  variable(char const* which, char const* value) : name(which) { ::setenv(name, value, 1); }
  ~variable() { ::unsetenv(name); }
};
}  // namespace

TEST_CASE("very many chunks, stored both ways in turn, are read as they were written") {
  constexpr std::size_t words = 128;
  std::uint64_t const chunks = COLLIGO_TEST_CHUNKS;
  counted::host hosts(2);
  detail::shared_host &writer = hosts[0], &reader = hosts[1];
  constexpr std::uint64_t tag = 1 << 8;
  auto const until = [](auto const& there) {
    for (unsigned polls = 1; !there(); ++polls)
      if (polls % 128 == 0) std::this_thread::yield();
  };
  std::atomic<std::uint64_t> read = 0;   // what the reader does not wait for has long left the writer's core
  std::thread writing([&] {
    std::array<std::uint64_t, words> chunk;
    detail::memory_limits limits;
    for (std::uint64_t k = 0; k < chunks; ++k) {
      for (std::size_t i = 0; i < words; ++i) chunk[i] = k * words + i;
      limits.stores = k % 3 == 0 ? detail::stores_setting::cached : detail::stores_setting::streaming;
      writer.limit(limits);
      until([&] { return read.load(std::memory_order_relaxed) == k; });
      std::byte* const place = writer.to(1).room_for(sizeof chunk, tag);
      writer.to(1).copy(place, reinterpret_cast<std::byte const*>(chunk.data()), sizeof chunk);
      writer.to(1).put();
    }
  });
  std::uint64_t wrong = 0;
  for (std::uint64_t k = 0; k < chunks; ++k) {
    std::byte const* place = nullptr;
    until([&] { return (place = reader.from(0).chunk(words * 8, {nullptr, 0, tag})) != nullptr; });
    auto const* const chunk = reinterpret_cast<std::uint64_t const*>(place);
    for (std::size_t i = words; i-- > 0;) wrong += chunk[i] != k * words + i;   // what was stored last comes first
    reader.from(0).release(words * 8);
    read.store(k + 1, std::memory_order_relaxed);
  }
  writing.join();
  CHECK(wrong == 0);
}

TEST_CASE("bytes that look like the header of a chunk are none") {
  counted::host hosts(2);
  detail::sender& out = hosts[0].to(1);
  detail::receiver& in = hosts[1].from(0);
  detail::awaited const awaited{nullptr, 0, 1 << 8};
  std::vector<detail::chunk_header> forged(300);   // a whole message of them, wherever a header may be expected
  for (auto& line : forged) {
    line.ready = 64;
    line.what = {awaited.tag, 64};
  }
  std::mt19937 random(1);
  std::size_t taken = 0;
  for (int k = 0; k < 1000; ++k) {
    std::size_t const bytes = random() % forged.size() * 64 + 1 + random() % 64;
    REQUIRE(in.chunk(1, awaited) == nullptr);
    std::byte* const place = out.room_for(bytes, awaited.tag);
    REQUIRE(place);
    REQUIRE(in.chunk(1, awaited) == nullptr);   // nor while it is copied
    std::memcpy(place, static_cast<void const*>(forged.data()), bytes);
    if (bytes > 64) {
      out.put_part(64);
      REQUIRE(in.chunk(64, awaited) == place);
      REQUIRE(in.chunk(bytes, awaited) == nullptr);
    }
    out.put();
    REQUIRE(in.chunk(bytes, awaited) == place);
    in.release(bytes);
    taken += bytes;
  }
  CHECK(taken > 8 * out.capacity());   // round and round
}

#ifdef COLLIGO_TEST_FAULTS
namespace {
/// A rank's input whose pages say when they are read for the first time.
struct told_pages {
  static inline told_pages* current = nullptr;
  static constexpr std::size_t page = 8192;   // two of the system's: what is announced at once

  told_pages(std::size_t pages, void (*touched)(std::size_t page)) : count(pages), tell(touched) {
    data = static_cast<std::byte*>(
        mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    current = this;
    struct sigaction mine {};
    mine.sa_flags = SA_SIGINFO;
    mine.sa_sigaction = [](int, siginfo_t* fault, void*) {
      auto const at = static_cast<std::size_t>(static_cast<std::byte*>(fault->si_addr) - current->data) / page;
      if (at >= current->count) _exit(1);
      mprotect(current->data + at * page, page, PROT_READ);
      current->tell(at);
    };
    sigaction(SIGSEGV, &mine, &before);
  }
  ~told_pages() {
    sigaction(SIGSEGV, &before, nullptr);
    munmap(data, count * page);
  }
  void close() { mprotect(data, count * page, PROT_NONE); }

  std::byte* data;
  std::size_t count;
  void (*tell)(std::size_t page);
  struct sigaction before {};
};
}  // namespace

TEST_CASE("a rank that waits copies its own block meanwhile") {
  constexpr int n = 5000;
  std::vector<int> all(2 * n);
  std::atomic<bool> is_there = false;
  REQUIRE_NOTHROW(run_threads(2, [&](thread_communicator& comm) {
    std::vector<int> mine(n);
    std::iota(mine.begin(), mine.end(), 1 + comm.rank() * n);
    if (comm.rank() == 1)
      for (int i = 0; i < 20'000 && !is_there; ++i, usleep(500)) is_there = std::atomic_ref(all[n - 1]).load() == n;
    colligo::gather(comm, mine, std::span(all).first(comm.rank() == 0 ? 2 * n : 0), 0, over_shared_memory{linear{}});
  }));
  CHECK(is_there);
  for (int i = 0; i < 2 * n; ++i)
    if (all[static_cast<std::size_t>(i)] != i + 1) FAIL_CHECK(i);
}

TEST_CASE("a message one way announces its first and its last chunk in parts, and those between as a whole") {
  static constexpr std::size_t chunk = 4, chunks = 5, words = told_pages::page / 8;   // pages, but for the last
  static std::atomic<std::size_t> combined;   // pages, by the reader
  static std::array<std::size_t, chunk * chunks> known;
  combined = 0;
  variable const stores_set("COLLIGO_STORES", "cached");
  told_pages input(chunk * chunks, [](std::size_t at) {   // before a page is copied
    bool const is_waited_for = at % chunk == 0 || at / chunk == 0 || at / chunk == chunks - 1;
    for (int i = 0; i < (is_waited_for ? 20'000 : 20) && combined.load() < at; ++i) usleep(500);
    known[at] = combined.load();
  });
  REQUIRE_NOTHROW(run_threads(2, [&](thread_communicator& comm) {
    std::vector<std::uint64_t> own(input.count * words, 1), out(own.size());
    std::span<std::uint64_t> in(own);
    if (comm.rank() == 0) {
      in = {reinterpret_cast<std::uint64_t*>(input.data), own.size()};
      std::iota(in.begin(), in.end(), 0u);
      input.close();
    }
    auto const add = [](std::uint64_t a, std::uint64_t b) {
      if (a % words == words - 1) combined = a / words + 1;
      return a + b;
    };
    colligo::scan(comm, in, out, add, over_shared_memory{recursive_doubling{}});
  }));
  for (std::size_t at = 0; at < known.size(); ++at) {
    bool const between = at / chunk != 0 && at / chunk != chunks - 1;
    CAPTURE(at);
    CHECK(known[at] == (between ? at / chunk * chunk : at));
  }
}
#endif

TEST_CASE("many chunks, stored both ways, arrive as they were sent") {
  for (char const* stores : {"cached", "streaming", "measured"}) {
    variable const stores_set("COLLIGO_STORES", stores), small("COLLIGO_CHUNKS", "1k");
    for (int again = 0; again < 5; ++again)   // channels that are new try both ways
      REQUIRE_NOTHROW(run_threads(2, [again](thread_communicator& comm) {
        std::uint64_t const p = 2, me = static_cast<std::uint64_t>(comm.rank());
        std::vector<std::uint64_t> sums(40000), all(p * 20000), mine(20000);
        for (std::uint64_t k = 1; k <= 8; ++k) {
          for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = k * i + me;
          colligo::all_reduce(comm, in_place(sums), std::plus<>{}, over_shared_memory{recursive_doubling{}});
          for (std::size_t i = 0; i < sums.size(); ++i)
            if (sums[i] != p * k * i + 1) throw error("a wrong sum");
          for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = (k * i) << 2 | me;
          colligo::all_gather(comm, mine, all, over_shared_memory{direct{}});
          for (std::size_t i = 0; i < all.size(); ++i)
            if (all[i] != ((k * (i % mine.size())) << 2 | i / mine.size())) throw error("a wrong element");
        }
        if (again != 0) return;
        std::vector<std::uint64_t> large(525'001), expected(large.size());   // its result goes past the cache
        std::iota(expected.begin() + 1, expected.end(), 1u);
        if (me == 1) large = expected;
        colligo::broadcast(comm, std::span(large).subspan(1), 1, over_shared_memory{direct{}});
        if (large != expected) throw error("a wrong element of a long vector");
      }));
  }
}
