// SPDX-License-Identifier: BSL-1.0
// What recorded schedules cost, own work of ranks included, beside the bounds: over ranks, lengths and machines, the
// best algorithm of the catalogue (as its knobs stand, or as `automatic` sets them) over the textbook's lower bound
// (start-ups, bandwidth and combining added up), and what `automatic` takes beyond one host over the best. No MPI.
//
//   bounds [--wide] [--ranks MOST] [--csv] [--without ALGORITHM[,ALGORITHM...]] [COLLECTIVE...]
//   bounds --sample POINTS [--seed SEED] [--ranks MOST] [COLLECTIVE...|sparse_all_to_all]
//
// --wide: p = 8 .. 4096, 8 B .. 1 MiB a rank, blocks in the six distributions of test/distributions.hpp. Schedules of
// two million operands (even blocks: a quarter million) are not recorded. Rings are then priced round by round, others
// by their card's formula where there is one for such blocks, pipelines of lists as the rules do; the
// rest, if not taken, by the least that what one rank sends, receives and combines can take: then the best may be less
// than any algorithm takes. What is taken and has no price is counted, and not compared.
// --sample: so many points with any p from 8 on and any length between, drawn from the wide grid's questions; of
// sparse_all_to_all with any p from 2 on, hosts of 1, 8 or 64 ranks, 0 to p - 1 messages of 8 B to 64 KiB, which fails
// where `automatic` is dearer than the best way by more than 1.05 in the mean or 1.25 at a point.
// `direct` counts on up to 64 ranks: more should not all send to one at a time, which no price says, and `automatic`
// does not take it.
// COLLECTIVE: "all_gatherv" is that of all distributions, "all_gatherv from one rank" that of one.
// --without: the best of the rest, as if there were neither those nor knobs that `automatic` sets.
// Fails where `automatic` is dearer than the best by more than 1.05 (geometric mean over a grid) or 1.5 (at a point),
// on the wide grid by more than 1.1 at a point; and where the best is cheaper than the bound, which can not be.
#include <colligo/record.hpp>
#include <colligo/plan/price.hpp>
#include <colligo/rules/choose.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../../test/distributions.hpp"
#include "counting_step.hpp"
#include "sparse_bounds.hpp"

namespace {

using namespace colligo;

struct named_machine {
  char const* name;
  machine costs;
};
constexpr machine with_own_work(double alpha, double beta) {
  machine m = typical;
  m.alpha = alpha, m.beta = beta;
  return m;
}
constexpr named_machine machines[] = {
    {"ethernet", with_own_work(30e-6, 8e-10)}, {"typical", typical}, {"fast", with_own_work(1.5e-6, 2e-11)}};

constexpr int some_ranks[] = {2,  3,  4,  5,  6,  7,  8,  9,  11, 12, 13,  15,  16,  17,  24,  31, 32,
                              33, 36, 48, 63, 64, 65, 77, 96, 100, 127, 128, 129, 240, 256, 384, 500, 512};

// Own work of ranks is not in it.
double bound(collective c, machine const& m, blocks const& vector) {
  using enum collective;
  auto const bytes = static_cast<double>(vector.whole.size());
  double const q = ceil_lg(vector.parts), moved = bytes - bytes / vector.parts;
  switch (c) {
    case all_reduce: return q * m.alpha + moved * (2 * m.beta + m.gamma);
    case reduce: return q * m.alpha + bytes * m.beta + moved * m.gamma;
    case broadcast: return q * m.alpha + bytes * m.beta;
    case all_gather: case all_to_all: return q * m.alpha + moved * m.beta;
    case reduce_scatter: return q * m.alpha + moved * (m.beta + m.gamma);
    case scan: return q * m.alpha + bytes * (m.beta + m.gamma);
    case exclusive_scan: return q * m.alpha + bytes * (m.beta + (vector.parts > 2 ? m.gamma : 0));
    case gather: case scatter: return q * m.alpha + (bytes - static_cast<double>(vector[0].size())) * m.beta;
    case all_gatherv: return q * m.alpha + (bytes - static_cast<double>(vector.shortest())) * m.beta;
    default: return 0;
  }
}

/// How a vector is cut into blocks, by what is in all where one rank has all or half of it, else by what a rank has in
/// the mean; null: as evenly as can be.
using blocks_of = std::vector<std::size_t> (*)(int p, std::size_t elements);
struct distribution {
  std::string name{};
  blocks_of counts = nullptr;

