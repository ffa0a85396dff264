// SPDX-License-Identifier: BSL-1.0
// What recorded schedules cost on a machine, in compare's columns, so that pictures of priced and of measured times are
// drawn alike. Needs no MPI.
//
//   prices --collective all_reduce|reduce|all_gatherv --ranks 2,3,100 --bytes 8,1024 --machine 12,3.03,1
//          --algorithms a,b [--distribution NAME]
//   prices --of messages --collective all_gatherv ...   each message of a schedule: from, to, when it begins and ends
//   prices --of formulas --collective NAME --ranks 2,3,100 --bytes 8,1024 --machine 12,3.03,1
//   prices --of choices --ranks 9,128 --bytes 8,1024 --levels 4:cache,64:socket,128:host
//
// --of choices: which all_reduce `automatic` takes on one host, and how many ranks the groups of each round have.
// --of formulas: what the cards' closed formulas say, of all algorithms that have one for the collective.
// --machine: alpha in us, beta and gamma in ns per byte, and alpha of further messages of a step over alpha, f_alpha
// and f_beta (one direction over both), each 1 if left out. all_gatherv's --bytes is the distribution's base count.
#include <colligo/algorithm/catalogue.hpp>
#include <colligo/record.hpp>
#include <colligo/rules/choose.hpp>

#include <algorithm>
#include <charconv>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../test/distributions.hpp"
#include "../bench/csv.hpp"

namespace {

using namespace colligo;

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    std::size_t const comma = std::min(text.find(',', at), text.size());
    parts.emplace_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

template <class Number>
Number number(std::string_view text) {
  Number value{};
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw std::runtime_error("prices: \"" + std::string(text) + "\" is not a number");
  return value;
}
template <class Number>
std::vector<Number> numbers(std::string_view text) {
  std::vector<Number> all;
  for (auto const& part : split(text)) all.push_back(number<Number>(part));
  return all;
}

using recording = std::function<schedule(int p, std::size_t n)>;

template <class... Tags>
std::map<std::string, recording> recordings_of(collective what) {
  return {{std::string(Tags::name), [what](int p, std::size_t n) { return record<double>(Tags{}, what, p, n); }}...};
}

schedule of_automatic(collective what, int p, std::size_t n, machine const& m) {
  auto const chosen = choose(what, {.vector = blocks{{0, n}, p}, .element_size = sizeof(double), .network = m});
  return record<double>(chosen, what, p, n);
}

// "pipelined_ring:32768": with that block in bytes.
schedule of_all_gatherv(std::string const& name, std::vector<std::size_t> const& counts, machine const& m) {
  int const p = static_cast<int>(counts.size());
  using enum collective;
  if (name == "linear_ring") return record(linear_ring{}, all_gatherv, p, counts);
  if (name == "circulant") return record(circulant{}, all_gatherv, p, counts);
  if (name == "automatic") {
    std::vector<std::size_t> offsets{0};
    for (std::size_t const c : counts) offsets.push_back(offsets.back() + c);
    auto const chosen = choose(all_gatherv, {.vector = blocks{{0, offsets.back()}, p, offsets.data()},
                                             .element_size = 1, .network = m});
    return record(chosen, all_gatherv, p, counts);
  }
  std::string_view const ring = "pipelined_ring:";
  if (!name.starts_with(ring)) throw std::runtime_error("prices: no all_gatherv is named " + name);
  pipelined_ring const with_block{.block = number<std::size_t>(std::string_view(name).substr(ring.size()))};
  return record(with_block, all_gatherv, p, counts);
}

using formula = std::function<double(machine const& m, int p, std::size_t n)>;

template <collective C>
void add_formulas(std::map<std::string, formula>& all) {
  for_each_algorithm([&]<class Tag>(Tag tag) {
    if constexpr (requires(policy_t<C, Tag, double, std::plus<>> policy) { policy.cost(typical, 1, std::size_t{1}); })
      all.emplace(Tag::name, [tag](machine const& m, int p, std::size_t n) {
        return make_policy<C, Tag, double, std::plus<>>(tag).cost(m, p, n);
      });
  });
}

std::map<std::string, formula> formulas_of(collective c) {
  std::map<std::string, formula> all;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((c == collectives[I] ? add_formulas<collectives[I]>(all) : void()), ...);
  }(std::make_index_sequence<collectives.size()>{});
  return all;
}

