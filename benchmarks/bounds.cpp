// SPDX-License-Identifier: BSL-1.0
// What recorded schedules cost beside the bounds: over ranks, lengths and machines, the best algorithm of the catalogue
// (as its knobs stand, or as `automatic` sets them) over the textbook's lower bound (start-ups, bandwidth and combining
// added up), and what `automatic` takes beyond one host over the best. Needs no MPI.
//
//   bounds [--ranks MOST] [--csv] [--without ALGORITHM[,ALGORITHM...]] [COLLECTIVE...]
//
// --without: the best of the rest, as if there were neither those nor knobs that `automatic` sets.
// Fails where `automatic` is dearer than the best by more than 1.05 (geometric mean over a grid) or 1.5 (at a point).
#include <colligo/record.hpp>
#include <colligo/plan/price.hpp>
#include <colligo/select/choose.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace colligo;

struct named_machine {
  char const* name;
  machine costs;
};
constexpr named_machine machines[] = {
    {"ethernet", {30e-6, 8e-10, 1e-10}}, {"typical", typical}, {"fast", {1.5e-6, 2e-11, 1e-10}}};

constexpr int some_ranks[] = {2,  3,  4,  5,  6,  7,  8,  9,  11, 12, 13,  15,  16,  17,  24,  31, 32,
                              33, 36, 48, 63, 64, 65, 77, 96, 100, 127, 128, 129, 240, 256, 384, 500, 512};

double bound(collective c, machine const& m, int p, double bytes) {
  using enum collective;
  double const q = ceil_lg(p), moved = bytes - bytes / p;
  switch (c) {
    case all_reduce: return q * m.alpha + moved * (2 * m.beta + m.gamma);
    case reduce: return q * m.alpha + bytes * m.beta + moved * m.gamma;
    case broadcast: return q * m.alpha + bytes * m.beta;
    case all_gather: case gather: case scatter: case all_to_all: return q * m.alpha + moved * m.beta;
    case reduce_scatter: return q * m.alpha + moved * (m.beta + m.gamma);
    case scan: case exclusive_scan: return q * m.alpha + bytes * (m.beta + m.gamma);
    case all_gatherv: return q * m.alpha + bytes * m.beta;   // less the least that a rank has: little or nothing
    default: return 0;
  }
}

/// How a vector of n bytes is cut into blocks; empty: as evenly as can be.
using blocks_of = std::vector<std::size_t> (*)(int p, std::size_t n);
struct distribution {
  char const* name;
  blocks_of counts;
};
constexpr distribution even{"", nullptr};
constexpr distribution from_one{" from one rank", [](int p, std::size_t n) {
  std::vector<std::size_t> counts(static_cast<std::size_t>(p));
  counts[0] = n;
  return counts;
}};
constexpr distribution spike{" of a spike", [](int p, std::size_t n) {
  auto const others = static_cast<std::size_t>(p - 1);
  std::vector<std::size_t> counts(others + 1, n / 2 / others);
  counts[0] = n - n / 2 / others * others;   // about half
  return counts;
}};

// Ratios of one question: geometric mean, and the worst with where.
struct ratios {
  double logarithms = 0, worst = 0;
  int count = 0;
  std::string where;

  void add(double ratio, std::string const& at) {
    logarithms += std::log(ratio), ++count;
    if (ratio > worst) worst = ratio, where = at;
  }
  double mean() const { return std::exp(logarithms / count); }
  friend std::ostream& operator<<(std::ostream& out, ratios const& r) {
    return out << r.mean() << " (worst " << r.worst << " at " << r.where << ')';
  }
};

// So many schedules are long that those with a message for each pair of ranks are left to fewer ranks.
template <class Tag>
constexpr int most_ranks =
    std::is_same_v<Tag, direct> ? 64 : std::is_same_v<Tag, ring> ? 128 : 1 << 20;

// Not those for several hosts, nor those that give the same bits on all ranks only where any order does.
template <class Tag>
constexpr bool takes_part = []<class... Others>(list_of_tags<Others...>) {
  return (!std::is_same_v<Tag, Others> && ...);
}(list_of_tags<vendor, shared_memory, census, rotating_ring, along_trees, hierarchical<>,
               hierarchical<binary_tree, direct>, multi_leader<>, direct_by_level, slices_by_level>{});

struct question {
  int most_ranks = 128;
  bool csv = false;
  std::vector<std::string> without{}, collectives{};

  static bool among(std::vector<std::string> const& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  }
};

