// SPDX-License-Identifier: BSL-1.0
/// @file
/// How much of a non-blocking all_reduce takes place while its ranks compute, beside MPI_Iallreduce:
///   mpirun -n 2 overlap --bytes 8:1048576
/// As the benchmark IMB-NBC defines it: with the times of start and wait alone, of a computation that takes about as
/// long alone, and of start, computation, wait,
///   overlap = (alone + computation - together) / min(alone, computation), between 0 and 100 %.
#include <colligo/all_reduce.hpp>
#include <colligo/progress.hpp>
#include <colligo/engine/requests.hpp>

#include <cmath>

#include "compare/sizes.hpp"
#include "options.hpp"
#include "report.hpp"
#include "statistics.hpp"

namespace bench {
namespace {

constexpr char const* progress_thread_flag = "--progress-thread";

struct options {
  std::string bytes = "8:1048576", algorithm{colligo::automatic::name}, csv;
  std::size_t factor = 2;
  double test_every_us = 100;
  std::optional<double> sample_us;
  int repeats = 20;
  bool progress_thread = false, no_pin = false, progress = false;
};

std::optional<int> parse(int argc, char** argv, int rank, options& o) {
  CLI::App app(
      "Times start and wait of iall_reduce and of MPI_Iallreduce, sums of doubles, a computation of about that time, "
      "and\nstart, computation, wait. Medians of the slowest rank; overlap as IMB-NBC defines it.",
      "overlap");
  app.add_option("--bytes", o.bytes, "A:B for A, A * factor, ... up to B, or a list A,B,C")->capture_default_str();
  app.add_option("--factor", o.factor, "from one size to the next")
      ->check(CLI::Range(2, 1 << 20))
      ->capture_default_str();
  app.add_option("--algorithm", o.algorithm, "of ours, by name")->capture_default_str();
  app.add_option("--test-every-us", o.test_every_us, "a test of the request in the computation; 0: none")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  app.add_flag(progress_thread_flag, o.progress_thread,
               "have a colligo::progress_thread, and MPI with MPI_THREAD_MULTIPLE");
  app.add_option("--repeats", o.repeats, "samples of each time")->check(CLI::Range(1, 1000000))->capture_default_str();
  app.add_option("--sample-us", o.sample_us,
                 "calls are timed in rows of at least this many microseconds (default: 500; with more ranks than cores "
                 "5000)")
      ->check(CLI::Range(0.0, 1e7));
  app.add_option("--csv", o.csv, "write the table to this file too");
  app.add_flag("--no-pin", o.no_pin, "leave the ranks where the launcher has put them");
  app.add_flag("--progress", o.progress, "tell on stderr what is being done, even if that is no terminal");
  return read_options(app, argc, argv, rank);
}

double slowest(double mine) {
  double of_all = 0;
  MPI_Allreduce(&mine, &of_all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return of_all;
}

/// Keeps a core busy and leaves memory alone, so that nothing but the core is shared with the communication.
class computation {
 public:
  /// All ranks compute: where they share cores, time is what it takes then.
  explicit computation(bool crowded) {
    constexpr long trial = 1 << 20;
    std::vector<double> us;
    for (int i = 0; i < 9; ++i) {
      detail::start_together(crowded);
      double const start = MPI_Wtime();
      steps(trial);
      us.push_back((MPI_Wtime() - start) * 1e6);
    }
    steps_per_us_ = trial / statistics_of(us).median;
  }

  /// Calls between() after every `pause_us` of it, not at the end; 0: never.
  template <class Between>
  void run(double us, double pause_us, Between between) const {
    long left = steps_of(us);
    for (long const row = steps_of(pause_us); pause_us > 0 && left > row; left -= row) {
      steps(row);
      between();
    }
    steps(left);
  }

 private:
  long steps_of(double us) const { return std::max(1L, std::lround(us * steps_per_us_)); }

  static void steps(long n) {
    double volatile kept = 1;   // so that the compiler knows neither what goes in nor that nobody asks what comes out
    double x = kept;
    for (; n > 0; --n) x = x * 0.999 + 0.001;   // each waits for the one before
    kept = x;
  }

  double steps_per_us_ = 1;
};

/// Sums of doubles that are whole numbers: exact.
class vectors {
 public:
  explicit vectors(std::size_t n) : in(n), out(n) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    for (std::size_t i = 0; i < n; ++i) in[i] = rank_ + static_cast<double>(i % 1024);
  }
  void forget() { std::ranges::fill(out, -1.0); }
  void check(std::string const& name) const {
    for (std::size_t i = 0; i < out.size(); ++i)
      if (double const sum = ranks_ * (in[i] - rank_) + ranks_ * (ranks_ - 1) / 2; out[i] != sum)
        throw std::runtime_error(fmt::format("{}: {} instead of {} at index {}", name, out[i], sum, i));
  }

  std::vector<double> in, out;

 private:
  int rank_ = 0, ranks_ = 1;
};

/// A way of reducing without blocking: start(), test(), wait().
class way {
 public:
  explicit way(std::string shown) : name(std::move(shown)) {}
  virtual ~way() = default;
  virtual void start(vectors& v) = 0;
  virtual void test() = 0;
  virtual void wait() = 0;

  std::string name;
  double computed_us = 0;   ///< by each call
  int calls = 1;            ///< in a row that is timed
  std::vector<double> alone, computing, together;
};

class ours final : public way {
 public:
  explicit ours(std::string const& algorithm) : way(algorithm), algorithm_(algorithm) {}
  void start(vectors& v) override { request_ = colligo::iall_reduce(comm_, v.in, v.out, std::plus<>(), algorithm_); }
  void test() override { request_.test(); }
  void wait() override { request_.wait(); }

