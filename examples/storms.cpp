// SPDX-License-Identifier: BSL-1.0
// Fifty years of Atlantic storms by decade. The ranks share out the observations, each sums up its share in one struct
// per decade, and a single all_reduce over the decades, with a functor that merges two of them,
// gives every rank the whole.
//
//   mpirun -n 4 storms
//   mpirun -n 4 storms --check --algorithm ring
#include "data_folder.hpp"

#include <CLI/CLI.hpp>
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <colligo/all_reduce.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <compare>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// --- what a rank knows of a decade -----------------------------------------------------------------------------------

// When and in which storm. The earlier one is the smaller one.
struct sighting {
  int year, month, day, hour;
  std::array<char, 16> storm;
  friend auto operator<=>(sighting const&, sighting const&) = default;
};

// A value with the sighting as its index: maxloc and minloc take the earliest of several equal values, so the answer
// does not depend on how the observations are shared out.
using extreme = colligo::located<int, sighting>;

struct decade {
  std::int64_t winds = 0;   // observations with a wind
  double mean = 0;          // of the wind, in knots
  double squares = 0;       // sum of the squared distances from the mean
  extreme strongest_wind{std::numeric_limits<int>::min(), {}};
  extreme lowest_pressure{std::numeric_limits<int>::max(), {}};
};

// Mean and squares by the pairwise update of Chan, Golub and LeVeque (Updating formulae and a pairwise algorithm for
// computing sample variances, Stanford STAN-CS-79-773, 1979): exact in exact arithmetic for parts of any size, and
// without the cancellation of "mean of the squares minus square of the mean".
struct merge {
  decade operator()(decade const& a, decade const& b) const {
    decade both;
    both.strongest_wind = colligo::maxloc{}(a.strongest_wind, b.strongest_wind);
    both.lowest_pressure = colligo::minloc{}(a.lowest_pressure, b.lowest_pressure);
    both.winds = a.winds + b.winds;
    if (both.winds == 0) return both;
    double const distance = b.mean - a.mean, share = static_cast<double>(b.winds) / static_cast<double>(both.winds);
    both.mean = a.mean + distance * share;
    both.squares = a.squares + b.squares + distance * distance * static_cast<double>(a.winds) * share;
    return both;
  }
};

// Up to rounding; said so that algorithms which reorder operands may be chosen too.
template <>
inline constexpr bool colligo::commutative<merge, decade> = true;

constexpr int first_year = 1970, number_of_decades = 6;
using decades = std::vector<decade>;

// --- reading ---------------------------------------------------------------------------------------------------------

constexpr std::string_view header =
    "name,year,month,day,hour,lat,long,status,category,wind,pressure,"
    "tropicalstorm_force_diameter,hurricane_force_diameter";
enum column : std::size_t { name, year, month, day, hour, wind = 9, pressure = 10, columns = 13 };

struct observation {
  sighting seen;
  std::optional<int> wind, pressure;   // NA in the file: empty
};

// One line of the file; errors say which.
class line_reader {
 public:
  line_reader(std::string_view line, std::size_t number) : number_(number) {
    std::size_t count = 0;
    for (bool more = true; more; ++count) {
      auto const comma = line.find(',');
      if (count < columns) fields_[count] = line.substr(0, comma);
      more = comma != line.npos;
      if (more) line.remove_prefix(comma + 1);
    }
    if (count != columns) fail(fmt::format("{} columns, expected {}", count, std::size_t{columns}));
  }

  observation read() const {
    observation o{};
    if (fields_[name].size() >= o.seen.storm.size()) fail(fmt::format("the name \"{}\" is too long", fields_[name]));
    std::ranges::copy(fields_[name], o.seen.storm.begin());
    o.seen.year = number(year, first_year, first_year + 10 * number_of_decades - 1);
    o.seen.month = number(month, 1, 12);
    o.seen.day = number(day, 1, 31);
    o.seen.hour = number(hour, 0, 23);
    if (fields_[wind] != "NA") o.wind = number(wind, 0, 300);
    if (fields_[pressure] != "NA") o.pressure = number(pressure, 800, 1100);
    return o;
  }

 private:
  [[noreturn]] void fail(std::string const& why) const {
    throw std::runtime_error(fmt::format("line {}: {}", number_, why));
  }

  int number(column which, int lowest, int highest) const {
    std::string_view const text = fields_[which];
    int value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < lowest || value > highest)
      fail(fmt::format("column {}: \"{}\" is no number from {} to {}", which + 1, text, lowest, highest));
    return value;
  }

  std::size_t number_;
  std::array<std::string_view, columns> fields_;
};

// The lines after the header, so that [i] is line i + 2 of the file.
std::vector<std::string> read_lines(std::string const& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot be opened");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(line);
  }
  if (lines.empty() || lines.front() != header)
    throw std::runtime_error("line 1: expected the header " + std::string(header));
  lines.erase(lines.begin());
  return lines;
}

std::vector<observation> read_observations(std::vector<std::string> const& lines, colligo::range share) {
  std::vector<observation> observations;
  for (std::size_t i = share.first; i < share.last; ++i) observations.push_back(line_reader(lines[i], i + 2).read());
  return observations;
}

// --- the work --------------------------------------------------------------------------------------------------------

std::size_t decade_of(observation const& o) { return static_cast<std::size_t>((o.seen.year - first_year) / 10); }

