// SPDX-License-Identifier: BSL-1.0
/// @file
/// Round trips between two hosts while others go on beside them: what several messages at a time cost on a network.
///   bench/cluster/cluster --hosts 2 --ranks-per-host 8 --rate 1mbit --delay 10ms round_trips
/// After  Bjorndalen, Anshus, Vinter, Larsen: The Performance of Configurable Collective Communication for LAM-MPI in
///        Clusters and Multi-Clusters, figures 10 and 11
#include "launch.hpp"
#include "options.hpp"
#include "statistics.hpp"

namespace bench {
namespace {

/// Microseconds of a round trip of these bytes between this rank and its peer, of which the lower one begins.
double round_trip(int rank, int peer, std::vector<char>& data, int calls) {
  int const bytes = static_cast<int>(data.size());
  double const start = MPI_Wtime();
  for (int i = 0; i < calls; ++i) {
    if (rank < peer) MPI_Send(data.data(), bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    MPI_Recv(data.data(), bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank > peer) MPI_Send(data.data(), bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
  }
  return (MPI_Wtime() - start) * 1e6 / calls;
}

int round_trips(int argc, char** argv) {
  int rank = 0, p = 0, calls = 5, rounds = 5;
  std::vector<std::size_t> sizes{4, 256, 1024, 4096, 16384};
  std::string path;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  CLI::App app(
      "Times round trips between the ranks of the lower half and those of the upper half, 1, 2, 4, ... pairs at a "
      "time, of which the first counts.",
      "round_trips");
  app.add_option("--bytes", sizes, "of a message")->delimiter(',')->capture_default_str();
  app.add_option("--calls", calls, "in a loop that is timed")->check(CLI::Range(1, 100000))->capture_default_str();
  app.add_option("--rounds", rounds, "loops")->check(CLI::Range(1, 100000))->capture_default_str();
  app.add_option("--csv", path, "write the table to this file too");
  if (auto const code = read_options(app, argc, argv, rank)) return *code;
  int const half = p / 2;
  if (half < 1 || p % 2 != 0) throw agreed_error("round_trips: takes an even number of ranks, half of them on a host");

  // A connection's window opens with use.
  std::vector<char> longest(std::ranges::max(sizes));
  round_trip(rank, rank < half ? rank + half : rank - half, longest, 2 * calls);
  std::string table = "pairs,bytes,min_us,median_us,max_us\n";
  for (int pairs = 1; pairs <= half; pairs *= 2)
    for (std::size_t const bytes : sizes) {
      std::vector<char> data(bytes);
      std::vector<double> us;
      for (int round = 0; round < rounds; ++round) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank % half >= pairs) continue;
        us.push_back(round_trip(rank, rank < half ? rank + half : rank - half, data, calls));
      }
      if (rank != 0) continue;
      auto const s = statistics_of(us);
      table += fmt::format("{},{},{:.2f},{:.2f},{:.2f}\n", pairs, bytes, s.min, s.median, s.max);
    }
  if (rank != 0) return 0;
  fmt::print("{}", table);
  if (!path.empty()) write_file(path, table);
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_under_mpi(argc, argv, [&] { return bench::round_trips(argc, argv); });
}
