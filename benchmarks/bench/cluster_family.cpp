// SPDX-License-Identifier: BSL-1.0
/// @file
/// Collectives on several hosts: `automatic` beside the MPI library's own, in one run, with ranks in the order of hosts
/// and shuffled over them:
///   bench/cluster/cluster --hosts 8 --ranks-per-host 4 --rate 100mbit --delay 1ms cluster_family
#include <colligo/all_gather.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/all_to_all.hpp>
#include <colligo/barrier.hpp>
#include <colligo/broadcast.hpp>
#include <colligo/gather.hpp>
#include <colligo/reduce.hpp>
#include <colligo/reduce_scatter.hpp>
#include <colligo/scan.hpp>
#include <colligo/scatter.hpp>

#include <functional>
#include <random>

#include "launch.hpp"
#include "options.hpp"
#include "statistics.hpp"

namespace bench {
namespace {

using ints = std::vector<int>;
struct contest {
  colligo::collective what;
  std::size_t in, out;   ///< elements for each of a block
  std::function<void(ints const&, ints&)> automatic, mpi;
  /// Where not all ranks wait for each other some would run ahead in the next call. The root, or all, wait for who ends
  /// last: a word to it, or from it, by the library for both.
  std::function<void()> end = [] {};
};

/// p: ranks of comm, n: elements of a block.
std::vector<contest> contests_on(MPI_Comm comm, std::size_t p, int n) {
  using enum colligo::collective;
  colligo::mpi_communicator const c(comm);
  auto const all_have_it = [=] {
    int const in = 0;
    int out = 0;
    colligo::reduce(c, in, out, std::plus<>{}, 0);
  };
  auto const sent_by = [=](int root) { return [=] { int out = 0; colligo::broadcast(c, out, root); }; };
  auto const root_has_it = sent_by(0), last_has_it = sent_by(static_cast<int>(p) - 1);
  return {
      {all_gather, 1, p, [=](ints const& in, ints& out) { colligo::all_gather(c, in, out); },
       [=](ints const& in, ints& out) { MPI_Allgather(in.data(), n, MPI_INT, out.data(), n, MPI_INT, comm); }},
      {reduce_scatter_block, p, 1,
       [=](ints const& in, ints& out) { colligo::reduce_scatter_block(c, in, out, std::plus<>{}); },
       [=](ints const& in, ints& out) {
         MPI_Reduce_scatter_block(in.data(), out.data(), n, MPI_INT, MPI_SUM, comm);
       }},
      {all_to_all, p, p, [=](ints const& in, ints& out) { colligo::all_to_all(c, in, out); },
       [=](ints const& in, ints& out) { MPI_Alltoall(in.data(), n, MPI_INT, out.data(), n, MPI_INT, comm); }},
      {gather, 1, p, [=](ints const& in, ints& out) { colligo::gather(c, in, out, 0); },
       [=](ints const& in, ints& out) { MPI_Gather(in.data(), n, MPI_INT, out.data(), n, MPI_INT, 0, comm); },
       root_has_it},
      {scatter, p, 1, [=](ints const& in, ints& out) { colligo::scatter(c, in, out, 0); },
       [=](ints const& in, ints& out) { MPI_Scatter(in.data(), n, MPI_INT, out.data(), n, MPI_INT, 0, comm); },
       all_have_it},
      {all_reduce, 1, 1, [=](ints const& in, ints& out) { colligo::all_reduce(c, in, out, std::plus<>{}); },
       [=](ints const& in, ints& out) { MPI_Allreduce(in.data(), out.data(), n, MPI_INT, MPI_SUM, comm); }},
      {reduce, 1, 1, [=](ints const& in, ints& out) { colligo::reduce(c, in, out, std::plus<>{}, 0); },
       [=](ints const& in, ints& out) { MPI_Reduce(in.data(), out.data(), n, MPI_INT, MPI_SUM, 0, comm); },
       root_has_it},
      {broadcast, 1, 1,
       [=](ints const& in, ints& out) {
         if (c.rank() == 0) out = in;
         colligo::broadcast(c, out, 0);
       },
       [=](ints const& in, ints& out) {
         if (c.rank() == 0) out = in;
         MPI_Bcast(out.data(), n, MPI_INT, 0, comm);
       }, all_have_it},
      {scan, 1, 1, [=](ints const& in, ints& out) { colligo::scan(c, in, out, std::plus<>{}); },
       [=](ints const& in, ints& out) { MPI_Scan(in.data(), out.data(), n, MPI_INT, MPI_SUM, comm); },
       last_has_it},
      {barrier, 1, 1, [=](ints const&, ints&) { colligo::barrier(c); },
       [=](ints const&, ints&) { MPI_Barrier(comm); }}};
}

struct options {
  std::vector<int> bytes{8, 1024, 65536};
  std::vector<std::string> only;
  int calls = 5, rounds = 5;
  unsigned seed = 1;
};

/// The loops of both, in turns; the slowest rank counts.
void measure(contest const& one, MPI_Comm comm, std::string const& placement, int n, options const& o) {
  int rank = 0, p = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &p);
  auto const block = static_cast<std::size_t>(n);
  ints in(one.in * block), out(one.out * block), expected(one.out * block);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = rank * 1009 + static_cast<int>(i % 997);
  one.mpi(in, expected);
  one.automatic(in, out);
  bool const at_root = one.what == colligo::collective::gather || one.what == colligo::collective::reduce;
  if ((!at_root || rank == 0) && out != expected)
    throw std::runtime_error(fmt::format("{} of {} ints is wrong", colligo::name_of(one.what), n));
  std::vector<double> us[2];
  for (int round = 0; round < 2 * o.rounds; ++round) {
    bool const own = (round + round / 2) % 2 == 0;
    auto const call = [&] {
      (own ? one.automatic : one.mpi)(in, out);
      one.end();
    };
    MPI_Barrier(comm);
    call();
    double const start = MPI_Wtime();
    for (int i = 0; i < o.calls; ++i) call();
    double took = (MPI_Wtime() - start) * 1e6 / o.calls;
    MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, comm);
    us[own].push_back(took);
  }
  double const mine = statistics_of(us[1]).median, theirs = statistics_of(us[0]).median;
  if (rank == 0)
    fmt::print("{},{},{},{},{:.0f},{:.0f},{:.2f}\n", colligo::name_of(one.what), placement, p, 4 * n, mine, theirs,
               theirs / mine);
}

