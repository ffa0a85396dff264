// SPDX-License-Identifier: BSL-1.0
/// @file
/// What the step vocabulary costs: recursive doubling written against it and by hand, one
/// double, interleaved in one run:
///   mpirun -n 2 overhead
/// Tells whether the library stays within 5 % of the loop by hand. That is an aim and no test: the exit code does not
/// depend on it.
#include <mpi.h>

#include <sched.h>

#include <array>
#include <atomic>
#include <bit>
#include <colligo/all_reduce.hpp>
#include <colligo/engine/checked.hpp>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "launch.hpp"
#include "options.hpp"
#include "statistics.hpp"

namespace bench {
namespace {

constexpr double aim = 1.05;

/// What a user would write: recursive doubling for p = 2^k on a communicator of its own.
class by_hand {
 public:
  by_hand() {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  ~by_hand() { MPI_Comm_free(&comm_); }
  by_hand(by_hand const&) = delete;
  by_hand& operator=(by_hand const&) = delete;

  double operator()(double x) const {
    for (int d = 1; d < size_; d *= 2) {
      double theirs = 0;
      int const peer = rank_ ^ d;
      MPI_Sendrecv(&x, 1, MPI_DOUBLE, peer, 0, &theirs, 1, MPI_DOUBLE, peer, 0, comm_, MPI_STATUS_IGNORE);
      x = peer < rank_ ? theirs + x : x + theirs;
    }
    return x;
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
};

/// The least that two ranks of a host can take: each writes its number and the number of the call into a line of shared
/// memory, and waits for the other's line. Null on other numbers of ranks.
class bare_exchange {
 public:
  bare_exchange() {
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) return;
    void* at = nullptr;
    MPI_Aint bytes = rank_ == 0 ? static_cast<MPI_Aint>(sizeof(lines)) : 0;
    int unit = 0;
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &at, &window_);
    MPI_Win_shared_query(window_, 0, &bytes, &unit, &at);
    if (rank_ == 0) ::new (at) lines;
    lines_ = static_cast<lines*>(at);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~bare_exchange() {
    if (lines_) MPI_Win_free(&window_);
  }
  bare_exchange(bare_exchange const&) = delete;
  bare_exchange& operator=(bare_exchange const&) = delete;

  bool is_there() const { return lines_ != nullptr; }
  double operator()(double x) const {
    if (!lines_) return MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), x;
    std::uint64_t const call = ++calls_;
    auto& mine = (*lines_)[2 * (call & 1) + static_cast<std::uint64_t>(rank_)];
    auto const& theirs = (*lines_)[2 * (call & 1) + static_cast<std::uint64_t>(1 - rank_)];
    mine.value = x;
    mine.call.store(call, std::memory_order_release);
    for (unsigned polls = 0; theirs.call.load(std::memory_order_acquire) != call;)
      if (++polls % 65536 == 0) sched_yield();   // where the ranks share a core
    return rank_ == 0 ? x + theirs.value : theirs.value + x;
  }

 private:
  struct alignas(128) line {
    std::atomic<std::uint64_t> call = 0;
    double value = 0;
  };
  using lines = std::array<line, 4>;

  int rank_ = 0;
  std::uint64_t mutable calls_ = 0;
  MPI_Win window_ = MPI_WIN_NULL;
  lines* lines_ = nullptr;
};

/// Microseconds per call on this rank. A template, so that the call under test is inlined as it is in a user's loop.
template <class Call>
double time_calls(Call const& call, int calls) {
  double x = 1, total = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  double const start = MPI_Wtime();
  for (int i = 0; i < calls; ++i) total += call(x), x += 1;
  double const seconds = MPI_Wtime() - start;
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double const expected = ranks * (static_cast<double>(calls) * (calls + 1.0) / 2);   // whole numbers: exact
  if (total != expected) throw std::runtime_error(fmt::format("wrong result: {} instead of {}", total, expected));
  return seconds * 1e6 / calls;
}

struct options {
  int batches = 400, calls = 1000;
  bool no_pin = false;
};

std::optional<int> parse(int argc, char** argv, int rank, options& o) {
  CLI::App app("Times steps against a loop of MPI calls by hand: all_reduce of one double on 2^k ranks.", "overhead");
  app.add_option("--batches", o.batches, "samples of each way")->check(CLI::Range(1, 1000000))->capture_default_str();
  app.add_option("--calls", o.calls, "calls in a sample")->check(CLI::Range(1, 1000000))->capture_default_str();
  app.add_flag("--no-pin", o.no_pin, "leave the ranks where the launcher has put them");
  return read_options(app, argc, argv, rank);
}

/// The samples of each way, the slowest rank of each; each batch in an order of its own.
template <class... Ways>
std::vector<std::vector<double>> interleave(options const& o, Ways const&... ways) {
  constexpr std::size_t count = sizeof...(Ways);
  std::vector<std::vector<double>> samples(count);
  auto const time_one = [&](std::size_t which, int calls) {
    double mine = 0, slowest = 0;
    std::size_t i = 0;
    ((i++ == which ? void(mine = time_calls(ways, calls)) : void()), ...);
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
  };
  for (std::size_t i = 0; i < count; ++i) time_one(i, o.calls);   // warm
  turns order(count);
  for (int batch = 0; batch < o.batches; ++batch)
    for (std::size_t const which : order.next_round()) samples[which].push_back(time_one(which, o.calls));
  return samples;
}

int overhead(int argc, char** argv) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  options o;
  if (auto const code = parse(argc, argv, rank, o)) return *code;
  if (!std::has_single_bit(static_cast<unsigned>(ranks)))
    throw agreed_error(fmt::format("overhead runs on 1, 2, 4, 8 ... ranks, not {}", ranks));
  auto const seats = take_seats(!o.no_pin);

