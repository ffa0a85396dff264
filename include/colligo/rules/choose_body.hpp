// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of choose.hpp: the rules.
#pragma once

#include <algorithm>
#include <cmath>

#include "cheapest_body.hpp"
#include "shared_memory_table.hpp"
#include "uneven_blocks_body.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

// The rules: an overload for each collective. They are templates, so that units compile only those of the collectives
// that they call.

template <collective C> requires(C == collective::all_reduce)
choice choose_by_formula(cheapest<C> all) {
  costs const& of = all.of();
  situation const& s = of.given;
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

template <collective C> requires(C == collective::reduce)
choice choose_by_formula(cheapest<C> all) {
  costs const& of = all.of();
  double const per_byte = of.m.beta + of.m.gamma;
  auto const chain = of.in_best_blocks<pipelined_chain>(of.p - 2, per_byte);
  return all.among(binary_tree{})
      .among_knomials()
      .among(of.in_best_blocks<pipelined_circulant>(ceil_lg(of.p) - 1, per_byte), of.given.commutes)
      .among_circulants(of.given.commutes)
      .among(chained_halving{}, !of.given.commutes)
      .among(halving_doubling{}, !of.given.commutes)
      .among(binary_blocks{}, !of.given.commutes)
      .among(direct{}, !of.given.commutes && of.p <= few_for_direct, sharing_links)
      .at(of.pipelined(of.p - 2, per_byte), chain, !of.given.commutes);
}

template <collective C> requires(C == collective::broadcast)
choice choose_by_formula(cheapest<C> all) {
  costs const& of = all.of();
  auto const blocks = of.in_best_blocks<pipelined_circulant>(ceil_lg(of.p) - 1, of.m.beta);
  return all.among(binary_tree{})
      .among_knomials()
      .among(blocks)
      .at(of.reads_of_one(), direct{}, of.in_memory);
}

// All of them send each block to each rank once. The ring is preferred if it takes at most a fiftieth longer: it sends
// only to neighbours.
template <collective C> requires(C == collective::all_gather)
choice choose_by_formula(cheapest<C> all) {
  costs const& of = all.of();
  return all.among(ring{}, of.bytes / of.p >= 256 * 1024, 1 / 1.02)
      .among(recursive_doubling{}, of.given.power_of_two() && !of.overlaps())
      .among_circulants()
      .among_exchanges();
}

// The circulant in whole blocks; or in segments, if waiting for long blocks takes longer than making lists of segments.
// Short vectors are never cut.
template <collective C>
cheapest<C>& among_segments(cheapest<C>& all, double per_byte) {
  costs const& of = all.of();
  situation const& s = of.given;
  circulant_volume const volume(s.vector, s.element_size);
  all.at(volume.time(of.m.alpha, per_byte, 1), circulant{});
  if (are_not_cut(s.vector, s.element_size, of.m.alpha, per_byte)) return all;
  bool const from_one = from_one_rank(s.vector);
  int const copies = combines(C) ? 1 : 2;
  double const copied = from_one ? 0 : copies * of.m.own.copied;
  double const pieces = volume.best_segment_count(of.m.alpha, per_byte + copied);
  if (pieces <= 1) return all;
  // Looks at all blocks only if it may win.
  pipelined_circulant const cut{.block = static_cast<std::size_t>(std::ceil(longest_block(s) / pieces))};
  double const typically = typical.beta + (combines(C) ? typical.gamma : 0);
  double const steps = (from_one ? 2 : 4) * of.p +
                       least_steps_for_cut(s.vector, cut_for_lists(s.vector, s.element_size, cut.block, typically));
  double const sent = volume.time(of.m.alpha, per_byte, pieces) + (of.bytes - longest_block(s)) * copied;
  if (sent + steps * of.m.own.step >= all.least()) return all;
  return all.at(time_of_lists(of.m, s.vector, s.element_size, cut.block, typically, per_byte, copies), cut);
}

template <collective C> requires(C == collective::all_gatherv)
choice choose_by_formula(cheapest<C> all) {
  costs const& of = all.of();
  situation const& s = of.given;
  if (!is_uneven(of)) return all.among_circulants().among_exchanges();
  uneven_blocks<> const uneven{s.vector, static_cast<double>(s.element_size), of.m};
  among_segments(all, of.m.beta).at(uneven.halvings(), recursive_doubling{}, s.power_of_two());
  // The ring of segments saves the circulant's copies, but takes the time to fill the ring.
  if (of.p * of.m.alpha > all.least()) return all;
  pipelined_ring const ring{.block = static_cast<std::size_t>(best_block(s.vector, s.element_size, of.m))};
  return all.at(uneven.ring_of_segments(static_cast<double>(ring.block)) + of.alone(
                       make_policy<collective::all_gatherv, pipelined_ring, std::byte, any_functor>(ring)), ring);
}

template <collective C>
cheapest<C> choose_uneven_reduce_scatter(cheapest<C> all) {
  costs const& of = all.of();
  situation const& s = of.given;
  uneven_blocks<> const uneven{s.vector, static_cast<double>(s.element_size), of.m, of.m.gamma};
  if (s.commutes) {
    among_segments(all, of.m.beta + of.m.gamma).at(uneven.halvings(), recursive_halving{}, s.power_of_two());
  } else {
    all.at(uneven.halving_and_swap(), halving_doubling{}).at(uneven.chained(), chained_halving{});
    all.at(sharing_links * uneven.exchanges(), direct{}, of.p <= few_for_direct);
  }
  own_work const copies = sorted_halving::reduce_scatter<std::byte, any_functor>::work(s.vector, s.element_size);
  if (uneven.sorted_may_take(copies, all.least())) all.at(uneven.sorted(copies), sorted_halving{});
  return all;
}

template <collective C> requires(C == collective::reduce_scatter || C == collective::reduce_scatter_block)
cheapest<C> choose_by_formula(cheapest<C> all) {
  costs const& of = all.of();
  bool const commutes = of.given.commutes;
  if (commutes ? is_uneven(of) : of.given.vector.offsets && of.p * longest_block(of.given) > 1.2 * of.bytes)
    return choose_uneven_reduce_scatter(all);
  return all.among(recursive_halving{}, commutes && of.given.power_of_two() && !of.overlaps())
      .among_circulants(commutes)
      .among(chained_halving{}, !commutes)
      .among(sorted_halving{}, !commutes)
      .among(direct{}, !commutes && of.p <= few_for_direct);
}

// A tree takes the longest block through lg p ranks, which matters if it has most of the data.
template <collective C> requires(has_root(C) && has_blocks(C))
choice choose_by_formula(cheapest<C> all) {
  costs const& of = all.of();
  situation const& s = of.given;
  if (of.in_memory) return all.at(of.reads_of_all(of.bytes / of.p), linear{});   // every block is sent once
  bool const to_one = C == collective::gather || C == collective::gatherv;
  if (of.overlaps())
    return all.among(binary_tree{}).among(linear{}, !to_one || of.p <= few_for_direct);
  if (!s.vector.offsets) return binary_tree{};
  uneven_blocks<> const uneven{s.vector, static_cast<double>(s.element_size), of.m};
  double const tree = uneven.tree_at_most(), start_up = of.m.alpha_uni();
  auto const from = [&](double messages) { return (messages - 1) * start_up; };   // at least, to the root alone
  if (tree <= 1.05 * ceil_lg(of.p) * start_up || tree <= from(of.bytes / std::max(1.0, longest_block(s))) ||
      tree <= from(static_cast<double>(s.vector.count_longer(0))))
    return binary_tree{};
  return uneven.star(s.root) < uneven.tree(s.root) ? choice{linear{}} : binary_tree{};
}

// Blocks go straight to their ranks, or together with others in fewer messages.
template <collective C> requires(C == collective::all_to_all)
cheapest<C> choose_by_formula(cheapest<C> all) {
  costs const& of = all.of();
  auto const root = static_cast<std::size_t>(std::ceil(std::sqrt(of.p)));
  // Between two windows a link is idle for a start-up, so a megabyte of a rank's blocks is in progress at once.
  double const at_once =
      std::clamp((1 << 20) * of.p / std::max(1.0, of.bytes), 1. * few_for_direct, 4. * few_for_direct);
  // Ranks of a host share its link whatever they do. Other sites are farther away than prices say: blocks go there
  // once, and do not wait for each other.
  bool const has_sites = of.given.hosts && of.given.levels && of.given.levels->joins_hosts();
  return all.among(pairwise{}, !has_sites)
      .among(pairwise{.window = static_cast<std::size_t>(at_once)}, of.overlaps() || has_sites,
             of.given.hosts ? 1 : sharing_links)
      .among(bruck{}, !has_sites)
      .among(bruck{.radix = 4}, !has_sites)
      .at(of.reads_of_all(of.bytes / of.p), direct{}, of.in_memory)
      .among(bruck{.radix = root}, !has_sites);
}

// Some of the p - 1 rounds of pairs, `messages` on the rank with most: those of one window overlap, and a rank waits
// for peers that are still busy with others, the longer the fewer rounds have a message.
inline double cost_of_some_pairs(costs const& of, std::size_t messages, double bytes) {
  double const rounds = of.p - 1, windows = std::ceil(rounds / 8), all = static_cast<double>(messages);
  if (all == 0) return 0;
  double const first = std::min(windows, all), startups = first * of.m.alpha + (all - first) * of.m.alpha_further();
  return (2 - all / rounds) * startups + bytes * of.m.beta;
}

// Ranks do not know each other's counts. Where padding pays if all blocks are short, they first agree on lengths and
// on the number of messages (run_exchange). Then blocks go straight, each a message; or all of them padded to the
// longest one; or padded to a length that most do not exceed, and the rest of the longer ones straight.
template <collective C> requires(C == collective::all_to_all_v)
cheapest<C> choose_by_formula(cheapest<C> all) {
  costs const& of = all.of();
  exchange_lengths const& lengths = of.given.exchanged;
  if (of.in_memory) return cheapest<C>(of).at(of.reads_of_all(of.bytes / of.p), direct{});
  bool const agreed = lengths.longest != 0;
  std::size_t const messages = lengths.messages != 0 ? lengths.messages : static_cast<std::size_t>(of.p - 1);
  auto const bytes = [&](std::size_t n) { return static_cast<double>(n * of.given.element_size); };
  double const usual_bytes = static_cast<double>(messages - std::min(messages, lengths.longer)) * bytes(lengths.usual);
  double const longer = static_cast<double>(lengths.longer);
  double const straight = agreed ? cost_of_some_pairs(of, messages, usual_bytes + longer * bytes(lengths.longest))
                                 : cost_of_pairs(of.m, of.p, 1, 8);
  double const asking = agreed ? 0 : ceil_lg(of.p) * of.m.exchange(sizeof lengths);   // later it has been paid
  for (std::size_t const padded : {lengths.longest, lengths.usual}) {
    if (agreed && padded == 0) continue;
    std::size_t const length = std::max<std::size_t>(1, padded) * of.given.element_size;
    blocks const heads{{0, static_cast<std::size_t>(of.p) * length}, of.p};
    double const rests = padded == lengths.longest
                             ? 0 : cost_of_some_pairs(of, lengths.longer, longer * bytes(lengths.longest - padded));
    for (std::size_t const radix : {std::size_t{2}, std::size_t{4}, static_cast<std::size_t>(std::sqrt(of.p))}) {
      padded_bruck const in_bytes{.radix = radix, .longest = length};
      auto const policy = make_policy<collective::all_to_all_v, padded_bruck, std::byte, any_functor>(in_bytes);
      all.at(policy.cost(of.m, of.p, heads.whole.size()) + of.m.alone(policy.work(heads, 1), 1) + rests + asking,
             padded_bruck{.radix = radix, .longest = padded});
    }
  }
  return all.least() < (agreed ? 1 : 0.5) * straight ? all : cheapest<C>(of).at(straight, pairwise{});
}

template <collective C> requires(C == collective::scan || C == collective::exclusive_scan)
choice choose_by_formula(cheapest<C> all) {
  costs const& of = all.of();
  double const per_byte = of.m.beta + of.m.gamma;
  return all.among(std::conditional_t<C == collective::scan, recursive_doubling, doubling_123>{})
      .among(recursive_doubling{})
      .among(halving_scan{})
      .among_radices(of.overlaps() && !of.in_memory)
      .at(of.pipelined(of.p - 2, per_byte), of.in_best_blocks<pipelined_chain>(of.p - 2, per_byte));
}

// One grouping of an element's operands for all lengths, places in the vector, roots, hosts and transports: spare ranks
// with their neighbours, then neighbours, pairs of them and so on. all_reduce, reduce and reduce_scatter use the same.
template <collective C>
choice choose_stable(situation const& s) {
  using enum collective;
  costs const of(s);
  if constexpr (C == all_reduce) return cheapest<C>(of).among(recursive_doubling{}).among_halvings();
  else if constexpr (C == reduce)
    return cheapest<C>(of).among(binary_tree{}, s.power_of_two()).among(halving_doubling{});
  else if constexpr (C == scan) return recursive_doubling{};
  else if constexpr (C == exclusive_scan) return doubling_123{};
  else return halving_doubling{};
}

template <collective C> requires(C == collective::barrier)
choice choose_by_formula(cheapest<C> all) { return all.among(dissemination{}); }

// Calls f(what formulas choose): a choice, or where its price is of use a cheapest.
template <collective C, class F>
auto by_formulas(situation const& s, F f) {
  using enum collective;
  if (!s.hosts && !s.on_many_cores()) {
    costs const of(s);
    return f(choose_by_formula(cheapest<C>(of)));
  }
  auto const by_distance = machines_by_distance(s);
  situation far_apart = s;
  if (!s.hosts) far_apart.network = fitted::many_cores, far_apart.network.alpha = s.latencies.host;
  else if (C == all_to_all || C == all_to_all_v)
    far_apart.network = sharing_its_link(s, by_distance.back());
  far_apart.network.levels = by_distance.data();
  costs const of(far_apart);
  auto const all = among_levels<C>(of);
  // Between hosts, formulas of algorithms without levels do not know which messages share a link. They are right in
  // all_to_all, where all messages do, and nearly in scans and barriers, where few do.
  constexpr bool is_priced = C == all_to_all || C == scan || C == exclusive_scan || C == barrier;
  if (all.found() && (s.hosts ? !is_priced : C == all_reduce)) return f(all);
  return f(choose_by_formula(all));
}
/// Seconds of what formulas choose.
template <collective C>
double price_by_formulas(situation const& s) {
  return by_formulas<C>(s, [](cheapest<C> const& by) { return by.least(); });
}

template <collective C>
choice choose_for(situation const& s) {
  if constexpr (combines(C))
    if (s.stable && !s.exact) return choose_stable<C>(s);
  if (s.shared && !s.hosts && !s.on_many_cores()) return choose_shared(C, s.p(), s.bytes(), s.cores);
  return by_formulas<C>(s, [](auto const& by) { return choice(by); });
}

/// The graph says it all.
template <>
inline choice choose_for<collective::exchange>(situation const&) { return along_edges{}; }

}  // namespace detail

template <class Lazy>
chosen_algorithm choose(collective what, situation const& s) {
  return detail::for_collective(what, [&]<collective C>() { return detail::choose_for<C>(s); });
}

}  // namespace colligo
