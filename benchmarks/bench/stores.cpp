// SPDX-License-Identifier: BSL-1.0
/// @file
/// How chunks are stored into shared memory (COLLIGO_STORES): through the writer's cache, past it, and as each channel
/// measures, beside the MPI library's own call, in the state that the machine is in:
///   mpirun -n 2 stores --collectives broadcast,all_gather --bytes 131072,2097152
#include <CLI/CLI.hpp>
#include <colligo/all_gather.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/all_to_all.hpp>
#include <colligo/barrier.hpp>
#include <colligo/broadcast.hpp>
#include <colligo/reduce.hpp>
#include <colligo/scan.hpp>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <span>

#include "compare/sizes.hpp"
#include "options.hpp"
#include "report.hpp"
#include "state.hpp"

namespace bench {
namespace {

using vector = std::span<double>;

struct options {
  std::string collectives = "broadcast,reduce,all_reduce,all_gather,all_to_all,scan", bytes = "4096:8388608";
  plan how;
};

/// A collective of doubles as both libraries call it; `in` and `out` are as long, a whole vector.
struct subject {
  std::string_view name;
  void (*ours)(communicator const&, vector in, vector out);
  void (*theirs)(MPI_Comm, vector in, vector out);
};

int count(vector of, int ranks = 1) { return static_cast<int>(of.size()) / ranks; }
int ranks_of(MPI_Comm comm) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}
vector block(vector of, int ranks) { return of.first(of.size() / static_cast<std::size_t>(ranks)); }

constexpr subject subjects[]{
    {"broadcast", [](communicator const& c, vector, vector out) { colligo::broadcast(c, out, 0); },
     [](MPI_Comm c, vector, vector out) { MPI_Bcast(out.data(), count(out), MPI_DOUBLE, 0, c); }},
    {"reduce", [](communicator const& c, vector in, vector out) { colligo::reduce(c, in, out, std::plus<>{}, 0); },
     [](MPI_Comm c, vector in, vector out) {
       MPI_Reduce(in.data(), out.data(), count(in), MPI_DOUBLE, MPI_SUM, 0, c);
     }},
    {"all_reduce", [](communicator const& c, vector in, vector out) { colligo::all_reduce(c, in, out, std::plus<>{}); },
     [](MPI_Comm c, vector in, vector out) {
       MPI_Allreduce(in.data(), out.data(), count(in), MPI_DOUBLE, MPI_SUM, c);
     }},
    {"all_gather",
     [](communicator const& c, vector in, vector out) { colligo::all_gather(c, block(in, c.size()), out); },
     [](MPI_Comm c, vector in, vector out) {
       int const n = count(out, ranks_of(c));
       MPI_Allgather(in.data(), n, MPI_DOUBLE, out.data(), n, MPI_DOUBLE, c);
     }},
    {"all_to_all", [](communicator const& c, vector in, vector out) { colligo::all_to_all(c, in, out); },
     [](MPI_Comm c, vector in, vector out) {
       int const n = count(out, ranks_of(c));
       MPI_Alltoall(in.data(), n, MPI_DOUBLE, out.data(), n, MPI_DOUBLE, c);
     }},
    {"scan", [](communicator const& c, vector in, vector out) { colligo::scan(c, in, out, std::plus<>{}); },
     [](MPI_Comm c, vector in, vector out) { MPI_Scan(in.data(), out.data(), count(in), MPI_DOUBLE, MPI_SUM, c); }},
};

/// Each setting has a communicator of its own, on which it is read. Inputs and results rotate through 64 MiB.
class settings_contest final : public contest {
 public:
  explicit settings_contest(subject const& what) : what_(what), in_(pool), out_(pool) {
    std::iota(in_.begin(), in_.end(), 1.0);
    for (std::size_t i = 1; i < names_.size(); ++i) {
      setenv("COLLIGO_STORES", names_[i].c_str(), 1);
      MPI_Comm_dup(MPI_COMM_WORLD, &comms_.emplace_back());
      colligo::barrier(over(i));
    }
    unsetenv("COLLIGO_STORES");
  }
  settings_contest(settings_contest const&) = delete;
  settings_contest& operator=(settings_contest const&) = delete;
  ~settings_contest() override {
    for (MPI_Comm& c : comms_) MPI_Comm_free(&c);
  }