  communicator const comm = world();
  by_hand const hand;
  auto const ours = [&comm](auto const& algorithm) {
    return [&comm, &algorithm](double x) { return colligo::all_reduce(comm, x, std::plus<>{}, algorithm); };
  };
  colligo::over_messages<colligo::recursive_doubling> const tag;
  colligo::named const name("recursive_doubling@messages");
  colligo::recursive_doubling const pinned;
  colligo::direct const direct;
  colligo::automatic const automatic;
  auto const vendor = [](double x) {
    double result = 0;
    MPI_Allreduce(&x, &result, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return result;
  };
  auto const checked = [&comm](double x) { return colligo::all_reduce(colligo::checked(comm), x, std::plus<>{}); };
  std::vector<double> in(1), out(1);
  auto again = colligo::all_reduce_init(comm, in, out, std::plus<>{});
  auto const persistent = [&](double x) { return in[0] = x, again.start(), again.wait(), out[0]; };
  auto const request = [&](double x) {
    return in[0] = x, colligo::iall_reduce(comm, in, out, std::plus<>{}).wait(), out[0];
  };
  bare_exchange const bare;
  auto const line = [&](double x) { return bare(x); };
  auto const samples = interleave(o, hand, ours(tag), ours(name), ours(pinned), ours(direct), ours(automatic), checked,
                                  vendor, persistent, request, line);
  if (rank != 0) return 0;

  fmt::print("all_reduce of one double: {}\n{}\n", mpi_library(), describe(seats, ranks));
  fmt::print("{} batches of {} calls each; microseconds per call of the slowest rank\n\n", o.batches, o.calls);
  fmt::print("{:<30} {:>9} {:>10} {:>9} {:>11} {:>14} {:>13}\n", "", "min us", "median us", "max us", "min ratio",
             "median ratio", "of pairs");
  char const* const what[]{"recursive doubling by hand", "the same, over_messages{...}", "the same, named",
                           "recursive_doubling{}",       "direct{}",                     "automatic{}",
                           "automatic{}, checked",       "MPI_Allreduce",                "persistent",
                           "iall_reduce and wait",       bare.is_there() ? "bare exchange of a line" : "MPI, in place"};
  statistics const base = statistics_of(samples[0]);
  double least = 0, paired = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    statistics const s = statistics_of(samples[i]);
    // Neighbours in time share what else the machine does, so the median of their ratios is
    // steadier than the ratio of medians.
    std::vector<double> ratios;
    for (std::size_t k = 0; k < samples[i].size(); ++k) ratios.push_back(samples[i][k] / samples[0][k]);
    double const pairs = statistics_of(ratios).median;
    fmt::print("{:<30} {:>9.4f} {:>10.4f} {:>9.4f} {:>11.3f} {:>14.3f} {:>13.3f}\n", what[i], s.min, s.median, s.max,
               s.min / base.min, s.median / base.median, pairs);
    if (i == 1) least = s.min / base.min, paired = pairs;
  }
  char const* const verdict = paired <= aim ? "met" : least <= aim ? "met by minima only" : "missed";
  fmt::print("\nsteps / by hand: {:.3f} by minima, {:.3f} by pairs; the aim, at most {:.2f}, is {}\n", least, paired,
             aim, verdict);
  constexpr std::size_t same = 4, chosen = 5, agreed = 6;
  auto const beside_automatic = [&](std::size_t which, char const* why) {
    std::vector<double> ratios;
    for (std::size_t k = 0; k < samples[which].size(); ++k) ratios.push_back(samples[which][k] / samples[chosen][k]);
    fmt::print("{} / automatic{{}}, {}: {:.3f} by minima, {:.3f} by pairs\n", what[which], why,
               statistics_of(samples[which]).min / statistics_of(samples[chosen]).min, statistics_of(ratios).median);
  };
  beside_automatic(same, "which takes it where ranks share memory");
  beside_automatic(agreed, "with an all_reduce of its own before each call");
  constexpr std::size_t again_at = 8, request_at = 9, bare_at = 10;
  if (!bare.is_there()) return 0;
  for (std::size_t const which : {chosen, again_at, request_at})
    fmt::print("{} / bare exchange of a line: {:.2f} by medians\n", what[which],
               statistics_of(samples[which]).median / statistics_of(samples[bare_at]).median);
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_under_mpi(argc, argv, [&] { return bench::overhead(argc, argv); });
}