void print_row(std::string_view what, std::string_view name, std::string_view type, int p, std::size_t bytes, double us,
               std::string_view distribution) {
  std::cout << what << ',' << name << ',' << type << ',' << p << ',' << bytes << ",1," << us << ',' << us << ',' << us
            << ',' << distribution << ",priced,blocking\n"
            << std::flush;
}

/// A message's number of its round, with times for rounds, is when it begins: in nanoseconds.
struct nanoseconds_clock : detail::seconds_clock {
  constexpr double transfer(message const& message, bool both_ways, bool further) const {
    return 1e9 * detail::seconds_clock::transfer(message, both_ways, further);
  }
  constexpr double combine(std::size_t n) const { return 1e9 * detail::seconds_clock::combine(n); }
  constexpr double alone(own_work const& work) const { return 1e9 * detail::seconds_clock::alone(work); }
};

/// "4:cache,64:socket": so many consecutive ranks share a cache, and so on.
hierarchy hierarchy_in(std::string_view text, int p) {
  constexpr std::string_view names[] = {"cache", "socket", "host", "network"};
  std::vector<std::vector<int>> levels;
  std::vector<distance> far;
  for (auto const& level : split(text)) {
    auto const colon = level.find(':');
    auto const name = std::ranges::find(names, std::string_view(level).substr(std::min(colon + 1, level.size())));
    if (colon == std::string::npos || name == std::end(names))
      throw std::runtime_error("prices: --levels RANKS:cache|socket|host|network,...");
    int const together = number<int>(std::string_view(level).substr(0, colon));
    far.push_back(static_cast<distance>(name - std::begin(names)));
    auto& groups = levels.emplace_back();
    for (int r = 0; r < p; ++r) groups.push_back(r / together);
  }
  return hierarchy(p, std::move(levels), std::move(far));
}

/// Ranks of each group of a level: "4*16+5".
std::string groups_of(hierarchy const& groups, int level) {
  std::vector<std::pair<int, int>> runs;   // of groups of one size
  for (int place = 0; place < groups.size();) {
    hierarchy::group const group = groups.group_at(level, place);
    if (runs.empty() || runs.back().first != group.size()) runs.emplace_back(group.size(), 0);
    ++runs.back().second;
    place = group.last;
  }
  std::string said;
  for (auto const& [size, times] : runs) {
    if (!said.empty()) said += '+';
    said += std::to_string(size);
    if (times > 1) said += '*' + std::to_string(times);
  }
  return said;
}

void print_choice(int p, std::size_t bytes, hierarchy const& levels) {
  auto const name = name_of(choose(collective::all_reduce, {.vector = blocks{{0, bytes}, p}, .element_size = 1,
                                                            .shared = true, .cores = true, .levels = &levels}));
  bool const in_slices = name == slices_by_level::name;
  std::cout << p << ',' << bytes << ',' << name << ',';
  hierarchy const& groups = in_slices ? levels.for_slices(static_cast<double>(bytes)) : levels.for_whole();
  for (int level = 0, written = 0; level < groups.levels(); ++level)
    if (!in_slices || !groups.is_short_round(level))
      std::cout << (written++ != 0 ? " " : "") << groups_of(groups, level);
  std::cout << '\n';
}

void print_messages(std::string_view name, int p, std::size_t bytes, schedule const& s, machine const& m) {
  nanoseconds_clock const clock{{m, 1}};
  std::vector<message> all;
  s.play(clock, &all);
  for (message const& message : all) {
    double const begin = message.round - 1;
    std::cout << name << ',' << p << ',' << bytes << ',' << message.from << ',' << message.to << ',' << begin / 1e3
              << ',' << (begin + clock.transfer(message, true, false)) / 1e3 << '\n';
  }
}