  /// The elements of each rank, `n` in all but for what is rounded off.
  std::vector<std::size_t> cut(int p, std::size_t n) const {
    if (counts == nullptr) return {};
    bool const takes_all = counts == &distributions::broadcast || counts == &distributions::spike;
    return counts(p, takes_all ? n : n / static_cast<std::size_t>(p));
  }
};

struct grid {
  std::vector<int> ranks;
  std::vector<std::size_t> lengths;   // bytes, in all or a rank
  bool a_rank;
  double mean, worst;   // that `automatic` may be dearer than the best
};
grid const narrow{{std::begin(some_ranks), std::end(some_ranks)},
                  {8, 64, 512, 1 << 12, 1 << 15, 1 << 18, 1 << 21, 1 << 24}, false, 1.05, 1.5};
grid const wide{{8, 13, 32, 100, 128, 512, 1000, 4096},
                {8, 64, 512, 1 << 12, 1 << 15, 1 << 18, 1 << 20}, true, 1.1, 1.1};

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

// Not those for several hosts, nor those that give the same bits on all ranks only where any order does.
template <class Tag>
constexpr bool takes_part = []<class... Others>(list_of_tags<Others...>) {
  return (!std::is_same_v<Tag, Others> && ...);
}(list_of_tags<vendor, shared_memory, census, rotating_ring, along_trees, hierarchical<>,
               hierarchical<binary_tree, direct>, multi_leader<>, direct_by_level, slices_by_level,
               leaders_by_level, pipelines_by_level, bundles_by_level, scan_by_level>{});

struct question {
  grid const* over = &narrow;
  int most_ranks = 128;
  bool csv = false;
  int sample = 0;
  unsigned seed = 1;
  std::vector<std::string> without{}, collectives{};

  static bool among(std::vector<std::string> const& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  }
};

// What an algorithm costs on each machine.
template <collective C>
class prices {
 public:
  prices(int p, std::size_t n, std::vector<std::size_t> const& counts) : p_(p), counts_(counts), offsets_{0} {
    for (std::size_t const count : counts) offsets_.push_back(offsets_.back() + count);
    vector_ = {{0, counts.empty() ? n : offsets_.back()}, p, counts.empty() ? nullptr : offsets_.data()};
  }
  blocks const& vector() const { return vector_; }

  /// At most, or of what is not recorded at least; empty if that is no less than `already` on any machine.
  std::vector<double> of(chosen_algorithm const& algorithm, bool at_least,
                         std::vector<double> const& already = {}) const {
    std::vector<double> all;
    auto const said = said_by(algorithm);
    bool is_less = already.empty();
    for (std::size_t i = 0; i < already.size(); ++i)
      is_less = is_less || least(algorithm, said, machines[i].costs) < already[i];
    if (!is_less) return all;
    std::size_t const priced = said[0].operands - said[0].moves + said[0].moves / moves_an_operand;
    if (priced * static_cast<std::size_t>(p_) <= (vector_.offsets ? 8 : 1) * most_operands) {
      auto const s =
          counts_.empty() ? record(algorithm, C, p_, vector_.whole.size()) : record(algorithm, C, p_, counts_);
      for (auto const& m : machines) {
        all.push_back(price(s, m.costs));
        auto const ring = vector_.offsets ? around_ring(algorithm, m.costs) : std::nullopt;
        if (ring && std::abs(*ring - all.back()) > 1e-9 * all.back()) throw std::logic_error("a ring's price differs");
      }
    } else {
      for (auto const& m : machines) {
        auto known = vector_.offsets ? around_ring(algorithm, m.costs) : by_formula(algorithm, m.costs);
        if (!known) known = by_volume(algorithm, m.costs);
        double const otherwise = at_least ? least(algorithm, said, m.costs) : std::nan("");
        all.push_back(known.value_or(otherwise));
      }
    }
    return all;
  }