// An observation is a decade of which nothing else is known: adding it is merging it.
decades sum_up(std::vector<observation> const& observations) {
  decades sums(number_of_decades);
  for (observation const& o : observations) {
    decade one;
    if (o.wind) one.winds = 1, one.mean = *o.wind, one.strongest_wind = {*o.wind, o.seen};
    if (o.pressure) one.lowest_pressure = {*o.pressure, o.seen};
    decade& sum = sums[decade_of(o)];
    sum = merge{}(sum, one);
  }
  return sums;
}

double deviation(decade const& d) { return d.winds == 0 ? 0 : std::sqrt(d.squares / static_cast<double>(d.winds)); }

void print(decades const& all) {
  auto const shown = [](extreme const& e, std::string_view unit) {
    sighting const& s = e.index;
    if (s.year == 0) return std::string("   -");   // none seen
    return fmt::format("{:>4} {:<4}  {:<9} {:04}-{:02}-{:02} {:02}h", e.value, unit, s.storm.data(), s.year, s.month,
                       s.day, s.hour);
  };
  constexpr auto line = "{:<6} {:>12} {:>10} {:>9}   {:<36} {}\n";
  fmt::print(line, "decade", "observations", "mean wind", "deviation", "strongest wind", "lowest pressure");
  for (int first = first_year; decade const& d : all) {
    auto const knots = [&](double value) { return d.winds == 0 ? "-" : fmt::format("{:.2f} kt", value); };
    fmt::print(line, fmt::format("{}s", first), d.winds, knots(d.mean), knots(deviation(d)),
               shown(d.strongest_wind, "kt"), shown(d.lowest_pressure, "mbar"));
    first += 10;
  }
}

// The same by other means: two passes over all observations, without merging anything.
decades sum_up_sequentially(std::vector<observation> const& observations) {
  decades sums(number_of_decades);
  auto const keep = [](extreme& best, int value, sighting const& seen, auto better) {
    if (better(value, best.value) || (value == best.value && seen < best.index)) best = {value, seen};
  };
  for (observation const& o : observations) {
    decade& sum = sums[decade_of(o)];
    if (o.wind) ++sum.winds, sum.mean += *o.wind, keep(sum.strongest_wind, *o.wind, o.seen, std::greater<>{});
    if (o.pressure) keep(sum.lowest_pressure, *o.pressure, o.seen, std::less<>{});
  }
  for (decade& sum : sums)
    if (sum.winds != 0) sum.mean /= static_cast<double>(sum.winds);
  for (observation const& o : observations)
    if (o.wind) sums[decade_of(o)].squares += std::pow(*o.wind - sums[decade_of(o)].mean, 2);
  return sums;
}

// What differs, empty if nothing does. Sums may differ by rounding alone.
std::string difference(decade const& a, decade const& b) {
  auto const close = [](double x, double y) { return std::abs(x - y) <= 1e-12 * std::abs(y); };
  if (a.winds != b.winds) return "count";
  if (!close(a.mean, b.mean)) return "mean wind";
  if (!close(a.squares, b.squares)) return "variance";
  if (a.strongest_wind != b.strongest_wind) return "strongest wind";
  if (a.lowest_pressure != b.lowest_pressure) return "lowest pressure";
  return {};
}

int main(int argc, char** argv) {
  boost::mpi::environment const mpi(argc, argv);
  boost::mpi::communicator const world;
  bool const speaks = world.rank() == 0;

  std::string path = COLLIGO_EXAMPLE_DATA "/atlantic_storms.csv", algorithm;
  bool check = false;
  CLI::App app("Atlantic storms by decade: wind and pressure, merged by one all_reduce");
  app.add_option("file", path, "observations, as in atlantic_storms.csv")->capture_default_str();
  app.add_option("--algorithm", algorithm, "by name, for example ring (default: the library chooses)");
  app.add_flag("--check", check, "compare with a sequential pass");
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& e) {
    return speaks ? app.exit(e) : e.get_exit_code();
  }

  // A simple way to share out: every rank reads the file and parses the lines of its share.
  std::vector<std::string> lines;
  decades all(number_of_decades);
  std::string complaint;
  try {
    lines = read_lines(path);
    colligo::blocks const shares{{0, lines.size()}, world.size()};
    all = sum_up(read_observations(lines, shares[world.rank()]));
  } catch (std::exception const& e) {
    complaint = path + ": " + e.what();
  }

  try {
    // A malformed line is seen by one rank alone: it must not leave the others waiting. The lowest rank that complains
    // has the first such line and speaks.
    int const complains =
        colligo::all_reduce(world, complaint.empty() ? world.size() : world.rank(), colligo::minimum{});
    if (complains == world.rank()) fmt::print(stderr, "{}\n", complaint);
    if (complains != world.size()) return 1;

    auto const merge_all = [&](auto const& with) { colligo::all_reduce(world, colligo::in_place(all), merge{}, with); };
    if (algorithm.empty()) merge_all(colligo::automatic{});
    else merge_all(colligo::named(algorithm));
  } catch (colligo::algorithm_error const& e) {   // the same name, hence the same error, at every rank
    if (speaks) fmt::print(stderr, "{}\n", e.what());
    return 1;
  }

  if (!speaks) return 0;
  fmt::print("{} observations, {} ranks, algorithm {}\n\n", lines.size(), world.size(),
             algorithm.empty() ? "automatic" : algorithm);
  print(all);
  if (!check) return 0;
  decades const expected = sum_up_sequentially(read_observations(lines, {0, lines.size()}));
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string const wrong = difference(all[i], expected[i]);
    if (wrong.empty()) continue;
    fmt::print(stderr, "\ncheck failed: the {} of the {}s is not what a sequential pass finds\n", wrong,
               first_year + 10 * i);
    return 1;
  }
  fmt::print("\nchecked: a sequential pass finds the same\n");
}
