// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of choose.hpp: the rules.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "choose.hpp"
#include "shared_memory_table.hpp"
#include "uneven_blocks_body.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

// The quantities of a decision.
struct costs {
  situation const& its;
  machine const& m;
  int p;
  double bytes, startup_bytes;   // so many bytes take as long as a start-up
  bool in_memory;                // shared by many ranks

  explicit costs(situation const& s)
      : its(s), m(s.network), p(s.p()), bytes(static_cast<double>(s.bytes())), startup_bytes(m.alpha / m.beta),
        in_memory(s.on_many_cores()) {}

  /// A rank's own work.
  template <class Policy>
  double alone(Policy const& policy) const {
    return m.alone(work_of(policy, its.vector, its.element_size), static_cast<double>(its.element_size));
  }
  /// Start-ups of messages to several ranks overlap so much that it pays to send several at a time.
  bool overlaps() const { return m.f_further < 0.5; }
  /// The time of a pipeline of that depth, in the best blocks; `byte` is the cost of a byte.
  double pipelined(int depth, double per_byte) const {
    double const blocks = std::max(1.0, bytes / best_block(depth, per_byte));
    return (depth + blocks) * (m.alpha + bytes / blocks * per_byte);
  }
  /// A pipelined algorithm, with the best blocks on this network.
  template <class Tag>
  Tag in_best_blocks(int depth, double per_byte) const {
    return {.block = static_cast<std::size_t>(best_block(depth, per_byte))};
  }
  /// Over memory, each rank reads as many bytes from each other rank: a line of each has to come, two or three at a
  /// time.
  double reads_of_all(double bytes_of_each) const {
    double all = m.alpha + (p - 1) * 50e-9;
    if (!its.levels) return all + (p - 1) * bytes_of_each * m.beta;
    nest const& levels = *its.levels;
    for (int level = 0; level < levels.levels(); ++level)
      all += (levels.largest(level) - levels.largest(level - 1)) * bytes_of_each * m.at(levels.how_far(level)).beta;
    return all;
  }
  /// Over memory, all others read one rank's published data: the lines are handed out one after the other.
  double reads_of_one() const { return m.alpha + (p - 1) * (6e-9 + bytes * 0.054e-9); }
  double best_block(int depth, double per_byte) const {
    return std::max(1.0, depth < 1 ? bytes : std::sqrt(bytes * m.alpha / per_byte / depth));
  }
};

/// Memory of a host where each rank has a core: a round costs a line's way there and back. The numbers are a model's,
/// calibrated on published medians of other libraries; nobody has measured this library there.
constexpr machine memory_of(double latency, int ways) {
  double const read = 8e-9 + latency / 10;   // instructions, and ten lines are on their way
  machine its{2 * latency + read, std::max(0.04e-9, latency / 1280), 0.05e-9, 1, 1, read / (2 * latency + read)};
  its.ways = ways, its.fetched = true;
  return its;
}
/// Of which nobody knows which are near; what a rank copies is in its cache.
inline constexpr machine many_cores{0.25e-6, 0.2e-9, 0.05e-9, 1, 1, 1, {3e-9, 0.05e-9, 0.2e-9}};

/// Half of the ranks of a cache read from others at once at full rate; all ranks of a host share one way to the
/// network. Unless the network says otherwise start-ups between hosts overlap, because most of one is latency.
inline std::array<machine, distances> machines_by_distance(situation const& s) {
  machine between = s.network;
  between.ways = 1, between.levels = nullptr;
  if (between.f_further == 1) between.f_further = 1.0 / 6;
  int const cached = s.levels ? s.levels->largest(s.levels->level_within(distance::socket)) : 1;
  line_latencies const& of = s.latencies;
  return {memory_of(of.cache, 0), memory_of(of.socket, std::max(2, cached / 2)), memory_of(of.host, 72), between};
}

inline constexpr int few_for_direct = 64;   // more ranks should not all send to one at a time
/// Several messages at a time need an advantage, because long ones share links.
inline constexpr double sharing_links = 1.02;

// The rules of each collective are a template, so that units compile only those of the collectives that they call.

// The cheapest of the algorithms considered, by closed formulas; the first of equals.
template <collective C>
class cheapest {
 public:
  explicit cheapest(costs const& of) : of_(of) {}

