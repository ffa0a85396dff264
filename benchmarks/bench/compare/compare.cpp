// SPDX-License-Identifier: BSL-1.0
/// @file
/// A collective's algorithms side by side with the MPI library's own and Boost.MPI's, in one run:
///   mpirun -n 2 compare --collective all_reduce --type double --op sum --bytes 8:8388608 --csv all_reduce.csv
/// Several collectives and distributions, with commas between, are compared one after the other.
#include <climits>
#include <utility>

#include "../../../test/distributions.hpp"
#include "../options.hpp"
#include "../report.hpp"
#include "../state.hpp"
#include "offers.hpp"
#include "sizes.hpp"

namespace bench {
namespace {

struct options {
  std::vector<std::string> collectives{"all_reduce"}, distributions{"regular"};
  std::string type = "double", op, bytes = "8:8388608", algorithms = "all", csv;
  std::string mode = "blocking", inputs = "fresh", sort = "given";
  std::size_t factor = 4;
  std::optional<double> sample_us;
  plan how;
  int root = -1, split = 0;
  bool no_pin = false, progress = false;
};

/// Exit code where the program has nothing left to do. Only rank 0 speaks.
std::optional<int> parse(int argc, char** argv, int rank, options& o) {
  CLI::App app(
      "Times a collective's algorithms side by side with the MPI library's own (mpi) and, where calls block, with "
      "Boost.MPI's (boost_mpi).\n"
      "Every result is checked before anything is timed; the slowest rank counts.",
      "compare");
  app.add_option("--collective", o.collectives,
                 "all_reduce, reduce, or any other of the library: sums of double, where they sum; or a list")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option(
         "--distribution", o.distributions,
         "of the counts of all_gatherv, gatherv, scatterv, reduce_scatter, all_to_all_v: regular, broadcast, spike,\n"
         "half_full, linearly_decreasing, geometric_curve, or a list; --bytes is its base count")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--type", o.type, "double, float, int, located (a double and where it is), struct (40 bytes), "
                 "matrix (2 x 2, modulo 2^32)")
      ->capture_default_str();
  app.add_option("--op", o.op,
                 "sum or max of numbers, maxloc of located, merge of struct, product of matrix, which does not "
                 "commute (default: the first that fits the type)");
  app.add_option("--bytes", o.bytes,
                 "A:B for A, A * factor, ... up to B, or a list A,B,C; rounded up to whole elements")
      ->capture_default_str();
  app.add_option("--factor", o.factor, "from one size to the next")
      ->check(CLI::Range(2, 1 << 20))
      ->capture_default_str();
  app.add_option("--algorithms", o.algorithms,
                 "all, each over messages and over shared memory, or a list of names, among them mpi, boost_mpi,\n"
                 "automatic; ring goes the best way there is, ring@messages and ring@shared_memory say the way")
      ->capture_default_str();
  app.add_option("--mode", o.mode,
                 "blocking; nonblocking: started and waited for; persistent: made once per input, started and waited "
                 "for")
      ->capture_default_str();
  app.add_option("--inputs", o.inputs,
                 "fresh: each call on an input that was written just before, which caches hold; rotating: on one of as "
                 "many\nas take 64 MiB with their results, which caches do not hold")
      ->check(CLI::IsMember({"fresh", "rotating"}))
      ->capture_default_str();
  app.add_option("--repeats", o.how.repeats, "samples per algorithm and size")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--sample-us", o.sample_us,
                 "calls are timed in batches of at least this many microseconds (default: 100; with more ranks than "
                 "cores 5000)")
      ->check(CLI::Range(0.0, 1e7))
      ->capture_default_str();
  app.add_option("--root", o.root, "of reduce; by default calls take turns, so that no rank runs ahead of the others");
  app.add_option("--split", o.split,
                 "groups of so many consecutive ranks make the same call at the same time, each on a communicator of\n"
                 "its own: ranks that a call does not know of need the cores too")
      ->check(CLI::PositiveNumber);
  app.add_option("--sort", o.sort, "rows as the algorithms are listed, or the quickest first: given, speed")
      ->check(CLI::IsMember({"given", "speed"}))
      ->capture_default_str();
  app.add_option("--csv", o.csv, fmt::format("write {} to this file", csv_header));
  app.add_flag("--no-pin", o.no_pin, "leave the ranks where the launcher has put them");
  app.add_flag("--progress", o.progress, "tell on stderr what is being done, even if that is no terminal");
  return read_options(app, argc, argv, rank);
}

colligo::collective collective_named(std::string const& name) {
  std::string known;
  for (auto const c : colligo::collectives) {
    if (name_of(c) == name) return c;
    known += (known.empty() ? "" : ", ") + std::string(name_of(c));
  }
  throw agreed_error(fmt::format("--collective: \"{}\" is not measured, measured are: {}", name, known));
}

auto distribution_named(std::string const& name) {
  std::string known;
  for (auto const& [candidate, distribution] : distributions::all) {
    if (candidate == name) return distribution;
    known += (known.empty() ? "" : ", ") + std::string(candidate);
  }
  throw agreed_error(fmt::format("--distribution: there is no \"{}\", known are: {}", name, known));
}

bool has_counts(colligo::collective c) {
  using enum colligo::collective;
  return c == all_gatherv || c == gatherv || c == scatterv || c == reduce_scatter || c == all_to_all_v;
}

offer const& offer_for(options const& o) {
  std::string known;
  for (auto const& candidate : offers) {
    if (candidate.type == o.type && (o.op.empty() || candidate.op == o.op)) return candidate;
    known += fmt::format("\n  --type {} --op {}", candidate.type, candidate.op);
  }
  throw agreed_error(
      fmt::format("--type {} --op {} is not a combination that makes sense, these are:{}", o.type, o.op, known));
}

