// SPDX-License-Identifier: BSL-1.0
/// @file
/// What the files of compare come to: for each collective, mode, inputs, type, functor, number of ranks, distribution,
/// MPI library and state of the machine how many times as fast as MPI's own call a contender is, over the sizes:
///   summary all_reduce.csv all_reduce_mpich.csv
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "compare/sizes.hpp"
#include "csv.hpp"

namespace bench {
namespace {

struct options {
  std::vector<std::string> files;
  std::string base = "mpi", contender = "automatic", bytes = "8:8388608";
  bool all = false;
  int changed = 0;   ///< rows that were left out
};

/// What a line of the summary is about.
struct subject {
  std::string collective, mode, inputs, type, op;
  int ranks;
  std::string distribution, mpi, state, contender;

  auto key() const { return std::tie(collective, mode, inputs, type, op, ranks, distribution, mpi, state, contender); }
  bool operator<(subject const& other) const { return key() < other.key(); }
};

/// Of each size the ratio of every run.
using ratios = std::map<std::size_t, std::vector<double>>;

/// Of each contender and size.
using medians = std::map<std::pair<subject, std::size_t>, double>;

/// compare rounds sizes up to whole elements: what stands for a size is the next that was
/// measured, less than this above.
constexpr std::size_t largest_element = 64;

bool asked_for(medians const& all, medians::const_iterator row, std::vector<std::size_t> const& sizes) {
  auto const& key = row->first;
  auto const stands_for = [&](std::size_t s) {
    return key.second < s + largest_element && all.lower_bound({key.first, s}) == row;
  };
  return sizes.empty() || std::any_of(sizes.begin(), sizes.end(), stands_for);
}

/// Fields between commas; one in quotes may hold commas.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (char const c : line) {
    if (c == '"') quoted = !quoted;
    else if (c == ',' && !quoted) fields.emplace_back();
    else fields.back() += c;
  }
  return fields;
}

template <class Number>
Number number(std::string const& field, std::string const& where) {
  Number value{};
  auto const [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc{} || end != field.data() + field.size())
    throw std::runtime_error(fmt::format("{}: \"{}\" is not a number", where, field));
  return value;
}

/// Adds what a file has. Ratios are taken within a file, since it is one run.
void add_file(std::string const& path, options& o, std::vector<std::size_t> const& sizes,
              std::map<subject, ratios>& found) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  std::string line;
  std::getline(file, line);
  if (!is_csv_header(line))
    throw std::runtime_error(
        fmt::format("{} is no file of compare --csv: its first line is not\n  {}", path, csv_header));

  medians all;
  std::size_t const columns = fields_of(line).size();
  for (int at = 2; std::getline(file, line); ++at) {
    std::string const where = fmt::format("{}:{}", path, at);
    auto const f = fields_of(line);
    if (f.size() != columns)
      throw std::runtime_error(fmt::format("{}: {} columns instead of {}", where, f.size(), columns));
    auto const median = number<double>(f[8], where);
    if (!(median > 0)) throw std::runtime_error(fmt::format("{}: a median of {} us", where, f[8]));
    auto const later_column = [&](std::size_t which, char const* before_it_was) {
      return which < columns ? f[which] : before_it_was;
    };
    subject const about{f[0], later_column(12, "blocking"), later_column(13, "fresh"), f[2], f[3],
                        number<int>(f[4], where), f[10], f[11], later_column(14, "unknown"), f[1]};
    if (about.state == "changed") {
      ++o.changed;
      continue;
    }
    if (!all.emplace(std::pair(about, number<std::size_t>(f[5], where)), median).second)
      throw std::runtime_error(fmt::format("{}: {} at {} bytes was there before", where, f[1], f[5]));
  }
  for (auto row = all.cbegin(); row != all.cend(); ++row) {
    auto const& [about, bytes] = row->first;
    if (!(o.all ? about.contender != o.base : about.contender == o.contender) || !asked_for(all, row, sizes)) continue;
    auto base = row->first;
    base.first.contender = o.base;
    auto const other = all.find(base);
    if (other == all.end())
      throw std::runtime_error(
          fmt::format("{}: no row of {} for {} at {} bytes", path, o.base, about.collective, bytes));
    found[about][bytes].push_back(other->second / row->second);
  }
}

double geometric_mean(std::vector<double> const& values) {
  double logarithms = 0;
  for (double const v : values) logarithms += std::log(v);
  return std::exp(logarithms / static_cast<double>(values.size()));
}

void print(std::map<subject, ratios> const& found) {
  std::vector<std::vector<std::string>> rows{{"collective", "mode", "inputs", "type", "op", "p", "distribution",
                                              "MPI library", "state", "contender", "sizes", "geo mean", "min",
                                              "at bytes"}};
  for (auto const& [s, of_size] : found) {
    std::vector<double> means;
    std::size_t worst = 0;
    double least = HUGE_VAL;
    for (auto const& [bytes, runs] : of_size) {
      means.push_back(geometric_mean(runs));
      if (means.back() < least) least = means.back(), worst = bytes;
    }
    rows.push_back({s.collective, s.mode, s.inputs, s.type, s.op, std::to_string(s.ranks), s.distribution, s.mpi,
                    s.state, s.contender, std::to_string(means.size()), fmt::format("{:.2f}", geometric_mean(means)),
                    fmt::format("{:.2f}", least), std::to_string(worst)});
  }
  std::vector<std::size_t> widths(rows[0].size());
  for (auto const& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (auto const& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      if (i < 10) fmt::print("{:<{}}  ", row[i], widths[i]);
      else fmt::print("{:>{}}{}", row[i], widths[i], i + 1 == row.size() ? "\n" : "  ");
  }
}

int summarise(int argc, char** argv) {
  options o;
  CLI::App app(
      "Prints what files of compare --csv come to: of median(mpi) / median(contender) the geometric mean "
      "over the sizes, and the least\n"
      "with its size; above 1 is faster than mpi. A size that several files have counts once, "
      "with the geometric mean of its ratios. Each state of the machine has a line of "
      "its own.",
      "summary");
  app.add_option("files", o.files, "written by compare --csv")->required();
  app.add_option("--contender", o.contender, "whose ratios")->capture_default_str();
  app.add_flag("--all", o.all, "the ratios of all contenders");
  app.add_option("--base", o.base, "in place of mpi")->capture_default_str();
  app.add_option("--bytes", o.bytes,
                 "the sizes that count: A:B for powers of four from A to B, a list A,B,C, or all; up to whole elements "
                 "above them")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  auto const sizes = o.bytes == "all" ? std::vector<std::size_t>{} : element_counts(o.bytes, 4, 1);
  std::map<subject, ratios> found;
  for (auto const& file : o.files) add_file(file, o, sizes, found);
  if (o.changed != 0) fmt::print("{} rows are left out: the state of the machine changed meanwhile\n", o.changed);
  if (found.empty())
    throw std::runtime_error(fmt::format("no row of {} at --bytes {}", o.all ? "any contender" : o.contender, o.bytes));
  print(found);
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) try {
  return bench::summarise(argc, argv);
} catch (std::exception const& e) {
  fmt::print(stderr, "{}\n", e.what());
  return 1;
}