 private:
  static constexpr std::size_t most_operands = 1u << 18, moves_an_operand = 16;   // a move is priced so much faster

  // By a rank in the middle and the one with the longest block.
  std::array<bench::said_by_rank, 2> said_by(chosen_algorithm const& algorithm) const {
    std::array<bench::said_by_rank, 2> all;
    detail::small_vector<operand> memory;
    memory.reserve(64);
    int const longest = static_cast<int>(std::ranges::max_element(counts_) - counts_.begin());
    for (std::size_t i = 0; int const rank : {p_ / 2, counts_.empty() ? 0 : longest}) {
      bench::counting_step step(rank, p_, 1, memory);
      detail::policies_of<>(C)()[algorithm.index()]->run(algorithm.tag(), {}, step, vector_, 0);
      all[i++] = step.counted;
    }
    return all;
  }
  // What one rank sends, receives and combines takes, and what it waits for the first block of a chain; the longest
  // block goes round a ring.
  double least(chosen_algorithm const& algorithm, std::array<bench::said_by_rank, 2> const& said,
               machine const& m) const {
    double most = 0;
    for (bench::said_by_rank const& one : said) {
      double const before = algorithm.as<pipelined_chain>() && one.messages > 0 ? p_ - 2 : 0;
      double const bytes = static_cast<double>(std::max(one.sent, one.received));
      most = std::max(most, m.alpha * (before + static_cast<double>(one.messages)) + m.beta * bytes +
                                m.gamma * static_cast<double>(one.folded));
    }
    return most + own_work_of(algorithm, m);
  }
  // As recorded: in each round a rank sends and receives one message, begun when both ends are done with the last one.
  std::optional<double> around_ring(chosen_algorithm const& algorithm, machine const& m) const {
    auto const p = static_cast<std::size_t>(p_);
    if (algorithm.as<pipelined_ring>()) {
      auto const sent = sent_around(algorithm);
      return in_rounds(sent[0].messages.size(), own_work_of(algorithm, m), m, [&](std::size_t r, std::size_t round) {
        return move{static_cast<std::size_t>(sent[r].next), sent[r].messages[round]};
      });
    }
    if (!algorithm.as<ring>() && !algorithm.as<linear_ring>()) return std::nullopt;
    return in_rounds(p - 1, 0, m, [&](std::size_t r, std::size_t round) {
      std::size_t const to = (r + (C == collective::reduce_scatter ? round + 1 : 1)) % p;
      return move{to, counts_[C == collective::reduce_scatter ? to : (r + p - round) % p]};
    });
  }
  struct move {
    std::size_t to, elements;
  };
  template <class Sent>
  double in_rounds(std::size_t rounds, double start, machine const& m, Sent sent) const {
    std::vector<double> began(static_cast<std::size_t>(p_), start), done;
    for (std::size_t round = 0; round < rounds; ++round) {
      done = began;
      for (std::size_t r = 0; r < began.size(); ++r) {
        auto const [to, elements] = sent(r, round);
        if (elements == 0) continue;
        double const end = std::max(began[r], began[to]) + m.exchange(static_cast<double>(elements));
        done[r] = std::max(done[r], end), done[to] = std::max(done[to], end);
      }
      if (C == collective::reduce_scatter)
        for (std::size_t r = 0; r < began.size(); ++r) done[r] += m.combine(static_cast<double>(counts_[r]));
      began.swap(done);
    }
    return *std::ranges::max_element(began);
  }
  // What each rank sends in each round.
  struct sending final : any_step {
    int next = nobody;
    std::vector<std::size_t> messages{};

