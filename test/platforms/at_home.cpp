// SPDX-License-Identifier: BSL-1.0
// A program for compilers, processors, C libraries and options that the other tests do not run with: header-only, ranks
// that are threads, choices of the rules and named algorithms, exact sums. Prints "at home" and the digest of the sums.
#include <colligo/all_gather.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/barrier.hpp>
#include <colligo/broadcast.hpp>
#include <colligo/record.hpp>
#include <colligo/tools/draw.hpp>
#include <colligo/transport/threads/threads.hpp>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "../sums/exact_numbers.hpp"

namespace {

int wrong = 0;
void check(bool right, char const* what, int p) {
  if (!right && ++wrong < 10) std::printf("%s is wrong on %d ranks\n", what, p);
}

// Whole numbers, so that all orders give the same sum.
void sums(int p, std::size_t n, char const* by) {
  std::vector<int> right(static_cast<std::size_t>(p));
  colligo::run_threads(p, [&](colligo::thread_communicator& comm) {
    std::vector<double> in(n), out(n);
    for (std::size_t i = 0; i < n; ++i) in[i] = comm.rank() + static_cast<double>(i % 1000);
    if (by) colligo::all_reduce(comm, in, out, std::plus<>{}, colligo::named(by));
    else colligo::all_reduce(comm, in, out, std::plus<>{});
    bool all = true;
    for (std::size_t i = 0; i < n; ++i) all &= out[i] == p * static_cast<double>(i % 1000) + p * (p - 1) / 2;
    std::vector<int> ranks(static_cast<std::size_t>(p));
    colligo::all_gather(comm, comm.rank(), ranks);
    for (int r = 0; r < p; ++r) all &= ranks[static_cast<std::size_t>(r)] == r;
    colligo::barrier(comm);
    right[static_cast<std::size_t>(comm.rank())] = all;
  });
  for (int const one : right) check(one == 1, by ? by : "the rules' choice", p);
}

// Vectors that their receivers read where they are, by addresses that other ranks have told.
void in_place(int p) {
  if (setenv("COLLIGO_READ_MEMORY", "2k", 1) != 0) return;
  sums(p, 20000, nullptr);
  std::vector<int> right(static_cast<std::size_t>(p));
  colligo::run_threads(p, [&](colligo::thread_communicator& comm) {
    std::vector<int> const mine(5000, comm.rank());
    std::vector<int> of_last = mine, all(mine.size() * static_cast<std::size_t>(p));
    colligo::broadcast(comm, of_last, p - 1);
    colligo::all_gather(comm, mine, all);
    bool is_right = of_last == std::vector<int>(mine.size(), p - 1);
    for (std::size_t i = 0; i < all.size(); ++i) is_right &= all[i] == static_cast<int>(i / mine.size());
    right[static_cast<std::size_t>(comm.rank())] = is_right;
  });
  for (int const one : right) check(one == 1, "what is read in place", p);
  unsetenv("COLLIGO_READ_MEMORY");
}

void words(int p) {
  colligo::run_threads(p, [&](colligo::thread_communicator& comm) {
    std::string const letter(1, static_cast<char>('a' + comm.rank()));
    std::string const all = colligo::all_reduce(comm, letter, std::plus<>{});
    if (comm.rank() == p - 1) check(all == std::string("abcdefgh").substr(0, static_cast<std::size_t>(p)), "a word", p);
  });
}

// A rank's memory that keeps what it has given.
class memory final : public colligo::detail::host_memory {
 public:
  std::uint64_t allocate(std::size_t n) override {
    bytes = n;
    return reinterpret_cast<std::uintptr_t>(part_.of_size(n));
  }
  void take_back() override {}
  std::byte* at(std::uint64_t address) const override { return reinterpret_cast<std::byte*>(address); }
  std::size_t bytes = 0;
  std::byte const* begin() { return part_.of_size(bytes); }

 private:
  colligo::detail::buffer part_;
};

// Where the cache line is found when the program runs: files of a system are read, and the stamps of a message of two
// lines lie as far apart as the machine's lines are long.
void lines() {
#if COLLIGO_CACHE_LINE == 0
  using namespace colligo::detail;
  auto const root = std::filesystem::temp_directory_path() / ("colligo_at_home." + std::to_string(getpid()));
  check(cache_line_found(root.string()) == 64, "a system that says nothing", 1);
  for (std::size_t const line : {32, 64, 96, 128, 256, 1024}) {
    for (auto const& [cache, bytes] : {std::pair{0, std::size_t{64}}, std::pair{3, line}}) {
      auto const folder = root / ("sys/devices/system/cpu/cpu0/cache/index" + std::to_string(cache));
      std::filesystem::create_directories(folder);
      std::ofstream(folder / "coherency_line_size") << bytes << '\n';
    }
    std::size_t const right = line <= 64 ? 64 : line <= 128 ? 128 : 256;
    check(cache_line_found(root.string()) == right, "the longest line of a system", 1);
  }
  std::filesystem::remove_all(root);
  for (std::size_t const line : {64, 128, 256}) {
    memory channel;
    shared_host host(0, 2, channel, {}, line);
    buffer segments[2];
    std::size_t const bytes = segment_layout(2).bytes();
    for (buffer& one : segments) std::memset(one.of_size(bytes), 0, bytes);
    host.open([&](std::size_t r) { return segments[r].of_size(bytes); }, {});
    std::byte const message[2 * line_payload]{};
    host.to(1).put_lines(message, sizeof message, 1);
    for (std::size_t at = 64, stamps = 0; at < 1024; at += 64) {
      std::uint64_t stamp;
      std::memcpy(&stamp, channel.begin() + sizeof(channel_front) + at, sizeof stamp);
      stamps += stamp != 0;
      check((stamp != 0) == (at == line), "the place of a line", static_cast<int>(stamps));
    }
    cache_line_told = line;
    sums(3, 100, nullptr);
    std::size_t priced[2]{};
    colligo::run_threads(2, [&](colligo::thread_communicator& comm) {
      auto const& state = colligo::state_of<colligo::thread_communicator>::open(comm);
      priced[comm.rank()] = static_cast<communicator_state const&>(state).latencies().line;
    });
    check(priced[0] == line && priced[1] == line, "the line that prices know", 2);
  }
  cache_line_told = 0;
#endif
}

}  // namespace

int main() {
  for (int const p : {1, 2, 3, 5}) {
    for (std::size_t const n : {std::size_t{1}, std::size_t{100}, std::size_t{20000}}) {
      sums(p, n, nullptr);
      for (char const* const by : {"ring", "recursive_doubling", "halving_doubling", "binary_tree"}) sums(p, n, by);
    }
    words(p);
    in_place(p);
    auto const schedule = colligo::record(colligo::halving_doubling{}, colligo::collective::all_reduce, p, 64);
    check(schedule.size() == p && (p == 1 || price(schedule, colligo::typical) > 0), "a price", p);
  }
  if (setenv("COLLIGO_ALL_REDUCE", "circulant", 1) == 0) sums(4, 10, nullptr);
  lines();
  // HWASan and MTE keep a tag in the highest byte of an address.
  auto const tag = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(std::vector<int>(1).data()) >> 56);
  std::puts(tag ? "tagged addresses" : "addresses without tags");
  std::printf("lines of %zu bytes\n", colligo::detail::cache_line_of_machine());
  if (wrong == 0) std::printf("at home %016" PRIx64 "\n", exact_numbers::digest());
  return wrong != 0;
}
