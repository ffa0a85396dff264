// SPDX-License-Identifier: BSL-1.0
/// @file
/// Prices for the rules: the cheapest of several algorithms, and of those that use levels.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "../topology/memory_prices.hpp"
#include "choose.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

inline double best_block_of(double bytes, int depth, double alpha, double per_byte) {
  return std::max(1.0, depth < 1 ? bytes : std::sqrt(bytes * alpha / per_byte / depth));
}

// The quantities of a decision.
struct costs {
  situation const& given;
  machine const& m;
  int p;
  double bytes, startup_bytes;   // of the vector; that take as long to send as a start-up
  bool in_memory;                // many ranks share memory

  explicit costs(situation const& s)
      : given(s), m(s.network), p(s.p()), bytes(static_cast<double>(s.bytes())), startup_bytes(m.alpha / m.beta),
        in_memory(s.on_many_cores()) {}

  /// The time of a rank's own work.
  template <class Policy>
  double alone(Policy const& policy) const {
    return m.alone(work_of(policy, given.vector, given.element_size), static_cast<double>(given.element_size));
  }
  /// Start-ups of messages to several ranks overlap so much that it pays to send several at a time.
  bool overlaps() const { return m.f_further < 0.5; }
  /// The time of a pipeline with the best blocks; a byte costs `per_byte` seconds on each rank.
  double pipelined(int depth, double per_byte) const {
    double const blocks = std::max(1.0, bytes / best_block(depth, per_byte));
    return (depth + blocks) * (m.alpha + bytes / blocks * per_byte);
  }
  /// A pipelined algorithm, with the best blocks on this network.
  template <class Tag>
  Tag in_best_blocks(int depth, double per_byte) const {
    return {.block = static_cast<std::size_t>(best_block(depth, per_byte))};
  }
  /// Over shared memory, each rank reads `bytes_of_each` bytes from every other rank: a cache line of each rank has to
  /// arrive, and two or three arrive at a time.
  double reads_of_all(double bytes_of_each) const {
    double all = m.alpha + (p - 1) * fitted::line_of_further_rank;
    if (!given.levels) return all + (p - 1) * bytes_of_each * m.beta;
    hierarchy const& levels = *given.levels;
    for (int level = 0; level < levels.levels(); ++level)
      all += (levels.largest(level) - levels.largest(level - 1)) * bytes_of_each * m.at(levels.how_far(level)).beta;
    return all;
  }
  /// Over shared memory, all other ranks read the vector of one rank: readers get a cache line one after the other.
  double reads_of_one() const {
    return m.alpha + (p - 1) * (fitted::further_reader + bytes * fitted::byte_of_further_reader);
  }
  double best_block(int depth, double per_byte) const { return best_block_of(bytes, depth, m.alpha, per_byte); }
};

/// All ranks of a host share one link to the network. Start-ups between hosts overlap, unless the network says
/// otherwise, because most of one is latency.
inline std::array<machine, distances> machines_by_distance(situation const& s) {
  machine between = s.network;
  between.ways = 1, between.levels = nullptr;
  if (between.f_further == 1) between.f_further = fitted::further_on_network;
  int cached = 1, sockets = 1;
  if (s.levels) {
    int const on_socket = s.levels->level_within(distance::host), on_host = s.levels->level_within(distance::network);
    cached = s.levels->largest(s.levels->level_within(distance::socket));
    if (on_host > on_socket) sockets = s.levels->fewest_and_most(on_host, on_socket).second;
  }
  auto const [cache, socket, host] = memory_by_distance(s.latencies, cached, sockets);
  return {cache, socket, host, between};
}

/// The network while all ranks of a host send over the host's one link.
inline machine sharing_its_link(situation const& s, machine const& between) {
  return between.shared_by(s.hosts->largest(s.hosts->level_within(distance::network)));
}

/// The handicap of algorithms that send several messages at a time, because long ones share links.
inline constexpr double sharing_links = 1.02;

// The cheapest of the algorithms considered, by closed formulas times a handicap; the first of equals.
template <collective C>
class cheapest {
 public:
  explicit cheapest(costs const& of) : of_(of) {}