    sending(int rank, int size, detail::small_vector<operand>& memory) : any_step(rank, size, 1, memory) {}
    void exchange(range out, range, pair_of peers, pair_kind) override {
      next = peers.to;
      messages.push_back(out.size());
    }
    void list(std::span<operand const>, list_kind) override {}
    void move(operand const&) override {}
  };
  struct around { int next; std::vector<std::size_t> messages; };
  std::vector<around> sent_around(chosen_algorithm const& algorithm) const {
    detail::small_vector<operand> memory;
    std::vector<around> all;
    std::size_t rounds = 0;
    for (int r = 0; r < p_; ++r) {
      sending step(r, p_, memory);
      detail::policies_of<>(C)()[algorithm.index()]->run(algorithm.tag(), {}, step, vector_, 0);
      rounds = std::max(rounds, step.messages.size());
      all.push_back({step.next, std::move(step.messages)});
    }
    for (auto& one : all) one.messages.resize(rounds);
    return all;
  }
  template <class F>
  auto with_policy(chosen_algorithm const& algorithm, F f) const {
    return detail::with_tag(algorithm, [&]<class Tag>(Tag const& tag) -> std::optional<double> {
      if constexpr (offers<Tag, C, std::byte, detail::any_functor>)
        return f(make_policy<C, Tag, std::byte, detail::any_functor>(tag));
      return std::nullopt;
    });
  }
  std::optional<double> by_formula(chosen_algorithm const& algorithm, machine const& m) const {
    return with_policy(algorithm, [&](auto const& policy) -> std::optional<double> {
      if constexpr (requires { policy.cost(m, 1, std::size_t{1}); })
        return policy.cost(m, p_, vector_.whole.size()) + m.alone(work_of(policy, vector_, 1), 1);
      return std::nullopt;
    });
  }
  double own_work_of(chosen_algorithm const& algorithm, machine const& m) const {
    return with_policy(algorithm, [&](auto const& policy) {
      return std::optional(m.alone(work_of(policy, vector_, 1), 1));
    }).value_or(0);
  }
  // Of uneven blocks.
  std::optional<double> by_volume(chosen_algorithm const& algorithm, machine const& m) const {
    bool const combined = C == collective::reduce_scatter;
    if (auto const* const lists = algorithm.as<pipelined_circulant>(); lists && vector_.offsets)
      return detail::time_of_lists(m, vector_, 1, lists->block, typical.beta + (combined ? typical.gamma : 0),
                                   m.beta + (combined ? m.gamma : 0), combined ? 1 : 2);
    return std::nullopt;
  }

  int p_;
  std::vector<std::size_t> const& counts_;
  std::vector<std::size_t> offsets_;
  blocks vector_;
};

// Whether `automatic` is close enough to the best.
struct outcome {
  bool close = true;
  int unpriced = 0;   // that were not compared

