// SPDX-License-Identifier: BSL-1.0
/// @file
/// Reports of measurements: a table per size, a summary, a file of comma-separated values, and a line of progress.
#pragma once

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "csv.hpp"
#include "measure.hpp"

namespace bench {

/// median(base) / median(contender): above 1 the contender is faster. None where either was not measured.
inline std::optional<double> ratio_to(std::vector<outcome> const& results, std::string_view base,
                                      outcome const& contender) {
  auto const found = std::find_if(results.begin(), results.end(),
                                  [&](outcome const& o) { return o.name == base && o.skipped.empty(); });
  if (found == results.end() || !contender.skipped.empty() || contender.us.median <= 0) return std::nullopt;
  return found->us.median / contender.us.median;
}

class table {
 public:
  table(std::vector<std::string> const& names, bool by_speed) : by_speed_(by_speed), lines_(names.size()) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      lines_[i].name = names[i];
      width_ = std::max(width_, names[i].size());
    }
  }

  void print_size(std::size_t bytes, std::size_t elements, std::string_view state,
                  std::vector<outcome> const& results) {
    fmt::print("\n{} bytes, {} element{}, {}\n", bytes, elements, elements == 1 ? "" : "s", state);
    for (auto const& r : results) width_ = std::max(width_, r.label().size());
    fmt::print("  {:<{}} {:>12} {:>12} {:>12} {:>8} {:>8}\n", "algorithm", width_, "min us", "median us", "max us",
               "GB/s", "x mpi");
    // What was skipped has no time, and comes last.
    for (std::size_t const i : in_order([&](std::size_t n) {
           return results[n].skipped.empty() ? results[n].us.median : std::numeric_limits<double>::infinity();
         })) {
      auto const& r = results[i];
      if (!r.skipped.empty()) {
        fmt::print("  {:<{}} skipped: {}\n", r.name, width_, r.skipped);
        continue;
      }
      auto const ratio = ratio_to(results, "mpi", r);
      fmt::print("  {:<{}} {:>12.3f} {:>12.3f} {:>12.3f} {:>8.3f} {:>8}{}\n", r.label(), width_, r.us.min, r.us.median,
                 r.us.max, static_cast<double>(bytes) / r.us.median / 1e3, text(ratio), r.is_noisy() ? "  noisy" : "");
      some_noisy_ = some_noisy_ || r.is_noisy();
      if (ratio) lines_[i].add(*ratio);
    }
    std::fflush(stdout);
  }

  void print_summary() const {
    fmt::print("\nmedian(mpi) / median(algorithm) over all sizes, above 1 is faster than mpi\n");
    fmt::print("  {:<{}} {:>12} {:>12}\n", "algorithm", width_, "geo mean", "min");
    for (std::size_t const i : in_order([&](std::size_t n) { return -lines_[n].mean().value_or(0); }))
      fmt::print("  {:<{}} {:>12} {:>12}\n", lines_[i].name, width_, text(lines_[i].mean()), text(lines_[i].least));
    if (some_noisy_) fmt::print("noisy: the median is more than 1.5 times the minimum; do not trust these rows\n");
    std::fflush(stdout);
  }

 private:
  struct line {
    std::string name;
    double logarithms = 0;
    int count = 0;
    std::optional<double> least;

    void add(double ratio) {
      logarithms += std::log(ratio);
      ++count;
      least = std::min(least.value_or(ratio), ratio);
    }
    std::optional<double> mean() const {
      return count == 0 ? std::nullopt : std::optional(std::exp(logarithms / count));
    }
  };

  /// The rows, the least cost(row) first if that was asked for.
  template <class Cost>
  std::vector<std::size_t> in_order(Cost cost) const {
    std::vector<std::size_t> rows(lines_.size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    if (by_speed_) std::ranges::stable_sort(rows, {}, cost);
    return rows;
  }

  static std::string text(std::optional<double> ratio) { return ratio ? fmt::format("{:.2f}", *ratio) : "-"; }

  std::size_t width_ = std::string_view("algorithm").size();
  bool by_speed_, some_noisy_ = false;
  std::vector<line> lines_;
};

/// Rank 0 writes; all ranks construct it, and learn together whether the file can be written.
class csv_file {
 public:
  csv_file(std::string const& path, int rank, std::string_view header = csv_header) {
    if (path.empty()) return;
    int reason = 0;
    if (rank == 0) {
      file_.reset(std::fopen(path.c_str(), "w"));
      reason = file_ ? 0 : errno;
    }
    MPI_Bcast(&reason, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (reason != 0) throw agreed_error(fmt::format("cannot write {}: {}", path, std::strerror(reason)));
    if (file_) fmt::print(file_.get(), "{}\n", header);
  }

  struct subject {
    std::string_view collective, type, op, distribution, mode, inputs, state;
  };

  void write(subject const& of, int ranks, std::size_t bytes, int repeats, std::vector<outcome> const& results) {
    for (auto const& r : results)
      if (r.skipped.empty())
        line("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", of.collective, field(r.name), of.type, of.op, ranks, bytes,
             repeats, time(r.us.min), time(r.us.median), time(r.us.max), of.distribution, field(mpi_name()), of.mode,
             of.inputs, of.state);
  }

  template <class... Fields>
  void line(fmt::format_string<Fields...> format, Fields&&... fields) {
    if (!file_) return;
    fmt::print(file_.get(), format, std::forward<Fields>(fields)...);
    fmt::print(file_.get(), "\n");
    std::fflush(file_.get());
  }

  /// Simulated times repeat in all of their digits.
  static std::string time(double us) {
#ifdef COLLIGO_BENCH_SIMULATED
    return fmt::format("{:.12g}", us);
#else
    return fmt::format("{:.4f}", us);
#endif
  }

  static std::string field(std::string const& text) { return text.find(',') == text.npos ? text : '"' + text + '"'; }

 private:
  struct close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  std::unique_ptr<std::FILE, close> file_;
};

/// Progress on stderr: one line that changes on a terminal, elsewhere (if asked for) one line now and then.
class progress_line {
 public:
  explicit progress_line(bool wanted) : terminal_(isatty(STDERR_FILENO) == 1), shown_(wanted || terminal_) {}
  progress_line(progress_line const&) = delete;
  progress_line& operator=(progress_line const&) = delete;
  ~progress_line() { clear(); }

  /// Shows what text() makes, unless the last one has not stood long enough and this is nothing new.
  template <class Text>
  void show(Text text, bool is_new = false) {
    auto const now = std::chrono::steady_clock::now();
    if (!shown_ || (!is_new && now - last_ < std::chrono::milliseconds(terminal_ ? 100 : 1000))) return;
    last_ = now;
    fmt::print(stderr, "{}{}{}", terminal_ ? "\r\033[K" : "", text(), terminal_ ? "" : "\n");
    std::fflush(stderr);
  }
  void clear() const {
    if (shown_ && terminal_) fmt::print(stderr, "\r\033[K");
  }

 private:
  bool terminal_, shown_;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace bench