int run(int argc, char** argv) {
  std::map<std::string, std::string, std::less<>> o{
      {"--of", "schedules"},      {"--collective", "all_reduce"}, {"--ranks", "2"},
      {"--bytes", "8"},           {"--machine", "1,0.1,0.1"},     {"--algorithms", ""},
      {"--distribution", "regular"}, {"--levels", ""}};
  for (int i = 1; i < argc; i += 2) {
    if (!o.contains(std::string_view(argv[i])) || i + 1 == argc)
      throw std::runtime_error("prices: " + std::string(argv[i]) + " is no option, or has no value");
    o[argv[i]] = argv[i + 1];
  }
  auto costs = numbers<double>(o["--machine"]);
  if (costs.size() < 3 || costs.size() > 6)
    throw std::runtime_error("prices: --machine ALPHA,BETA,GAMMA[,FURTHER[,F_ALPHA[,F_BETA]]]");
  costs.resize(6, 1);
  machine const m{costs[0] * 1e-6, costs[1] * 1e-9, costs[2] * 1e-9, costs[4], costs[5], costs[3]};
  if (o["--of"] == "formulas") {
    auto const what = std::ranges::find(collectives, o["--collective"], [](collective c) { return name_of(c); });
    if (what == collectives.end()) throw std::runtime_error("prices: no collective is named " + o["--collective"]);
    std::cout << bench::csv_header << '\n';
    std::cout.precision(17);
    for (auto const& [name, cost] : formulas_of(*what))
      for (int const p : numbers<int>(o["--ranks"]))
        for (std::size_t const bytes : numbers<std::size_t>(o["--bytes"])) {
          std::size_t const n = (bytes + 7) / 8 * (has_blocks(*what) ? static_cast<std::size_t>(p) : 1);
          print_row(name_of(*what), name, "double,sum", p, bytes, cost(m, p, n) * 1e6, "regular");
        }
    return 0;
  }
  if (o["--of"] == "choices") {
    std::cout << "ranks,bytes,algorithm,groups\n";
    for (int const p : numbers<int>(o["--ranks"])) {
      hierarchy const levels = hierarchy_in(o["--levels"], p);
      for (std::size_t const bytes : numbers<std::size_t>(o["--bytes"])) print_choice(p, bytes, levels);
    }
    return 0;
  }
  bool const in_messages = o["--of"] == "messages";
  if (!in_messages && o["--of"] != "schedules")
    throw std::runtime_error("prices: --of schedules, messages of all_gatherv, formulas or choices");
  bool const gathers = o["--collective"] == "all_gatherv";
  auto const what = o["--collective"] == "reduce" ? collective::reduce : collective::all_reduce;
  if (in_messages && !gathers) throw std::runtime_error("prices: messages are those of all_gatherv");
  if (!gathers && o["--collective"] != name_of(what))
    throw std::runtime_error("prices: all_reduce, reduce or all_gatherv");
  auto known = what == collective::reduce
                   ? recordings_of<binary_tree, halving_doubling, binary_blocks, ring, circulant>(what)
                   : recordings_of<binary_tree, recursive_doubling, halving_doubling, binary_blocks, ring,
                                   rotating_ring, halving_tree, circulant, chained_halving>(what);
  known["automatic"] = [&](int p, std::size_t n) { return of_automatic(what, p, n, m); };
  auto const distribution = std::ranges::find(distributions::all, std::string_view(o["--distribution"]),
                                              [](auto const& d) { return std::string_view(d.first); });
  if (distribution == distributions::all.end()) throw std::runtime_error("prices: no such --distribution");

  std::cout << (in_messages ? "algorithm,ranks,bytes,from,to,begin_us,end_us" : bench::csv_header) << '\n';
  std::cout.precision(10);
  for (int const p : numbers<int>(o["--ranks"]))
    for (std::size_t const bytes : numbers<std::size_t>(o["--bytes"]))
      for (auto const& name : split(o["--algorithms"])) {
        double us = 0;
        if (in_messages) {
          print_messages(name, p, bytes, of_all_gatherv(name, distribution->second(p, bytes), m), m);
          continue;
        }
        if (gathers) {
          us = price(of_all_gatherv(name, distribution->second(p, bytes), m), m) * 1e6;
        } else {
          auto const found = known.find(name);
          if (found == known.end())
            throw std::runtime_error("prices: no " + std::string(name_of(what)) + " is named " + name);
          std::size_t const n = (bytes + 7) / 8;
          // A message for each pair of ranks: from here on by its formula, which the tests hold to the recorded price.
          if (name == ring::name && p > 128)
            us = formulas_of(what).at(name)(m, p, n) * 1e6;
          else us = price(found->second(p, n), m, sizeof(double)) * 1e6;
        }
        print_row(o["--collective"], name, gathers ? "byte," : "double,sum", p, bytes, us, o["--distribution"]);
      }
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  return run(argc, argv);
} catch (std::exception const& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