  std::vector<std::string> const& names() const override { return names_; }
  std::size_t element_size() const override { return sizeof(double); }
  void resize(std::size_t elements) override { n_ = elements; }
  int calls_per_input() const override { return static_cast<int>(std::min<std::size_t>(pool / n_, 1 << 20)); }
  void refresh(std::size_t, int) override {}
  void run(std::size_t contender, int calls) override {
    for (; calls > 0; --calls) call(contender), at_ = at_ + 2 * n_ > pool ? 0 : at_ + n_;
  }
  std::string check(std::size_t contender) override {
    at_ = 0;
    auto const result_of = [&](std::size_t which) {
      std::iota(part(out_).begin(), part(out_).end(), colligo_rank());
      call(which);
      return std::vector<double>(part(out_).begin(), part(out_).end());
    };
    // Whole numbers, so that sums do not depend on their order.
    return result_of(contender) == result_of(0) ? "" : fmt::format("{}: a wrong result", names_[contender]);
  }

 private:
  static constexpr std::size_t pool = (64 << 20) / sizeof(double);

  static double colligo_rank() { return world().rank(); }
#ifdef COLLIGO_WITHOUT_BOOST_MPI
  communicator over(std::size_t contender) const { return {comms_[contender - 1]}; }
#else
  communicator over(std::size_t contender) const { return {comms_[contender - 1], boost::mpi::comm_attach}; }
#endif
  vector part(std::vector<double>& of) const { return vector(of).subspan(at_, n_); }
  void call(std::size_t contender) {
    if (contender == 0) what_.theirs(MPI_COMM_WORLD, part(in_), part(out_));
    else what_.ours(over(contender), part(in_), part(out_));
  }

  subject const& what_;
  std::vector<std::string> const names_{"mpi", "cached", "streaming", "measured"};
  std::vector<MPI_Comm> comms_;
  std::vector<double> in_, out_;
  std::size_t n_ = 1, at_ = 0;
};

int stores(int argc, char** argv) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  options o;
  o.how.repeats = 15;
  CLI::App app("Times long vectors by how chunks are stored into shared memory: through the cache, past it, as each "
               "channel measures.", "stores");
  app.add_option("--collectives", o.collectives, "a list: broadcast, reduce, all_reduce, all_gather, all_to_all, scan")
      ->capture_default_str();
  app.add_option("--bytes", o.bytes, "of the whole vector: A:B for A, 4 A, ... up to B, or a list A,B,C")
      ->capture_default_str();
  app.add_option("--repeats", o.how.repeats)->check(CLI::Range(1, 1000000))->capture_default_str();
  app.add_option("--sample-us", o.how.sample_us)->check(CLI::Range(0.0, 1e7))->capture_default_str();
  if (auto const code = read_options(app, argc, argv, rank)) return *code;
  auto const seats = take_seats(true);
  o.how.crowded = seats.crowded;
  distance_gauge gauge(seats);
  distance before = gauge.measure();
  if (rank == 0) fmt::print("{}\n{}\n{}\n", mpi_library(), describe(seats, ranks), gauge.describe(before));
  bool some = false;
  for (subject const& what : subjects) {
    if (("," + o.collectives + ",").find(fmt::format(",{},", what.name)) == std::string::npos) continue;
    some = true;
    settings_contest contest(what);
    table report(contest.names(), false);
    for (std::size_t const n : element_counts(o.bytes, 4, sizeof(double) * static_cast<std::size_t>(ranks))) {
      auto const elements = n * static_cast<std::size_t>(ranks);
      auto const results = measure(contest, elements, o.how, [](std::string const&) {});
      distance const after = gauge.measure();
      if (rank == 0) {
        fmt::print("\n{}", what.name);
        report.print_size(elements * sizeof(double), elements, gauge.between(before, after), results);
      }
      before = after;
    }
    if (rank == 0) report.print_summary();
  }
  if (!some) throw agreed_error(fmt::format("--collectives: \"{}\" names none", o.collectives));
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_under_mpi(argc, argv, [&] { return bench::stores(argc, argv); });
}
