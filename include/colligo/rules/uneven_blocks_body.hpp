// SPDX-License-Identifier: BSL-1.0
/// @file
/// Costs of algorithms on uneven blocks, which the closed formulas of their cards do not cover. Each round needs a few
/// sums of neighbouring blocks; functions whose comment does not say so do not look at all blocks.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "../core/machine.hpp"
#include "../core/renumbered.hpp"
#include "../core/small_vector.hpp"
#include "../shape/everybody.hpp"
#include "../shape/chained_ring.hpp"
#include "../shape/spare_ranks.hpp"
#include "../shape/tree.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Seconds of a collective on these blocks; combining a byte costs `gamma`, sending it m.beta.
template <class Lazy = void>
struct uneven_blocks {
  blocks const& vector;
  double element_size;
  machine const& m;
  double gamma = 0;

  double bytes(range r) const { return static_cast<double>(r.size()) * element_size; }
  double longest() const { return static_cast<double>(vector.longest()) * element_size; }

  /// The slowest path through recursive halving: the halves of a group exchange their blocks, and the path goes on in
  /// the half with more elements. `span(i, j)`: the blocks of groups i to j - 1; `last`: the group where the path ends.
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
  /// halving_doubling: first the spare ranks; at the end blocks are sent to the ranks of reversed bits.
  double halving_and_swap() const {
    spare_ranks const ranks{vector.parts};
    int last = 0, reversed = 0;
    double time = halvings(ranks.q, [&](int i, int j) { return ranks.span(vector, i, j); }, last);
    for (int i = 1; i < ranks.q; i *= 2) reversed = 2 * reversed + ((last & i) != 0);
    bool const swaps = last != reversed || !one_is_long();
    if (swaps) time += m.exchange(longest());
    if (ranks.spare != 0) time += ranks.cost(m, bytes(vector.whole)) + (one_is_long() ? 0 : m.one_way(longest()));
    int const later = one_is_long() ? !swaps + (ranks.spare != 0) : 0;
    return later == 0 ? time : time + others_later(later);
  }
  /// chained_halving, and the messages to the owners of blocks.
  double chained() const {
    chained_ring const ring{vector.parts};
    return chained_merges(ring, [&](int segment) {
      int const me = ring.holder(segment);
      double sent = 0;
      bool further = false, has_mine = false;
      for (int b = ring.first_block(segment); b < ring.first_block(segment + 1); ++b) {
        has_mine = has_mine || b == me;
        if (b != me && !vector[b].empty()) sent += m.exchange(bytes(vector[b]), further), further = true;
      }
      return has_mine || vector[me].empty() ? sent : std::max(sent, m.exchange(bytes(vector[me])));
    });
  }
  /// sorted_halving with its own work: copies, chained merges of the blocks in its order, a message to the owner of a
  /// segment's second block. Looks at all blocks.
  double sorted(own_work alone) const {
    chained_ring const ring{vector.parts};
    small_vector<std::size_t> begin(static_cast<std::size_t>(ring.p) + 1);
    ring.for_each_owner([&](int i, int owner) { begin[static_cast<std::size_t>(i) + 1] = vector[owner].size(); });
    for (std::size_t i = 1; i < begin.size(); ++i) {
      if (begin[i] == 0) --alone.moves;
      begin[i] += begin[i - 1];
    }
    alone.copied = static_cast<double>(vector.whole.size());
    blocks const in_order{{0, vector.whole.size()}, ring.p, begin.begin()};
    uneven_blocks const sorted_blocks{in_order, element_size, m, gamma};
    return m.alone(alone, element_size) + sorted_blocks.chained_merges(ring, [&](int segment) {
      int const first = ring.first_block(segment);
      double const second = bytes(in_order.span(first + 1, ring.first_block(segment + 1)));
      double const copied = static_cast<double>(in_order[first].size());
      return m.alone({0, copied, 0}, element_size) + (second > 0 ? m.one_way(second) : 0);
    });
  }
  /// Whether sorted() may be below `seconds`, by a lower bound: the mean of all segments, and the time to compute
  /// sorted(). Precondition: more than one rank.
  bool sorted_may_take(own_work alone, double seconds) const {
    double const n = static_cast<double>(vector.whole.size());
    own_work const least{0, n, alone.steps + 40.0 * vector.parts};
    double const rest = seconds - ceil_lg(vector.parts) * m.alpha - m.alone(least, element_size);
    chained_ring const ring{vector.parts};
    double const volume = rest / (n * element_size * (m.beta + gamma));   // up to 3/2
    return volume > 1 - 2.0 / ring.p && (volume > 1.5 || volume > ring.moved_by_reduce_scatter(ring.segments));
  }
  /// All ranks send to all, and one receives the longest block from all.
  double exchanges() const {
    // Start-ups: p - 1 if one rank receives most of the data and waits for all, otherwise between turns(p) and p.
    int const p = vector.parts, others = p * longest() > 1.5 * bytes(vector.whole) ? p - 1 : (turns(p) + p) / 2;
    double const sent = bytes(vector.whole) - static_cast<double>(vector.shortest()) * element_size;
    return m.startups(others) + std::max(sent, others * longest()) * m.beta + others * longest() * gamma;
  }
  /// All blocks go round the ring in segments of at most `segment` bytes. Looks at all blocks.
  double ring_of_segments(double segment) const {
    auto const segment_length = static_cast<std::size_t>(std::max(1.0, segment / element_size));
    std::size_t all = 0, least = vector.whole.size();
    int without = 0;
    for (int r = 0; r < vector.parts; ++r) {
      std::size_t const segments = (vector[r].size() + segment_length - 1) / segment_length;
      without += segments == 0;
      all += std::max<std::size_t>(1, segments), least = std::min(least, std::max<std::size_t>(1, segments));
    }
    int const with = vector.parts - without;
    double const rounds = static_cast<double>(all - least) - without + (with ? std::ceil(1.0 * without / with) : 0);
    return std::max(rounds, 1.0) * (m.alpha + std::min(segment, longest()) * m.beta);
  }
  /// An upper bound of tree(root) for every root.
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
  // What is left of `messages` exchanges of the other ranks after one rank has combined the longest block.
  double others_later(int messages) const {
    double const others = (bytes(vector.whole) - longest()) / vector.parts;
    return others > 0 ? std::max(0.0, messages * m.exchange(others) - longest() * gamma) : 0;
  }
  // The time of merging all groups and of then(segment), for the segments where the path of halvings() ends.
  template <class Then>
  double chained_merges(chained_ring const& ring, Then then) const {
    int const segments = ring.thirds ? ring.unit : ring.segments;
    auto const grouped = vector.grouped(segments);
    int last = 0;
    halvings(segments, [&](int i, int j) { return grouped.span(i, j); }, last);
    double time = 0;
    if (!ring.thirds) {
      for (int const segment : {last, last ^ 1, of_two_blocks(ring, last)}) {
        groups_merged known;
        time = std::max(time, merged(ring.p, segment, known) + then(segment));
      }
      return time;
    }
    for (int const segment : {last, ring.unit == 1 ? last : last ^ 1}) {
      groups_merged known;
      int const first = 3 * segment;
      // If only the last third is empty, two ranks exchange at once, and the third rank waits.
      bool const waits = vector[first + 2].empty() && !vector[first].empty() && !vector[first + 1].empty();
      double const before = merged(ring.unit, segment, known) + m.startups(2 + waits);
      for (int third = first; third < first + 3; ++third) {
        double const kept = 2 * bytes(vector[third]), others = bytes(grouped[segment]) - kept / 2;
        time = std::max(time, before + std::max(kept, others) * m.beta + kept * gamma + then(third));
      }
    }
    return time;
  }
  bool one_is_long() const { return vector.parts * longest() > 2 * bytes(vector.whole); }
  // A segment near `segment` whose second block is not empty; `segment` itself if there is none.
  int of_two_blocks(chained_ring const& ring, int segment) const {
    int const number = ring.first_block(segment) - segment;   // of second blocks before it
    for (int i = std::max(0, number - 2); i < std::min(number + 3, ring.p - ring.segments); ++i)
      if (int const block = ring.second_block(i); !vector[block].empty()) return ring.segment_with(block);
    return segment;
  }
  // The times when groups have merged, by size: groups of one size merge at once. Up to 2^31 ranks have 358 sizes.
  struct groups_merged {
    std::array<int, 360> size;
    std::array<double, 360> time;
    std::size_t count = 0;
  };
  // When a group of `size` ranks has merged: each rank waits for its partner, which exchanges or sends this segment.
  double merged(int size, int segment, groups_merged& known) const {
    if (size == 1) return 0;
    auto const end = known.size.begin() + static_cast<std::ptrdiff_t>(known.count);
    auto const found = std::find(known.size.begin(), end, size);
    if (found != end) return known.time[static_cast<std::size_t>(found - known.size.begin())];
    halving_group const group{0, size};
    auto const grouped = vector.grouped(group.segments());
    bool const halves = group.halves();
    double const low = merged(group.lower().size, halves ? segment / 2 : segment, known);
    double const high = merged(group.upper().size, segment / 2, known);
    double const kept = bytes(grouped[segment]), other = bytes(grouped[segment ^ 1]);
    double time = std::max(low, high) + m.alpha + kept * (m.beta + gamma);
    if (halves) time += std::max(0.0, other - kept) * m.beta;
    else if (segment % 2 == 0)   // in the upper group, which passes the other segment on
      time = std::max(time, std::max(low + (other - kept) * gamma, high) + m.alpha + other * m.beta + kept * gamma);
    known.size[known.count] = size, known.time[known.count++] = time;
    return time;
  }
  // A child's blocks arrive after those of earlier children, and not before the child has them.
  double subtree(binomial_tree const& tree, int rank, int level) const {
    double time = 0;
    for (int i = 0; i < level; ++i) {
      int const child = tree.child(rank, i);
      if (child == nobody) continue;
      double const moved = bytes(vector.span(tree.first_of(child, i), tree.last_of(child, i)));
      if (moved > 0) time = std::max(time, subtree(tree, child, i)) + m.one_way(moved);
    }
    return time;
  }
};

}  // namespace colligo