  void operator+=(outcome const& other) { close = close && other.close, unpriced += other.unpriced; }
};
template <collective C>
outcome compare(question const& asked, bool commutes, distribution const& cut) {
  grid const& over = *asked.over;
  std::map<std::string, ratios> to_bound, to_best;
  outcome of_all;
  for (int const p : over.ranks) {
    if (p > asked.most_ranks) continue;
    auto const ranks = static_cast<std::size_t>(p);
    for (std::size_t const length : over.lengths) {
      std::size_t n = over.a_rank && has_blocks(C) ? ranks * length : length;
      if (!over.a_rank && has_blocks(C) && p > 8) n = n / 8 * ranks;   // no block is empty
      auto const counts = cut.cut(p, n);
      prices<C> const of(p, n, counts);
      std::vector<double> best(std::size(machines), INFINITY), taken(std::size(machines));
      std::vector<std::string> who(std::size(machines)), took(std::size(machines));
      for (std::size_t i = 0; i < std::size(machines); ++i) {
        auto const chosen =
            choose(C, {.vector = of.vector(), .element_size = 1, .commutes = commutes, .network = machines[i].costs});
        took[i] = std::string(name_of(chosen)), taken[i] = of.of(chosen, false)[i];
        if (asked.without.empty() && !std::isnan(taken[i])) best[i] = taken[i], who[i] = took[i];
      }
      for_each_algorithm([&]<class Tag>(Tag const& tag) {
        if constexpr (takes_part<Tag> && offers<Tag, C, std::byte, detail::any_functor>) {
          constexpr bool in_order = keeps_order<policy_t<C, Tag, std::byte, detail::any_functor>>();
          if (std::is_same_v<Tag, direct> && p > detail::few_for_direct) return;
          if (!(commutes || in_order) || asked.among(asked.without, Tag::name)) return;
          auto const all = of.of(tag, true, best);
          for (std::size_t i = 0; i < all.size(); ++i)
            if (all[i] < best[i]) best[i] = all[i], who[i] = Tag::name;
        }
      });
      for (std::size_t i = 0; i < std::size(machines); ++i) {
        machine const& costs = machines[i].costs;
        std::string const name = machines[i].name;
        auto const at =
            "p = " + std::to_string(p) + ", " + std::to_string(length) + " B: " + took[i] + ", best " + who[i];
        double const lower = bound(C, costs, of.vector());
        if (best[i] < lower * (1 - 1e-9)) {
          std::cerr << name_of(C) << cut.name << " on " << name << ", " << at << " costs " << best[i]
                    << ", less than its bound " << lower << '\n';
          of_all.close = false;
        }
        if (lower > 0 && best[i] > 0) to_bound[name].add(best[i] / lower, at);
        if (std::isnan(taken[i])) ++of_all.unpriced;
        else to_best[name].add(best[i] == 0 ? 1 : taken[i] / best[i], at);
        if (asked.csv)
          std::cout << name_of(C) << cut.name << ',' << commutes << ',' << name << ',' << p << ',' << n << ','
                    << took[i] << ',' << taken[i] << ',' << who[i] << ',' << best[i] << ',' << lower << '\n';
      }
    }
  }
  for (auto const& m : machines) {
    ratios const& of = to_best[m.name];
    of_all.close = of_all.close && (of.count == 0 || (of.mean() <= over.mean && of.worst <= over.worst));
    if (asked.csv) continue;
    auto const what = std::string(name_of(C)) + cut.name + (commutes ? "" : ", order kept") + " on " + m.name + ": ";
    std::cout << what << "best / bound " << to_bound[m.name] << "\n    automatic / best " << of << '\n';
  }
  return of_all;
}

bool sparse_is_close(question const& asked) {
  std::mt19937 random(asked.seed);
  auto const between = [&](double least, double most) {   // logarithms are even
    return static_cast<int>(least * std::pow(most / least, static_cast<double>(random()) / 4294967296.0));
  };
  constexpr std::array hosts{1, 8, 64};
  auto const cheapest = [](auto const& prices) {
    return static_cast<std::size_t>(std::ranges::min_element(prices) - prices.begin());
  };
  std::map<std::string, ratios> to_best;
  std::cout << "machine,p,ranks_of_host,messages,bytes,recorded,automatic,seconds,best,seconds_of_best\n";
  for (int i = 0; i < asked.sample; ++i) {
    int const p = between(2, asked.most_ranks + 1), of_host = hosts[random() % hosts.size()];
    int const messages = random() % 10 == 0 ? 0 : between(1, p), bytes = between(8, 65537);
    bench::sparse_case const one(p, of_host, messages, static_cast<std::size_t>(bytes), static_cast<unsigned>(i));
    for (auto const& m : machines) {
      auto const prices = one.is_few() ? one.recorded(m.costs) : one.by_formula(m.costs);
      std::size_t const took = cheapest(one.by_pattern(m.costs)), best = cheapest(prices);
      std::ostringstream row;
      row << p << ',' << of_host << ',' << messages << ',' << bytes << ',' << one.is_few() << ','
          << detail::sparse_ways[took] << ',' << prices[took] << ',' << detail::sparse_ways[best] << ','
          << prices[best];
      std::cout << m.name << ',' << row.str() << '\n';
      to_best[m.name].add(prices[took] / prices[best], row.str());
    }
  }
  bool is_close = true;
  for (auto const& [name, of] : to_best) {
    is_close = is_close && of.mean() <= 1.05 && of.worst <= 1.25;
    std::cerr << "sparse_all_to_all on " << name << ": automatic / best " << of << '\n';
  }
  return is_close;
}

}  // namespace