// True if `automatic` is close enough to the best.
template <collective C>
bool compare(question const& its, bool commutes, distribution const& cut) {
  std::map<std::string, ratios> to_bound, to_best;
  for (int const p : some_ranks) {
    if (p > its.most_ranks) continue;
    auto const least = static_cast<std::size_t>(has_blocks(C) ? std::max(p, 8) : 8);   // bytes: no block is empty
    for (std::size_t n = least; n <= 64u << 20; n *= 8) {
      std::vector<std::size_t> const counts = cut.counts ? cut.counts(p, n) : std::vector<std::size_t>{};
      std::vector<std::size_t> offsets{0};
      for (std::size_t const count : counts) offsets.push_back(offsets.back() + count);
      blocks const vector{{0, n}, p, cut.counts ? offsets.data() : nullptr};
      auto const recorded = [&](auto const& tag) {
        return cut.counts ? record(tag, C, p, counts) : record(tag, C, p, n);
      };
      std::vector<double> best(std::size(machines), INFINITY);
      std::vector<std::string> who(std::size(machines));
      for_each_algorithm([&]<class Tag>(Tag const& tag) {
        if constexpr (takes_part<Tag> && offers<Tag, C, std::byte, detail::any_functor>) {
          constexpr bool in_order = keeps_order<policy_t<C, Tag, std::byte, detail::any_functor>>();
          if (p > most_ranks<Tag> || !(commutes || in_order) || its.among(its.without, Tag::name)) return;
          auto const s = recorded(tag);
          for (std::size_t i = 0; i < std::size(machines); ++i)
            if (double const costs = price(s, machines[i].costs); costs < best[i]) best[i] = costs, who[i] = Tag::name;
        }
      });
      for (std::size_t i = 0; i < std::size(machines); ++i) {
        machine const& costs = machines[i].costs;
        std::string const name = machines[i].name;
        auto const chosen =
            choose(C, {.vector = vector, .element_size = 1, .commutes = commutes, .network = costs});
        auto const took = std::string(name_of(chosen));
        double const taken = price(recorded(chosen), costs);
        if (its.without.empty() && taken < best[i]) best[i] = taken, who[i] = took;
        auto const at = "p = " + std::to_string(p) + ", " + std::to_string(n) + " B: " + took + ", best " + who[i];
        double const lower = bound(C, costs, p, static_cast<double>(n));
        to_bound[name].add(best[i] / lower, at);
        to_best[name].add(taken / best[i], at);
        if (its.csv)
          std::cout << name_of(C) << cut.name << ',' << commutes << ',' << name << ',' << p << ',' << n << ','
                    << took << ',' << taken << ',' << who[i] << ',' << best[i] << ',' << lower << '\n';
      }
    }
  }
  bool close = true;
  for (auto const& m : machines) {
    ratios const& of = to_best[m.name];
    close = close && of.mean() <= 1.05 && of.worst <= 1.5;
    if (its.csv) continue;
    auto const what = std::string(name_of(C)) + cut.name + (commutes ? "" : ", order kept") + " on " + m.name + ": ";
    std::cout << what << "best / bound " << to_bound[m.name] << "\n    automatic / best " << of << '\n';
  }
  return close;
}

}  // namespace

int main(int argc, char** argv) {
  question its;
  for (int i = 1; i < argc; ++i) {
    std::string const word = argv[i];
    if (word == "--csv") {
      its.csv = true;
    } else if (word == "--ranks" && i + 1 < argc) {
      its.most_ranks = std::atoi(argv[++i]);
    } else if (word == "--without" && i + 1 < argc) {
      std::istringstream names(argv[++i]);
      for (std::string name; std::getline(names, name, ',');) its.without.push_back(name);
    } else {
      its.collectives.push_back(word);
    }
  }
  if (its.csv) std::cout << "collective,commutes,machine,p,bytes,automatic,seconds,best,seconds_of_best,bound\n";
  bool close = true;
  auto const on_grid = [&]<collective C>(bool commutes, distribution const& cut = even) {
    if (its.collectives.empty() || its.among(its.collectives, name_of(C)))
      close = compare<C>(its, commutes, cut) && close;
  };
  using enum collective;
  for (bool const commutes : {true, false}) {
    on_grid.operator()<all_reduce>(commutes);
    on_grid.operator()<reduce>(commutes);
    on_grid.operator()<reduce_scatter>(commutes);
  }
  on_grid.operator()<broadcast>(true);
  on_grid.operator()<all_gather>(true);
  on_grid.operator()<all_gatherv>(true, from_one);
  on_grid.operator()<all_gatherv>(true, spike);
  on_grid.operator()<gather>(true);
  on_grid.operator()<scan>(true);
  on_grid.operator()<exclusive_scan>(true);
  on_grid.operator()<all_to_all>(true);
  if (!close) std::cerr << "automatic is further from the best than 1.05 in the mean or 1.5 at one point\n";
  return close ? 0 : 1;
}
