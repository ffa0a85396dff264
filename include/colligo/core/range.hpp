// SPDX-License-Identifier: BSL-1.0
/// @file
/// Half-open index ranges of "the vector", and the papers' ways to cut it.
#pragma once

#include "mode.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace colligo::inline COLLIGO_MODE {

/// Elements first .. last - 1 of the vector. Algorithms refer to data only by such ranges.
struct range {
  std::size_t first{};
  std::size_t last{};

  constexpr std::size_t size() const { return last - first; }
  constexpr bool empty() const { return first == last; }
  friend constexpr bool operator==(range const&, range const&) = default;
};

constexpr bool overlap(range a, range b) { return std::max(a.first, b.first) < std::min(a.last, b.last); }

constexpr bool contains(range outer, range inner) {
  return inner.empty() || (outer.first <= inner.first && inner.last <= outer.last);
}

/// The intersection of two ranges; empty if they do not overlap.
constexpr range common(range a, range b) {
  std::size_t const first = std::max(a.first, b.first), last = std::min(a.last, b.last);
  return first < last ? range{first, last} : range{};
}

/// The smallest range that covers both.
constexpr range joined(range a, range b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.first, b.first), std::max(a.last, b.last)};
}

/// Vector halving: the low half has the odd element.
constexpr std::size_t middle(range r) { return r.first + (r.size() + 1) / 2; }
constexpr range low_half(range r) { return {r.first, middle(r)}; }
constexpr range high_half(range r) { return {middle(r), r.last}; }

/// A range that may continue at the beginning of the vector: head, then tail. One operand and one message.
struct cyclic_range {
  range head;
  range tail;

  constexpr cyclic_range(range whole = {}, range rest = {})
      : head(whole.empty() ? rest : whole), tail(whole.empty() ? range{} : rest) {}
  constexpr cyclic_range(std::size_t first, std::size_t last) : head{first, last} {}
  constexpr std::size_t size() const { return head.size() + tail.size(); }
  constexpr bool empty() const { return head.empty(); }
  friend constexpr bool operator==(cyclic_range const&, cyclic_range const&) = default;
};

constexpr bool overlap(cyclic_range const& a, cyclic_range const& b) {
  return overlap(a.head, b.head) || overlap(a.head, b.tail) || overlap(a.tail, b.head) || overlap(a.tail, b.tail);
}

/// The lengths of the longest and of the shortest block.
struct block_lengths {
  std::size_t longest = 0, shortest = 0;
};

/// A block of an exchange over a graph: what a rank sends to a peer, or receives from one.
struct edge {
  int peer;
  bool sends;
  range elements;
};
/// An edge of a graph, and the number of elements that are sent on it: for record().
struct graph_edge {
  int from, to;
  std::size_t elements;
};
/// A rank's edges in an order in which all ranks can perform them (shape/edge_order.hpp).
struct edge_list {
  edge const* first;
  std::size_t count, width = 0;   ///< width: layers of ghosts of a halo

  constexpr edge const& operator[](std::size_t i) const { return first[i]; }
};

/// The vector in `parts` blocks, one after the other: either an even split, whose sizes differ by at most one element
/// with the longer ones first, or at the given parts + 1 offsets, which the blocks do not own. The last blocks of an
/// even split may be empty.
struct blocks {
  range whole;
  int parts;
  std::size_t const* offsets = nullptr;
  int idle = 0;   ///< the number of empty blocks at the end of an even split
  int finer = 0;   ///< not 0: the blocks are groups of neighbours, of `finer` smaller blocks in all: grouped()
  block_lengths const* lengths = nullptr;   ///< null: not known
  edge_list const* edges = nullptr;   ///< of an exchange over a graph: its blocks are these; null: other collectives

  constexpr range operator[](int i) const { return span(i, i + 1); }