  template <class Tag>
  cheapest& among(Tag const& tag, bool possible = true, double handicap = 1) {
    if (!possible) return *this;
    auto const bytes = static_cast<std::size_t>(of_.bytes);
    auto const policy = make_policy<C, Tag, std::byte, any_functor>(tag);
    Tag open = tag;   // filled in by the communicator
    if constexpr (requires { open.levels; }) open.levels = nullptr;
    if constexpr (requires { open.by_host; }) open.by_host = nullptr;
    return at(handicap * policy.cost(of_.m, of_.p, bytes) + of_.alone(policy), open);
  }
  // Out of line: bytes of a choice beyond the knobs are indeterminate, and g++ would warn of copying them.
  [[gnu::noinline]] cheapest& at(double price, any_algorithm const& its, bool possible = true) {
    if (possible && price < least_ * (1 - 1e-9)) least_ = price, take_ = its;
    return *this;
  }
  /// Halving and doubling, whole or after fewer halvings.
  cheapest& among_halvings(bool possible = true) {
    for (int h = 1; h < floor_lg(of_.p); ++h)
      among(halving_doubling{.halvings = static_cast<std::size_t>(h)}, possible);
    return among(halving_doubling{}, possible);
  }
  /// The circulant with its radices: above 2 if messages of one step overlap.
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
  operator any_algorithm() const { return take_; }
  costs const& of() const { return of_; }
  bool found() const { return least_ < std::numeric_limits<double>::infinity(); }
  double least() const { return least_; }   ///< seconds, of what has been considered

 private:
  costs const& of_;
  double least_ = std::numeric_limits<double>::infinity();
  any_algorithm take_;
};

// Between hosts: whole vectors in one round as long as the start-ups of a second round cost more than it saves.
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
  return of.its.vector.offsets && of.p * longest_block(of.its) - of.bytes >= 2 * of.startup_bytes;
}

// Algorithms that use levels, if these are known: leaders of hosts, or all ranks at once; whole vectors, or slices.
template <collective C>
cheapest<C> among_levels(costs const& of) {
  using enum collective;
  situation const& s = of.its;
  cheapest<C> all(of);
  auto const keeps_order = [&s](nest const& its) { return !combines(C) || s.commutes || its.consecutive(); };
  if constexpr (C == all_reduce || C == reduce || C == broadcast)
    if (s.hosts && keeps_order(*s.hosts)) {
      all.among(hierarchical<>{.by_host = s.hosts});
      if constexpr (C == all_reduce) {
        int const level = s.hosts->level_within(distance::network), hosts = s.hosts->parts(level, {0, of.p});
        all.among(hierarchical<binary_tree, direct>{.between = in_one_round(of.m.at(distance::network), hosts),
                                                    .by_host = s.hosts}, hosts <= few_for_direct);
        bool const for_each = s.vector.whole.size() >= static_cast<std::size_t>(s.hosts->largest(level));   // a slice
        all.among(multi_leader<>{.by_host = s.hosts}, for_each);
      }
    }
  if (!s.levels || !keeps_order(*s.levels)) return all;
  bool const possible = s.hosts || !has_blocks(C) || !is_uneven(of);   // formulas are of even blocks
  auto const add = [&]<class Tag>(Tag const& tag, bool also = true) {
    if constexpr (offers<Tag, C, std::byte, any_functor>) all.among(tag, possible && also);
  };
  add(direct_by_level{s.levels}, s.levels->pairs_off());
  add(leaders_by_level{s.levels});
  add(slices_by_level{s.levels});
  add(bundles_by_level{s.levels});
  add(scan_by_level{s.levels}, s.levels->consecutive());
  return all;
}

template <class Lazy = void>
any_algorithm choose_all_reduce(cheapest<collective::all_reduce> all) {
  costs const& of = all.of();
  situation const& s = of.its;
  bool const even = s.power_of_two();
  return all.among(recursive_doubling{})
      .among(grouped_doubling{})
      .among(grouped_doubling{.early = 1}, !even)
      .among(census{}, s.exact && !even)
      .among_halvings()
      .among_circulants(s.commutes && (!even || of.overlaps()))
      .among(chained_halving{}, !s.commutes && !even)
      .among(direct{}, ((!s.commutes && !even) || of.overlaps()) && of.p <= few_for_direct, sharing_links);
}

template <class Lazy = void>
any_algorithm choose_reduce(cheapest<collective::reduce> all) {
  costs const& of = all.of();
  double const per_byte = of.m.beta + of.m.gamma;
  auto const chain = of.in_best_blocks<pipelined_chain>(of.p - 2, per_byte);
  return all.among(binary_tree{})
      .among_knomials()
      .among(of.in_best_blocks<pipelined_circulant>(ceil_lg(of.p) - 1, per_byte), of.its.commutes)
      .among_circulants(of.its.commutes)
      .among(chained_halving{}, !of.its.commutes)
      .among(direct{}, !of.its.commutes && of.p <= few_for_direct, sharing_links)
      .at(of.pipelined(of.p - 2, per_byte), chain, !of.its.commutes);
}

template <class Lazy = void>
any_algorithm choose_broadcast(cheapest<collective::broadcast> all) {
  costs const& of = all.of();
  auto const blocks = of.in_best_blocks<pipelined_circulant>(ceil_lg(of.p) - 1, of.m.beta);
  return all.among(binary_tree{})
      .among_knomials()
      .among(blocks)
      .at(of.reads_of_one(), direct{}, of.in_memory);
}