  template <class Tag>
  cheapest& among(Tag const& tag, bool possible = true, double handicap = 1) {
    return among_on(of_.m, tag, possible, handicap);
  }
  template <class Tag>
  cheapest& among_on(machine const& m, Tag const& tag, bool possible = true, double handicap = 1) {
    if (!possible) return *this;
    auto const bytes = static_cast<std::size_t>(of_.bytes);
    auto const policy = make_policy<C, Tag, std::byte, any_functor>(tag);
    Tag open = tag;   // without what the communicator fills in
    if constexpr (requires { open.levels; }) open.levels = nullptr;
    if constexpr (requires { open.by_host; }) open.by_host = nullptr;
    return at(handicap * policy.cost(m, of_.p, bytes) + of_.alone(policy), open);
  }
  // Considers an algorithm of that price. Out of line: bytes of a choice beyond the knobs are indeterminate, and g++
  // would warn of copying them.
  [[gnu::noinline]] cheapest& at(double price, choice const& chosen, bool possible = true) {
    if (possible && price < least_ * (1 - 1e-9)) least_ = price, take_ = chosen;
    return *this;
  }
  /// Halving and doubling, whole or after fewer halvings.
  cheapest& among_halvings() {
    for (int h = 1; h < floor_lg(of_.p); ++h) among(halving_doubling{.halvings = static_cast<std::size_t>(h)});
    return among(halving_doubling{});
  }
  /// The circulant: with radices above 2 if start-ups of one step overlap.
  cheapest& among_circulants(bool possible = true) {
    among(circulant{}, possible);
    for (std::size_t const radix : {3u, 4u, 8u, 16u})
      among(circulant{.radix = radix}, possible && of_.overlaps(), sharing_links);
    return *this;
  }
  /// Every rank sends its block to every rank, for collectives that combine nothing.
  cheapest& among_exchanges() {
    double const others = of_.bytes - of_.bytes / of_.p;
    return at(sharing_links * (of_.m.startups(of_.p - 1) + others * of_.m.beta), direct{},
              of_.overlaps() && of_.p <= few_for_direct);
  }
  /// K-nomial trees, up to the flat one, if messages of one step overlap.
  cheapest& among_knomials() {
    if (!of_.overlaps()) return *this;
    for (std::size_t const radix : {3u, 4u, 8u, 16u}) among(knomial_tree{radix});
    return among(knomial_tree{static_cast<std::size_t>(of_.p)}, of_.p <= few_for_direct);
  }
  /// hillis_steele in one round, in two and so on. Between hosts all ranks of a host send to other hosts at once.
  cheapest& among_radices(bool possible) {
    if (!possible) return *this;
    situation const& s = of_.given;
    machine const at = s.hosts ? sharing_its_link(s, of_.m.at(distance::network)) : of_.m;
    for (int rounds = 1;; ++rounds) {
      auto const radix = static_cast<std::size_t>(std::ceil(std::pow(of_.p, 1. / rounds) - 1e-9));
      if (radix <= 2) return *this;
      among_on(at, hillis_steele{radix}, radix <= few_for_direct, sharing_links);
    }
  }
  operator choice() const { return take_; }
  costs const& of() const { return of_; }
  bool found() const { return least_ < beyond_all; }
  double least() const { return least_; }   ///< seconds, of what has been considered

 private:
  costs const& of_;
  double least_ = beyond_all;
  choice take_;
};

// Between hosts: whole vectors in one round, up to the size where a second round saves more than its start-ups cost.
inline direct in_one_round(machine const& m, int hosts) {
  double const others = hosts - 1, part = 1.0 / hosts;
  double const saved = others * ((1 - 2 * part) * m.beta + (1 - part) * m.gamma);   // seconds per byte of the vector
  return {.slices = static_cast<std::size_t>(std::min(m.startups(hosts - 1) / saved, 1e18))};
}

inline double longest_block(situation const& s) {
  return static_cast<double>(s.vector.longest() * s.element_size);
}
// Whether it matters that blocks have different lengths.
inline bool is_uneven(costs const& of) {
  return of.given.vector.offsets && of.p * longest_block(of.given) - of.bytes >= 2 * of.startup_bytes;
}