 private:
  communicator comm_ = world();
  colligo::named algorithm_;
  colligo::request request_;
};

class of_mpi final : public way {
 public:
  of_mpi() : way("mpi") {}
  void start(vectors& v) override {
    int const n = static_cast<int>(v.in.size());
    MPI_Iallreduce(v.in.data(), v.out.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request_);
  }
  void test() override {
    int done = 0;
    MPI_Test(&request_, &done, MPI_STATUS_IGNORE);
  }
  void wait() override { MPI_Wait(&request_, MPI_STATUS_IGNORE); }

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Times rows of calls of one size.
class stopwatch {
 public:
  stopwatch(std::size_t n, computation const& work, double test_every_us, bool crowded)
      : data_(n), work_(work), test_every_us_(test_every_us), crowded_(crowded) {}

  double alone(way& w) {
    return checked(w, [&] {
      w.start(data_);
      w.wait();
    });
  }
  double computing(way const& w) {
    return time(w.calls, [&] { work_.run(w.computed_us, test_every_us_, [] {}); });
  }
  double together(way& w) {
    return checked(w, [&] {
      w.start(data_);
      work_.run(w.computed_us, test_every_us_, [&] { w.test(); });
      w.wait();
    });
  }

 private:
  template <class Call>
  double checked(way& w, Call call) {
    data_.forget();
    double const us = time(w.calls, call);
    data_.check(w.name);
    return us;
  }

  /// Microseconds a call, of the slowest rank.
  template <class Call>
  double time(int calls, Call call) {
    detail::start_together(crowded_);
    double const start = MPI_Wtime();
    for (int i = 0; i < calls; ++i) call();
    return slowest((MPI_Wtime() - start) * 1e6 / calls);
  }

  vectors data_;
  computation const& work_;
  double test_every_us_;
  bool crowded_;
};

/// How many calls make a row, and how long each of them computes.
void prepare(way& w, stopwatch& watch, double sample_us) {
  w.calls = 1;
  watch.alone(w);   // connections are made
  while (watch.alone(w) * w.calls < sample_us && w.calls < 1 << 16) w.calls *= 2;
  std::vector<double> us;
  for (int i = 0; i < 5; ++i) us.push_back(watch.alone(w));
  w.computed_us = statistics_of(us).median;
  w.alone.clear(), w.computing.clear(), w.together.clear();
}

int overlap(int argc, char** argv) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  options o;
  if (auto const code = parse(argc, argv, rank, o)) return *code;
  auto const sizes = element_counts(o.bytes, o.factor, sizeof(double));
  csv_file csv(o.csv, rank,
               "algorithm,ranks,hosts,bytes,test_every_us,progress_thread,repeats,alone_us,computation_us,together_us,"
               "overlap_percent,mpi");
  // Before this thread is pinned to a core, which is not its place.
  std::optional<colligo::progress_thread> thread;
  if (o.progress_thread) thread.emplace();
  auto const seats = take_seats(!o.no_pin);
  double const sample_us = o.sample_us.value_or(seats.crowded ? 5000 : 500);

  if (rank == 0) {
    fmt::print("iall_reduce, sum of double: {}\n{}\n", mpi_library(), describe(seats, ranks));
    fmt::print("a test {}, {} progress thread; medians of {} rows of calls of at least {} us\n\n",
               o.test_every_us > 0 ? fmt::format("every {} us", o.test_every_us) : "never",
               o.progress_thread ? "a" : "no", o.repeats, sample_us);
    fmt::print("{:>10}  {:<20} {:>12} {:>14} {:>12} {:>10}\n", "bytes", "algorithm", "alone us", "computation us",
               "together us", "overlap %");
  }
  progress_line progress(o.progress);
  computation const work(seats.crowded);
  ours mine(o.algorithm);
  of_mpi other;
  way* const ways[]{&mine, &other};
  for (std::size_t const n : sizes) {
    std::size_t const bytes = n * sizeof(double);
    auto const tell = [&](std::string const& what, bool is_new) {
      if (rank == 0) progress.show([&] { return fmt::format("{} bytes  {}", bytes, what); }, is_new);
    };
    stopwatch watch(n, work, o.test_every_us, seats.crowded);
    tell("how long it takes", true);
    for (way* const w : ways) prepare(*w, watch, sample_us);
    turns order(std::size(ways));
    for (int repeat = 0; repeat < o.repeats; ++repeat) {
      tell(fmt::format("{} of {}", repeat + 1, o.repeats), false);
      for (std::size_t const which : order.next_round()) {
        way& w = *ways[which];
        w.alone.push_back(watch.alone(w));
        w.computing.push_back(watch.computing(w));
        w.together.push_back(watch.together(w));
      }
    }
    if (rank != 0) continue;
    progress.clear();
    for (way* const w : ways) {
      double const alone = statistics_of(w->alone).median, computing = statistics_of(w->computing).median;
      double const together = statistics_of(w->together).median;
      double const percent = 100 * std::clamp((alone + computing - together) / std::min(alone, computing), 0.0, 1.0);
      fmt::print("{:>10}  {:<20} {:>12.2f} {:>14.2f} {:>12.2f} {:>10.1f}\n", bytes, w->name, alone, computing, together,
                 percent);
      csv.line("{},{},{},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.1f},{}", csv_file::field(w->name), ranks, seats.hosts,
               bytes, o.test_every_us, o.progress_thread ? "yes" : "no", o.repeats, alone, computing, together, percent,
               csv_file::field(mpi_name()));
    }
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  // MPI has to know before it can be asked for the options.
  bool const threads =
      std::any_of(argv, argv + argc, [](std::string_view word) { return word == bench::progress_thread_flag; });
  return bench::run_under_mpi(argc, argv, [&] { return bench::overlap(argc, argv); },
                              threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
}