/// The world in groups of consecutive ranks: those of this one are compared.
class groups {
 public:
  groups(int rank, int ranks, int of) {
    if (of == 0) return;
    if (ranks % of != 0) throw agreed_error(fmt::format("--split: {} ranks are no groups of {}", ranks, of));
    MPI_Comm_split(MPI_COMM_WORLD, rank / of, rank, &compared_ranks);
  }
  groups(groups const&) = delete;
  groups& operator=(groups const&) = delete;
  ~groups() {
    if (compared_ranks != MPI_COMM_WORLD) MPI_Comm_free(&compared_ranks);
    compared_ranks = MPI_COMM_WORLD;
  }
};

/// One table of the report.
struct comparison {
  std::string collective, distribution;
  offer const& elements;
  request asked;
  std::unique_ptr<contest> contenders;
  std::vector<std::size_t> sizes;   ///< numbers of elements

  comparison(options const& o, std::string const& of, std::string const& counts, int ranks)
      : collective(of), distribution(counts), elements(offer_for(o)) {
    auto const what = collective_named(of);
    bool const reduction = what == colligo::collective::all_reduce || what == colligo::collective::reduce;
    if (!reduction && (elements.type != "double" || elements.op != "sum"))
      throw agreed_error(fmt::format("--collective {} is measured with --type double --op sum", of));
    if (counts != "regular" && !has_counts(what))
      throw agreed_error(fmt::format("--distribution: {} has no counts", of));
    if (o.root < -1 || o.root >= ranks)
      throw agreed_error(fmt::format("--root: {} is not a rank, ranks are 0 to {}", o.root, ranks - 1));
    asked = {what, o.algorithms, o.root < 0 ? std::nullopt : std::optional(o.root), distribution_named(counts),
             mode_named(o.mode), o.inputs == "rotating"};
    contenders = reduction ? elements.make(asked) : family_of_double(asked);
    // A barrier has no size.
    sizes = what == colligo::collective::barrier ? std::vector<std::size_t>{1}
                                                 : element_counts(o.bytes, o.factor, contenders->element_size());
  }
};

/// Measures, and prints on rank 0. `before` is the distance at the beginning, and then the one at the end.
void run(comparison& one, options const& o, int ranks, int of_world, seating const& seats, distance_gauge& gauge,
         distance& before, csv_file& csv) {
  auto const& asked = one.asked;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::string const in_groups = o.split == 0 ? "" : fmt::format(" in {} groups", of_world / ranks);
  if (rank == 0) {
    fmt::print("{}, {} of {}: {}\n", one.collective, one.elements.op, one.elements.type, mpi_library());
    fmt::print("{}\n{}\n", describe(seats, of_world), gauge.describe(before));
    if (o.split != 0)
      fmt::print("{} groups of {} ranks make each call at the same time\n", of_world / ranks, ranks);
    fmt::print(
        "{} repetitions of batches of at least {} us, inputs {}; microseconds per call of the slowest "
        "rank, GB/s: the size over the median\n",
        o.how.repeats, o.how.sample_us, o.inputs);
    if (one.distribution != "regular") fmt::print("counts: {}\n", one.distribution);
    if (asked.how != mode::blocking) fmt::print("{}\n", describe(asked.how));
    if (has_root(asked.what))
      fmt::print("root: {}\n", o.root < 0 ? "the calls take turns" : fmt::format("rank {}", o.root));
  }
  table report(one.contenders->names(), o.sort == "speed");
  progress_line progress(o.progress);
  int const steps = static_cast<int>(one.sizes.size()) * steps_per_size(*one.contenders, o.how);
  int done = 0, changed = 0;
  for (std::size_t const n : one.sizes) {
    std::size_t const bytes = n * one.contenders->element_size();
    bool new_size = true;
    auto const results = measure(*one.contenders, n, o.how, [&](std::string const& name) {
      ++done;
      if (rank == 0)
        progress.show([&] { return fmt::format("[{}/{}] {} bytes  {}", done, steps, bytes, name); },
                      std::exchange(new_size, false));
    });
    distance const after = gauge.measure();
    std::string const state = gauge.between(before, after);
    before = after;
    changed += state == "changed";
    if (rank == 0) progress.clear(), report.print_size(bytes, n, state, results);
    csv.write(
        {one.collective, one.elements.type, one.elements.op, one.distribution, o.mode + in_groups, o.inputs, state},
        ranks, bytes, o.how.repeats, results);
  }
  if (rank == 0) {
    report.print_summary();
    fmt::print("{}\n", gauge.describe(before));
    if (changed != 0) fmt::print("the state changed while {} of the sizes were measured: leave them out\n", changed);
  }
}

int compare(int argc, char** argv) {
  int rank = 0, of_world = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &of_world);
  options o;
  if (auto const code = parse(argc, argv, rank, o)) return *code;
  groups const split(rank, of_world, o.split);
  int const ranks = o.split == 0 ? of_world : o.split;
  std::vector<comparison> comparisons;   // all of them first: an option that is wrong ends the program at once
  for (auto const& distribution : o.distributions)
    for (auto const& collective : o.collectives)
      comparisons.emplace_back(o, collective, distribution, ranks);
  csv_file csv(o.csv, rank);
  auto const seats = take_seats(!o.no_pin);
  o.how.crowded = seats.crowded;
  o.how.sample_us = o.sample_us.value_or(seats.crowded ? 5000 : 100);
  distance_gauge gauge(seats);
  distance before = gauge.measure();
  for (auto& one : comparisons) {
    if (rank == 0 && &one != comparisons.data()) fmt::print("\n");
    run(one, o, ranks, of_world, seats, gauge, before, csv);
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_under_mpi(argc, argv, [&] { return bench::compare(argc, argv); });
}