/// How many times as long a leader's bytes take: one rank alone does not fill its host's link to the network.
inline constexpr double alone_on_the_link = 1.4;

// The cheapest algorithm that uses levels, if these are known: by leaders of hosts or by all ranks at once, in whole
// vectors or in slices.
template <collective C>
cheapest<C> among_levels(costs const& of) {
  using enum collective;
  situation const& s = of.given;
  cheapest<C> all(of);
  std::array<machine, distances> of_leader;
  std::copy_n(of.m.levels, of_leader.size(), of_leader.begin());
  of_leader.back().beta *= alone_on_the_link;
  if (s.levels)   // all ranks of each host may be nearer to each other than distance::host
    of_leader[static_cast<std::size_t>(distance::host)] =
        of.m.at(s.levels->how_far(s.levels->level_within(distance::network)));
  machine leader = of.m;
  leader.levels = of_leader.data();
  auto const keeps_order = [&s](hierarchy const& groups) { return !combines(C) || s.commutes || groups.consecutive(); };
  if constexpr (C == all_reduce || C == reduce || C == broadcast)
    if (s.hosts && keeps_order(*s.hosts)) {
      all.among_on(leader, hierarchical<>{.by_host = s.hosts});
      if constexpr (C == all_reduce) {
        int const level = s.hosts->level_within(distance::network), hosts = s.hosts->parts(level, {0, of.p});
        direct const between = in_one_round(of.m.at(distance::network), hosts);
        all.among_on(leader, hierarchical<binary_tree, direct>{.between = between, .by_host = s.hosts},
                     hosts <= few_for_direct);
      }
    }
  if constexpr (C == gather || C == gatherv || C == scatter || C == scatterv)
    // linear: all blocks go straight over the one link of the root's host. A block starts while the one before it
    // travels, if travelling takes as long as starting.
    if (s.hosts) {
      int const others = of.p - s.hosts->smallest(s.hosts->level_within(distance::network));
      machine const& at = leader.at(distance::network);
      double const travels = of.bytes / of.p * at.beta_uni();
      bool const hides = travels >= at.f_alpha * at.alpha_further();
      all.at(hides ? at.alpha_uni() + others * travels : one_way_messages(at, others, of.bytes / of.p), linear{},
             others <= few_for_direct || C == scatter || C == scatterv);
    }
  if (!s.levels || !keeps_order(*s.levels)) return all;
  bool const possible = s.hosts || !has_blocks(C) || !is_uneven(of);   // the formulas are for even blocks
  auto const add = [&]<class Tag>(Tag const& tag, bool also = true) {
    bool const leads = std::is_same_v<Tag, leaders_by_level>;
    if constexpr (offers<Tag, C, std::byte, any_functor>) all.among_on(leads ? leader : of.m, tag, possible && also);
  };
  add(direct_by_level{s.levels}, s.levels->pairs_off() || C == barrier);
  int const outermost = s.levels->levels() - 1, hosts = s.levels->named_before(outermost);
  bool const few = s.hosts && s.levels->parts(hosts, {0, of.p}) <= few_for_direct;
  add(leaders_by_level{s.levels}, C != barrier || few);
  if constexpr (C == reduce || C == broadcast)
    if (s.hosts) {
      add(leaders_by_level{s.levels, 1}, few);
      machine const at = on_level(of.m, *s.levels, outermost);
      double const block = best_block_of(of.bytes / s.levels->smallest(hosts),
                                         ceil_lg(s.levels->parts(hosts, {0, of.p})) - 1, at.alpha,
                                         at.beta + (combines(C) ? at.gamma : 0));
      add(pipelines_by_level{s.levels, static_cast<std::size_t>(block)}, C == broadcast || s.commutes);
    }
  add(slices_by_level{s.levels});
  add(bundles_by_level{s.levels});
  add(scan_by_level{s.levels}, s.levels->consecutive());
  return all;
}

}  // namespace colligo