// None of them moves anything twice. The ring, if it takes at most a fiftieth longer, sends only to neighbours.
template <class Lazy = void>
any_algorithm choose_all_gather(cheapest<collective::all_gather> all) {
  costs const& of = all.of();
  return all.among(ring{}, of.bytes / of.p >= 256 * 1024, 1 / 1.02)
      .among(recursive_doubling{}, of.its.power_of_two() && !of.overlaps())
      .among_circulants()
      .among_exchanges();
}

// In whole blocks, or in segments if rounds would wait for long blocks longer than it takes to make lists of segments.
// Short vectors never do.
template <collective C>
cheapest<C>& among_segments(cheapest<C>& all, double per_byte) {
  costs const& of = all.of();
  situation const& s = of.its;
  circulant_volume const volume(s.vector, s.element_size);
  all.at(volume.time(of.m.alpha, per_byte, 1), circulant{});
  if (are_not_cut(s.vector, s.element_size, of.m.alpha, per_byte)) return all;
  double const pieces = volume.best_segment_count(of.m.alpha, per_byte);
  if (pieces <= 1) return all;
  pipelined_circulant const cut{.block = static_cast<std::size_t>(std::ceil(longest_block(s) / pieces))};
  return all.at(volume.time(of.m.alpha, per_byte, pieces) +
                    of.alone(make_policy<C, pipelined_circulant, std::byte, any_functor>(cut)), cut);
}

template <class Lazy = void>
any_algorithm choose_all_gatherv(cheapest<collective::all_gatherv> all) {
  costs const& of = all.of();
  situation const& s = of.its;
  if (!is_uneven(of)) return all.among_circulants().among_exchanges();
  uneven_blocks<> const its{s.vector, static_cast<double>(s.element_size), of.m};
  among_segments(all, of.m.beta).at(its.halvings(), recursive_doubling{}, s.power_of_two());
  // Segments go round a ring if saving copies is worth the time to fill it.
  if (of.p * of.m.alpha > all.least()) return all;
  pipelined_ring const ring{.block = static_cast<std::size_t>(best_block(s.vector, s.element_size, of.m))};
  return all.at(its.ring_of_segments(static_cast<double>(ring.block)) + of.alone(
                    make_policy<collective::all_gatherv, pipelined_ring, std::byte, any_functor>(ring)), ring);
}

template <collective C>
any_algorithm choose_uneven_reduce_scatter(cheapest<C> all) {
  costs const& of = all.of();
  situation const& s = of.its;
  uneven_blocks<> const its{s.vector, static_cast<double>(s.element_size), of.m, of.m.gamma};
  if (s.commutes) {
    among_segments(all, of.m.beta + of.m.gamma).at(its.halvings(), recursive_halving{}, s.power_of_two());
  } else {
    all.at(its.halving_and_swap(), halving_doubling{}).at(its.chained(), chained_halving{});
    all.at(sharing_links * its.exchanges(), direct{}, of.p <= few_for_direct);
  }
  double const copies = of.alone(sorted_halving::reduce_scatter<std::byte, any_functor>{});
  if (copies < all.least()) all.at(copies + its.sorted(), sorted_halving{});
  return all;
}

template <collective C>
any_algorithm choose_reduce_scatter(cheapest<C> all) {
  costs const& of = all.of();
  bool const commutes = of.its.commutes;
  if (commutes ? is_uneven(of) : of.its.vector.offsets && of.p * longest_block(of.its) > 1.2 * of.bytes)
    return choose_uneven_reduce_scatter(all);
  return all.among(recursive_halving{}, commutes && of.its.power_of_two() && !of.overlaps())
      .among_circulants(commutes)
      .among(chained_halving{}, !commutes)
      .among(sorted_halving{}, !commutes)
      .among(direct{}, !commutes && of.p <= few_for_direct);
}

// A tree takes the longest block through lg p ranks, which matters if it has most of the data.
template <collective C>
any_algorithm choose_gather(cheapest<C> all) {
  costs const& of = all.of();
  situation const& s = of.its;
  if (of.in_memory) return all.at(of.reads_of_all(of.bytes / of.p), linear{});   // every block is sent once
  bool const to_one = C == collective::gather || C == collective::gatherv;
  if (of.overlaps())
    return all.among(binary_tree{}).among(linear{}, !to_one || of.p <= few_for_direct);
  if (!s.vector.offsets) return binary_tree{};
  uneven_blocks<> const its{s.vector, static_cast<double>(s.element_size), of.m};
  double const tree = its.tree_at_most(), start_up = of.m.alpha_uni();
  auto const from = [&](double messages) { return (messages - 1) * start_up; };   // at least, to the root alone
  if (tree <= 1.05 * ceil_lg(of.p) * start_up || tree <= from(of.bytes / std::max(1.0, longest_block(s))) ||
      tree <= from(static_cast<double>(s.vector.count_longer(0))))
    return binary_tree{};
  return its.star(s.root) < its.tree(s.root) ? any_algorithm{linear{}} : binary_tree{};
}