  /// Blocks i .. j - 1.
  constexpr range span(int i, int j) const {
    auto const p = static_cast<std::size_t>(finer ? finer : parts - idle);
    auto const cut = [&](int at) {
      auto const k = static_cast<std::size_t>(at);
      return finer ? k * p / static_cast<std::size_t>(parts) : std::min(k, p);
    };
    std::size_t const from = cut(i), to = cut(j);
    if (offsets) return {offsets[from], offsets[to]};
    // A division would be a third of the work of a short call.
    std::size_t const n = whole.size(), each = (p & (p - 1)) == 0 ? n >> std::countr_zero(p) : n / p;
    std::size_t const longer = n - each * p;   // the first blocks, which have one element more
    return {whole.first + each * from + std::min(from, longer), whole.first + each * to + std::min(to, longer)};
  }

  /// These blocks, if not yet grouped, in `groups` groups: group i has the blocks floor(i parts/groups) to floor((i+1)
  /// parts/groups) - 1, none if there are more groups than blocks.
  constexpr blocks grouped(int groups) const { return {whole, groups, offsets, 0, parts}; }

  /// An even split: the first block is the longest, the last one the shortest.
  constexpr bool is_even() const { return offsets == nullptr && finer == 0; }

  /// The lengths of the longest and of the shortest block. Looks at all blocks, unless the split is even or known.
  constexpr std::size_t longest() const { return lengths ? lengths->longest : most_in_a_row(1); }
  constexpr std::size_t shortest() const {
    if (lengths) return lengths->shortest;
    if (is_even()) return (*this)[parts - 1].size();
    std::size_t least = whole.size();
    for (int i = 0; i < parts; ++i) least = std::min(least, (*this)[i].size());
    return least;
  }

  /// Calls f(i) for the blocks of more than `elements` elements, in order. Skips 64 blocks at once if together they are
  /// no longer, because the first call on a long irregular vector looks at all blocks.
  template <class F>
  constexpr void for_each_longer(std::size_t elements, F f) const {
    if (offsets && finer == 0) {
      for (int i = 0, end = 0; i < parts; i = end) {
        end = i + std::min(64, parts - i);
        if (offsets[end] - offsets[i] <= elements) continue;
        for (; i < end; ++i)
          if (offsets[i + 1] - offsets[i] > elements) f(i);
      }
    } else {
      for (int i = 0; i < parts; ++i)
        if ((*this)[i].size() > elements) f(i);
    }
  }
  constexpr std::size_t count_longer(std::size_t elements) const {
    std::size_t count = 0;
    for_each_longer(elements, [&count](int) { ++count; });
    return count;
  }

  /// The length of the longest cyclic stretch of `count` blocks among those that begin at block 0, `apart`, 2 `apart`
  /// and so on. Looks at all of these blocks, unless the split is even.
  constexpr std::size_t most_in_a_row(int count, int apart = 1) const {
    if (is_even()) return span(0, count).size();
    std::size_t most = 0, least = whole.size();
    int const others = parts - count;
    if (finer == 0) {   // as the other branch, but faster: it runs lg p times for every long vector
      auto const p = static_cast<std::size_t>(parts), n = static_cast<std::size_t>(count), rest = p - n;
      auto const next = static_cast<std::size_t>(apart);
      for (std::size_t i = 0; i <= rest; i += next) most = std::max(most, offsets[i + n] - offsets[i]);
      for (std::size_t i = 0; i < n; i += next) least = std::min(least, offsets[i + rest] - offsets[i]);
    } else {
      for (int i = 0; i <= others; i += apart) most = std::max(most, span(i, i + count).size());
      for (int i = 0; i < count; i += apart) least = std::min(least, span(i, i + others).size());
    }
    return std::max(most, whole.size() - least);
  }

  /// `count` blocks from block i on, cyclically.
  constexpr cyclic_range cycle(int i, int count) const {
    int const wrapped = std::max(0, i + count - parts);
    return {span(i, i + count - wrapped), span(0, wrapped)};
  }
};

}  // namespace colligo