int main(int argc, char** argv) {
  question asked_for;
  for (int i = 1; i < argc; ++i) {
    std::string const word = argv[i];
    if (word == "--csv") {
      asked_for.csv = true;
    } else if (word == "--wide") {
      asked_for.over = &wide;
    } else if (word == "--ranks" && i + 1 < argc) {
      asked_for.most_ranks = std::atoi(argv[++i]);
    } else if (word == "--sample" && i + 1 < argc) {
      asked_for.sample = std::atoi(argv[++i]), asked_for.over = &wide, asked_for.csv = true;
    } else if (word == "--seed" && i + 1 < argc) {
      asked_for.seed = static_cast<unsigned>(std::atoi(argv[++i]));
    } else if (word == "--without" && i + 1 < argc) {
      std::istringstream names(argv[++i]);
      for (std::string name; std::getline(names, name, ',');) asked_for.without.push_back(name);
    } else {
      asked_for.collectives.push_back(word);
    }
  }
  if (asked_for.sample != 0 && asked_for.collectives == std::vector<std::string>{"sparse_all_to_all"})
    return sparse_is_close(asked_for) ? 0 : 1;
  if (asked_for.csv) std::cout << "collective,commutes,machine,p,bytes,automatic,seconds,best,seconds_of_best,bound\n";
  outcome of_all;
  std::vector<std::function<outcome(question const&)>> asked;
  auto const on_grid = [&]<collective C>(bool commutes, distribution const& cut = {}) {
    std::string const name(name_of(C));
    if (asked_for.collectives.empty() || asked_for.among(asked_for.collectives, name) ||
        asked_for.among(asked_for.collectives, name + cut.name))
      asked.push_back([=](question const& by) { return compare<C>(by, commutes, cut); });
  };
  std::vector<distribution> uneven;
  for (auto const& [name, counts] : distributions::all)
    if (asked_for.over == &wide || counts == &distributions::spike)
      uneven.push_back({std::string(" of ") + name, counts});
    else if (counts == &distributions::broadcast) uneven.push_back({" from one rank", counts});
  using enum collective;
  for (bool const commutes : {true, false}) {
    on_grid.operator()<all_reduce>(commutes);
    on_grid.operator()<reduce>(commutes);
    on_grid.operator()<reduce_scatter>(commutes);
    if (asked_for.over == &wide)
      for (auto const& cut : uneven) on_grid.operator()<reduce_scatter>(commutes, cut);
  }
  on_grid.operator()<broadcast>(true);
  on_grid.operator()<all_gather>(true);
  for (auto const& cut : uneven) on_grid.operator()<all_gatherv>(true, cut);
  on_grid.operator()<gather>(true);
  if (asked_for.over == &wide)
    for (auto const& cut : uneven) on_grid.operator()<gatherv>(true, cut);
  on_grid.operator()<scan>(true);
  on_grid.operator()<exclusive_scan>(true);
  on_grid.operator()<all_to_all>(true);
  if (asked.empty()) {
    std::cerr << "bounds: no collective is named so\n";
    return 2;
  }
  std::mt19937 random(asked_for.seed);
  auto const between = [&](double least, double most) {   // logarithms are even
    return least * std::pow(most / least, static_cast<double>(random()) / 4294967296.0);
  };
  if (asked_for.sample == 0)
    for (auto const& ask : asked) of_all += ask(asked_for);
  for (int i = 0; i < asked_for.sample; ++i) {
    grid const point{{static_cast<int>(between(8, asked_for.most_ranks + 1))},
                     {static_cast<std::size_t>(between(8, 1 << 20))}, true, wide.mean, wide.worst};
    question one = asked_for;
    one.over = &point;
    of_all += asked[random() % asked.size()](one);
  }
  if (of_all.unpriced != 0) std::cerr << of_all.unpriced << " choices have no price and were not compared\n";
  if (!of_all.close)
    std::cerr << "a price is below its bound, or automatic is further from the best than " << asked_for.over->mean
              << " in the mean or " << asked_for.over->worst << " at one point\n";
  return of_all.close ? 0 : 1;
}
