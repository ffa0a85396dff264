// SPDX-License-Identifier: BSL-1.0
/// @file
/// Costs of algorithms on uneven blocks, which the closed formulas of their cards do not cover: from sums of
/// neighbouring blocks, a few for each round. Functions look at all blocks only if they say so.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "../core/machine.hpp"
#include "../core/renumbered.hpp"
#include "../shape/everybody.hpp"
#include "../shape/halving_chain.hpp"
#include "../shape/spare_ranks.hpp"
#include "../shape/tree.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Times of one collective for these blocks on a machine; combining a byte costs `gamma` and moving it beta.
template <class Lazy = void>
struct uneven_blocks {
  blocks const& vector;
  double element_size;
  machine const& m;
  double gamma = 0;

  double bytes(range r) const { return static_cast<double>(r.size()) * element_size; }
  double longest() const { return static_cast<double>(vector.longest()) * element_size; }

  /// Neighbouring groups of ranks exchange all of their blocks, upwards or downwards, along the longer halves, which
  /// take longest. `span(i, j)` are the blocks of groups; `last` is where that ends.
  template <class Span>
  double halvings(int groups, Span span, int& last) const {
    double time = 0;
    last = 0;
    for (int count = groups; count > 1;) {
      int const half = count - count / 2;   // the lower one
      double const low = bytes(span(last, last + half)), high = bytes(span(last + half, last + count));
      bool const up = high > low;
      time += m.alpha + std::max(low, high) * (m.beta + gamma);
      last += up ? half : 0;
      count = up ? count / 2 : half;
    }
    return time;
  }
  double halvings() const {
    int last = 0;
    return halvings(vector.parts, [this](int i, int j) { return vector.span(i, j); }, last);
  }
  /// halving_doubling: spare ranks first, and at the end the blocks whose places have reversed bits.
  double halving_and_swap() const {
    spare_ranks const ranks{vector.parts};
    int last = 0, reversed = 0;
    double time = halvings(ranks.q, [&](int i, int j) { return ranks.span(vector, i, j); }, last);
    for (int i = 1; i < ranks.q; i *= 2) reversed = 2 * reversed + ((last & i) != 0);
    time += last != reversed || !one_is_long() ? m.exchange(longest()) : swapped_otherwise();
    if (ranks.spare == 0) return time;
    return time + ranks.cost(m, bytes(vector.whole)) + (one_is_long() ? 2 * swapped_otherwise() : m.one_way(longest()));
  }
  /// chained_halving on its longest segment, and the messages to the owners.
  double chained() const {
    chained_ring const ring{vector.parts};
    int last = 0;
    double const merged = chained_merges(ring, last);
    bool const stays = one_is_long() && ring.owner(ring.first_block(last)) == ring.first_block(last);
    double const others = swapped_otherwise(), second = ring.segments == ring.p ? 0 : 2 * others;   // of two blocks
    return merged + second + (stays ? others : m.exchange(longest()));
  }
  /// sorted_halving, in which ranks that differ in the lowest bit halve first: exact for p = 2^k, else approximate.
  /// Looks at all blocks.
  double sorted() const {
    chained_ring const ring{vector.parts};
    if (is_power_of_two(vector.parts)) return halvings_apart();
    int last = 0;
    double const second = ring.segments == ring.p ? 0 : m.one_way(bytes(vector.whole) / vector.parts);
    return 1.1 * halvings_apart() * chained_merges(ring, last) / halvings() + second;
  }
  /// All ranks send to all, and one receives the longest block from all.
  double exchanges() const {
    // As many as there are if one waits for all, else between that and their turns.
    int const p = vector.parts, others = p * longest() > 1.5 * bytes(vector.whole) ? p - 1 : (turns(p) + p) / 2;
    double const sent = bytes(vector.whole) - static_cast<double>(vector.shortest()) * element_size;
    return m.startups(others) + std::max(sent, others * longest()) * m.beta + others * longest() * gamma;
  }
  /// Segments of at most so many bytes of all ranks go round, one after the other. Looks at all blocks.
  double ring_of_segments(double segment) const {
    auto const segment_length = static_cast<std::size_t>(std::max(1.0, segment / element_size));
    std::size_t all = 0, least = vector.whole.size();
    int without = 0;
    for (int r = 0; r < vector.parts; ++r) {
      std::size_t const its = (vector[r].size() + segment_length - 1) / segment_length;
      without += its == 0;
      all += std::max<std::size_t>(1, its), least = std::min(least, std::max<std::size_t>(1, its));
    }
    int const with = vector.parts - without;
    double const rounds = static_cast<double>(all - least) - without + (with ? std::ceil(1.0 * without / with) : 0);
    return std::max(rounds, 1.0) * (m.alpha + std::min(segment, longest()) * m.beta);
  }
  /// To or from any root over a binomial tree, at most.
  double tree_at_most() const {
    double const all = bytes(vector.whole), block = longest();
    double time = 0;
    for (int k = 0; k < ceil_lg(vector.parts); ++k)
      time += m.alpha_uni() + std::min(all, std::ldexp(block, k)) * m.beta_uni();
    return time;
  }
  double tree(int root) const { return subtree({vector.parts, root}, root, ceil_lg(vector.parts)); }
  /// Directly to or from the root. Looks at all blocks.
  double star(int root) const {
    int const messages = static_cast<int>(vector.count_longer(0)) - !vector[root].empty();
    return m.f_alpha * m.startups(messages) + bytes(vector.whole) * m.beta_uni() - bytes(vector[root]) * m.beta_uni();
  }