// Blocks go straight to their ranks, or together with others in fewer messages.
template <class Lazy = void>
any_algorithm choose_all_to_all(cheapest<collective::all_to_all> all) {
  costs const& of = all.of();
  auto const root = static_cast<std::size_t>(std::ceil(std::sqrt(of.p)));
  return all.among(pairwise{})
      .among(pairwise{.window = few_for_direct}, of.overlaps(), sharing_links)
      .among(bruck{})
      .among(bruck{.radix = 4})
      .at(of.reads_of_all(of.bytes / of.p), direct{}, of.in_memory)
      .among(bruck{.radix = root});
}

template <collective C, class Doubling>
any_algorithm choose_scan(cheapest<C> all, Doubling const& doubling) {
  costs const& of = all.of();
  double const per_byte = of.m.beta + of.m.gamma;
  return all.among(doubling)
      .among(recursive_doubling{})
      .among(halving_scan{}, true, of.its.power_of_two() ? 1 : 0.9)   // a bound
      .at(of.pipelined(of.p - 2, per_byte), of.in_best_blocks<pipelined_chain>(of.p - 2, per_byte));
}

// One grouping of an element's operands for all lengths, places in the vector, roots, hosts and transports: spare ranks
// with their neighbours, then neighbours, pairs of them and so on. all_reduce, reduce and reduce_scatter use the same.
template <collective C>
any_algorithm choose_stable(situation const& s) {
  using enum collective;
  costs const of(s);
  if constexpr (C == all_reduce) return cheapest<C>(of).among(recursive_doubling{}).among_halvings();
  else if constexpr (C == reduce)
    return cheapest<C>(of).among(binary_tree{}, s.power_of_two()).among(halving_doubling{});
  else if constexpr (C == scan) return recursive_doubling{};
  else if constexpr (C == exclusive_scan) return doubling_123{};
  else return halving_doubling{};
}

template <collective C>
any_algorithm choose_by_formula(cheapest<C> const& all) {
  using enum collective;
  if constexpr (C == all_reduce) return choose_all_reduce(all);
  else if constexpr (C == reduce) return choose_reduce(all);
  else if constexpr (C == broadcast) return choose_broadcast(all);
  else if constexpr (C == all_gather) return choose_all_gather(all);
  else if constexpr (C == all_gatherv) return choose_all_gatherv(all);
  else if constexpr (C == reduce_scatter || C == reduce_scatter_block) return choose_reduce_scatter(all);
  else if constexpr (C == scan) return choose_scan(all, recursive_doubling{});
  else if constexpr (C == exclusive_scan) return choose_scan(all, doubling_123{});
  else if constexpr (C == all_to_all) return choose_all_to_all(all);
  else if constexpr (C == all_to_all_v) return all.of().in_memory ? any_algorithm{direct{}} : pairwise{};
  else if constexpr (C == barrier) return cheapest<C>(all).among(dissemination{});
  else return choose_gather(all);
}

template <collective C>
chosen_algorithm choose_for(situation const& s) {
  using enum collective;
  if constexpr (combines(C))
    if (s.stable && !s.exact) return choose_stable<C>(s);
  if (!s.hosts && !s.on_many_cores()) {
    if (s.shared) return choose_shared(C, s.p(), s.bytes());
    costs const of(s);
    return choose_by_formula(cheapest<C>(of));
  }
  auto const by_distance = machines_by_distance(s);
  situation far_apart = s;
  if (!s.hosts) far_apart.network = many_cores, far_apart.network.alpha = s.latencies.host;
  else if (C == all_to_all)
    far_apart.network = by_distance.back().shared_by(s.hosts->largest(s.hosts->level_within(distance::network)));
  far_apart.network.levels = by_distance.data();
  costs const of(far_apart);
  auto const all = among_levels<C>(of);
  // Formulas of other algorithms do not know which of their messages share a link: those of all_to_all all do, in scans
  // and barriers few do.
  constexpr bool is_priced = C == all_to_all || C == scan || C == exclusive_scan || C == barrier;
  if (all.found() && (s.hosts ? !is_priced : C == all_reduce && s.levels->all_lead())) return all;
  return choose_by_formula(all);
}

}  // namespace detail

template <class Lazy>
chosen_algorithm choose(collective what, situation const& s) {
  return detail::for_collective(what, [&]<collective C>() { return detail::choose_for<C>(s); });
}

}  // namespace colligo
