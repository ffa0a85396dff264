// SPDX-License-Identifier: BSL-1.0
/// @file
/// What a communicator costs that is duplicated, used for one all_reduce of one double and freed, beside the same with
/// MPI_Allreduce, interleaved in one run, and what those take that are alive at once:
///   mpirun -n 2 communicators --made 10000 --alive 1500
/// Tells whether a first use costs at most 0.2 ms more than MPI's, and whether memory stays within 256 MiB a host.
/// Those are aims and no tests: the exit code does not depend on them.
#include <mpi.h>

#include <colligo/all_reduce.hpp>
#include <colligo/transport/memory/arena.hpp>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "launch.hpp"
#include "options.hpp"
#include "statistics.hpp"

namespace bench {
namespace {

constexpr double most_microseconds = 200, most_mebibytes = 256;

struct options {
  int made = 2000, batch = 50, alive = 100;
  bool no_pin = false;
};

std::optional<int> parse(int argc, char** argv, int rank, options& o) {
  CLI::App app("Times communicators that are duplicated, used once and freed, over this library and over MPI alone.",
               "communicators");
  app.add_option("--made", o.made, "communicators of each, one after the other")
      ->check(CLI::Range(1, 10000000))->capture_default_str();
  app.add_option("--batch", o.batch, "of them in a sample")->check(CLI::Range(1, 1000000))->capture_default_str();
  app.add_option("--alive", o.alive, "communicators alive at once")->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_flag("--no-pin", o.no_pin, "leave the ranks where the launcher has put them");
  return read_options(app, argc, argv, rank);
}

double sum_by_mpi(MPI_Comm comm, double x) {
  double sum = 0;
  MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  return sum;
}
double sum_by_colligo(MPI_Comm comm, double x) {
  return colligo::all_reduce(colligo::mpi_communicator{comm}, x, std::plus<>{});
}
using way = double (*)(MPI_Comm, double);

MPI_Comm duplicate(way sum) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  if (sum(comm, 2) != 2.0 * ranks) throw std::runtime_error("wrong result");
  return comm;
}

/// Microseconds per communicator, of the slowest rank.
double time_of(way sum, int communicators) {
  MPI_Barrier(MPI_COMM_WORLD);
  double const start = MPI_Wtime();
  for (int i = 0; i < communicators; ++i) {
    MPI_Comm comm = duplicate(sum);
    MPI_Comm_free(&comm);
  }
  double const mine = (MPI_Wtime() - start) * 1e6 / communicators;
  double slowest = 0;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

/// Of all ranks together, MiB: what their processes have in memory, pages of files divided among those who map them,
/// and what is reserved for memory that they share, touched or not. MPI's own shared memory is not counted.
struct memory {
  double resident, reserved;

  static memory of_all_ranks() {
    MPI_Barrier(MPI_COMM_WORLD);
    double mine[]{0, 0}, all[]{0, 0};
    std::ifstream map("/proc/self/smaps_rollup");
    for (std::string word; map >> word;)   // "Pss_Anon:  1234 kB"
      if (double kilobytes = 0; (word == "Pss_Anon:" || word == "Pss_File:") && map >> kilobytes)
        mine[0] += kilobytes / 1024;
    if (auto const* const file = colligo::detail::arena::of_process())
      mine[1] = static_cast<double>(file->reserved()) / (1 << 20);
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return {all[0], all[1]};
  }
};

/// What `communicators` take while they are alive.
memory taken_by(way sum, int communicators) {
  memory const before = memory::of_all_ranks();
  std::vector<MPI_Comm> all;
  for (int i = 0; i < communicators; ++i) all.push_back(duplicate(sum));
  memory const now = memory::of_all_ranks();
  for (MPI_Comm& comm : all) MPI_Comm_free(&comm);
  return {now.resident - before.resident, now.reserved - before.reserved};
}

int communicators(int argc, char** argv) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  options o;
  if (auto const code = parse(argc, argv, rank, o)) return *code;
  auto const seats = take_seats(!o.no_pin);

  constexpr std::pair<char const*, way> ways[]{{"MPI_Allreduce", &sum_by_mpi},
                                               {"colligo::all_reduce", &sum_by_colligo}};
  memory taken[2]{};
  for (std::size_t which = 0; which < 2; ++which) taken[which] = taken_by(ways[which].second, o.alive);
  std::vector<double> samples[2], more;
  for (int made = 0; made < o.made; made += o.batch) {
    std::size_t const first = samples[0].size() % 2;
    for (std::size_t const which : {first, 1 - first}) samples[which].push_back(time_of(ways[which].second, o.batch));
    more.push_back(samples[1].back() - samples[0].back());
  }
  if (rank != 0) return 0;

  fmt::print("dup, all_reduce of one double, free: {}\n{}\n", mpi_library(), describe(seats, ranks));
  fmt::print("{} communicators, microseconds for each, of the slowest rank; MiB of all ranks for {} alive at once\n\n",
             samples[0].size() * static_cast<std::size_t>(o.batch), o.alive);
  fmt::print("{:<22} {:>8} {:>10} {:>8} {:>11} {:>10}\n", "", "min us", "median us", "max us", "private MiB",
             "shared MiB");
  for (std::size_t which = 0; which < 2; ++which) {
    statistics const s = statistics_of(samples[which]);
    fmt::print("{:<22} {:>8.1f} {:>10.1f} {:>8.1f} {:>11.1f} {:>10.1f}\n", ways[which].first, s.min, s.median, s.max,
               taken[which].resident, taken[which].reserved);
  }
  auto const verdict = [](double is, double most) { return is <= most ? "met" : "missed"; };
  double const longer = statistics_of(more).median, memory_taken = taken[1].resident + taken[1].reserved;
  fmt::print("\n{:.1f} us more than MPI, the median of neighbours in time; the aim, at most {:.0f}, is {}\n", longer,
             most_microseconds, verdict(longer, most_microseconds));
  fmt::print("{:.1f} MiB; the aim, at most {:.0f} a host, is {}\n", memory_taken, most_mebibytes,
             verdict(memory_taken, most_mebibytes));
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_under_mpi(argc, argv, [&] { return bench::communicators(argc, argv); });
}