 private:
  // Meanwhile other ranks, which have waited less, reorder their elements, if any.
  double swapped_otherwise() const {
    double const others = (bytes(vector.whole) - longest()) / vector.parts;
    return others > 0 ? m.exchange(others) / 2 : 0;
  }
  double chained_merges(chained_ring const& ring, int& last) const {
    int const segments = ring.thirds ? ring.unit : ring.segments;
    halvings(segments, [&](int i, int j) { return vector.grouped(segments).span(i, j); }, last);
    double const third = ring.thirds ? 2 * longest() * (m.beta + gamma) + m.startups(2) : 0;
    return third + merged({0, ring.thirds ? ring.unit : ring.p}, last);
  }
  bool one_is_long() const { return vector.parts * longest() > 2 * bytes(vector.whole); }
  double halvings_apart() const {
    double time = 0;
    auto const p = static_cast<std::size_t>(vector.parts);
    for (std::size_t first = 0, apart = 1; apart < p; apart *= 2) {
      double const low = every(first, 2 * apart), high = every(first + apart, 2 * apart);
      time += m.alpha + std::max(low, high) * (m.beta + gamma);
      if (high > low) first += apart;
    }
    return time;
  }
  double every(std::size_t first, std::size_t apart) const {
    std::size_t sum = 0;
    for (auto const p = static_cast<std::size_t>(vector.parts); first < p; first += apart)
      sum += vector.offsets[first + 1] - vector.offsets[first];
    return static_cast<double>(sum) * element_size;
  }
  // The time of a merge of groups, after both of them; for many ranks only the larger one is considered.
  double merged(halving_group group, int segment) const {
    if (group.size == 1) return 0;
    auto const low = group.lower(), high = group.upper();
    auto const its = vector.grouped(group.segments());
    double before = merged(low, group.halves() ? segment / 2 : segment);
    if (low.size != high.size && group.size <= 128) before = std::max(before, merged(high, segment / 2));
    double const kept = bytes(its[segment]);
    return before + m.alpha + std::max(kept, bytes(its[segment ^ 1])) * m.beta + kept * gamma;
  }
  // A child's blocks arrive after those of earlier children, and when the child has them.
  double subtree(binomial_tree const& its, int rank, int level) const {
    double time = 0;
    for (int i = 0; i < level; ++i) {
      int const child = its.child(rank, i);
      if (child == nobody) continue;
      double const moved = bytes(vector.span(its.first_of(child, i), its.last_of(child, i)));
      if (moved > 0) time = std::max(time, subtree(its, child, i)) + m.one_way(moved);
    }
    return time;
  }
};

}  // namespace colligo