int cluster_family(int argc, char** argv) {
  int rank = 0, p = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  options o;
  CLI::App app("Times collectives on several hosts beside MPI's own; CSV on stdout.",
               "cluster_family");
  app.add_option("--bytes", o.bytes, "of a block, multiples of 4")->delimiter(',')->capture_default_str();
  app.add_option("--collective", o.only, "these alone")->delimiter(',');
  app.add_option("--calls", o.calls, "in a loop that is timed")->check(CLI::Range(1, 100000))->capture_default_str();
  app.add_option("--rounds", o.rounds, "loops of each")->check(CLI::Range(1, 100000))->capture_default_str();
  app.add_option("--seed", o.seed, "of the shuffled ranks")->capture_default_str();
  if (auto const code = read_options(app, argc, argv, rank)) return *code;
  ints order(static_cast<std::size_t>(p));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(o.seed);   // by hand: std::shuffle differs between libraries
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  if (rank == 0) fmt::print("collective,placement,ranks,bytes,us,mpi_us,x_mpi\n");
  for (bool const shuffled : {false, true}) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, shuffled ? order[static_cast<std::size_t>(rank)] : rank, &comm);
    for (int const bytes : o.bytes)
      for (contest const& one : contests_on(comm, static_cast<std::size_t>(p), bytes / 4))
        if (o.only.empty() || std::ranges::find(o.only, colligo::name_of(one.what)) != o.only.end())
          measure(one, comm, shuffled ? "shuffled" : "in-order", bytes / 4, o);
    MPI_Comm_free(&comm);
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_under_mpi(argc, argv, [&] { return bench::cluster_family(argc, argv); });
}
