// SPDX-License-Identifier: BSL-1.0
// What sparse_all_to_all takes by the rounded numbers that its ranks know, over the best of the four ways by the exact
// ones: by recorded schedules of the calls and letters that each way makes where these are few, else by formula.
#pragma once

#include <colligo/exchange/sparse_prices.hpp>
#include <colligo/record.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Ranks in order on hosts of `most`, each with `messages` messages of `bytes` bytes, and as many for it.
class sparse_case {
 public:
  static constexpr std::size_t ways = colligo::detail::sparse_ways.size();
  using seconds = std::array<double, ways>;

  sparse_case(int p, int most, int messages, std::size_t bytes, unsigned seed)
      : p_(p), most_(most), messages_(messages), bytes_(bytes),
        by_host_(colligo::hierarchy::of_hosts(hosts_of(p, most))) {
    std::mt19937 random(seed);
    std::vector<int> around(static_cast<std::size_t>(p)), apart(around.size() - 1);
    std::iota(around.begin(), around.end(), 0), std::iota(apart.begin(), apart.end(), 1);
    std::shuffle(around.begin(), around.end(), random), std::shuffle(apart.begin(), apart.end(), random);
    for (int k = 0; is_few() && k < messages; ++k)
      for (int i = 0; i < p; ++i)
        targets_.push_back({around[static_cast<std::size_t>(i)],
                            around[static_cast<std::size_t>((i + apart[static_cast<std::size_t>(k)]) % p)]});
  }

  bool is_few() const { return p_ <= 64 && p_ * messages_ <= 512; }

  seconds by_formula(colligo::machine const& network) const {
    return prices(network, messages_, static_cast<double>(bytes_));
  }
  /// By what the ranks know.
  seconds by_pattern(colligo::machine const& network) const {
    using colligo::detail::exchange_pattern;
    auto const rounded = [](std::size_t n) { return exchange_pattern::at_most(exchange_pattern::code(n)); };
    return prices(network, rounded(static_cast<std::size_t>(messages_)), rounded(bytes_));
  }
  /// Of recorded schedules, but for what consensus waits for, and the second half of a dense exchange.
  seconds recorded(colligo::machine const& network) const {
    using enum colligo::collective;
    colligo::situation const s = situation_on(network);
    auto machines = colligo::detail::machines_by_distance(s);
    colligo::machine m = network;
    for (auto* const of : {&m, &machines[static_cast<std::size_t>(colligo::distance::host)], &machines.back()})
      of->f_further = std::max(of->f_further, std::min(1.0, colligo::detail::of_letter / of->alpha));
    m.levels = s.hosts ? machines.data() : nullptr;
    graph direct;
    for (auto const& ends : targets_) direct[ends] += bytes_;
    double const straight = of_graph(m, direct);
    seconds all = by_formula(network);
    colligo::situation words = s;
    all[1] += straight - (all[0] - colligo::detail::price_by_formulas<reduce_scatter_block>(words));
    words.element_size = 16;
    all[0] = of_choice(network, reduce_scatter_block, 8) + straight;
    all[2] += of_choice(network, all_to_all, 16) - colligo::detail::price_by_formulas<all_to_all>(words);
    all[3] = 0;
    for (graph const& stage : stages()) all[3] += of_graph(m, stage);
    all[3] += all_copies(network);
    return all;
  }

 private:
  using graph = std::map<std::pair<int, int>, std::size_t>;

  static std::vector<int> hosts_of(int p, int most) {
    std::vector<int> hosts(static_cast<std::size_t>(p));
    for (int r = 0; r < p; ++r) hosts[static_cast<std::size_t>(r)] = r / most;
    return hosts;
  }
  bool is_apart() const { return most_ > 1 && p_ > most_; }
  colligo::situation situation_on(colligo::machine const& network) const {
    colligo::situation s{.vector = {{0, static_cast<std::size_t>(p_)}, p_}, .element_size = 8, .network = network};
    if (is_apart()) s.hosts = s.levels = &by_host_;
    return s;
  }
  seconds prices(colligo::machine const& network, double messages, double bytes) const {
    return colligo::detail::prices_of_ways(situation_on(network), messages, bytes, true);
  }
  double of_choice(colligo::machine const& network, colligo::collective what, std::size_t block) const {
    colligo::situation s = situation_on(network);
    s.element_size = block;
    auto const machines = colligo::detail::machines_by_distance(s);
    colligo::machine m = network;
    m.levels = s.hosts ? machines.data() : nullptr;
    auto const chosen = colligo::detail::with_tag(
        colligo::choose(what, s), [&]<class Tag>(Tag tag) -> colligo::chosen_algorithm {
          if constexpr (requires { tag.levels = s.levels; }) tag.levels = s.levels;
          if constexpr (requires { tag.by_host = s.hosts; }) tag.by_host = s.hosts;
          return tag;
        });
    return of_schedule(m, colligo::record(chosen, what, p_, static_cast<std::size_t>(p_)), static_cast<double>(block));
  }
  double of_schedule(colligo::machine const& m, colligo::schedule const& s, double bytes) const {
    return m.levels ? colligo::price(s, m, bytes, by_host_) : colligo::price(s, m, bytes);
  }
  double of_graph(colligo::machine const& m, graph const& letters) const {
    std::vector<colligo::graph_edge> edges;
    for (auto const& [ends, bytes] : letters) edges.push_back({ends.first, ends.second, bytes});
    std::span<colligo::graph_edge const> const all(edges);
    return of_schedule(m, colligo::record(colligo::along_edges{.window = std::size_t(p_)}, p_, all), 1);
  }
  // As exchange_by_host sends them.
  std::array<graph, 3> stages() const {
    std::array<graph, 3> all;
    int const hosts = (p_ + most_ - 1) / most_;
    auto const members = [&](int host) { return std::min(most_, p_ - host * most_); };
    auto const leader = [&](int host, int other) { return host * most_ + (host + other) % hosts % members(host); };
    auto const head = static_cast<std::size_t>(colligo::detail::letter_head);
    std::size_t const length = bytes_ + static_cast<std::size_t>(colligo::detail::message_heading);
    for (int r = 0; r < p_; ++r) {
      int const here = r / most_;
      for (int mate = here * most_; mate < here * most_ + members(here); ++mate)
        if (mate != r) all[0][{r, mate}] = head, all[2][{r, mate}] = hosts > 1 ? head : 0;
      for (int other = 0; other < hosts; ++other)
        if (other != here && leader(here, other) == r) all[1][{r, leader(other, here)}] = head;
    }
    for (auto const& [r, to] : targets_) {
      int const here = r / most_, there = to / most_;
      int const out = here == there ? to : leader(here, there), in = here == there ? to : leader(there, here);
      if (out != r) all[0][{r, out}] += length;
      if (out != in) all[1][{out, in}] += length;
      if (in != to) all[2][{in, to}] += length;
    }
    return all;
  }
  double all_copies(colligo::machine const& network) const {
    double const length = static_cast<double>(bytes_) + colligo::detail::message_heading;
    return 2 * (is_apart() ? 3 : 1) * messages_ * (network.own.move + length * network.own.copied);
  }

  int p_, most_, messages_;
  std::size_t bytes_;
  colligo::hierarchy by_host_;
  std::vector<std::pair<int, int>> targets_;
};

}  // namespace bench
