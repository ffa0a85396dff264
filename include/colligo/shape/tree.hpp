// SPDX-License-Identifier: BSL-1.0
/// @file
/// Trees over the ranks, and the two walks over them. A tree has, for a rank r, parent(r) and the children in the order
/// in which they report: child(r, 0) .. child(r, most_children() - 1), `nobody` for a missing one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "../core/renumbered.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// The leader of the group of d ranks that r is in: the root, otherwise the lowest rank.
constexpr int head_of_group(int r, int d, int root) { return r / d == root / d ? root : r / d * d; }

}  // namespace detail

/// The binomial tree of recursive distance doubling, drawn so that ranks stay in order for every root: at distance d,
/// neighbouring groups of d ranks merge, and the group that holds the root (otherwise the lower
/// one) takes the other's value.
///   p = 8, root 0:  0 <- 1 2 4    2 <- 3    4 <- 5 6    6 <- 7
///   p = 8, root 5:  5 <- 4 6 0    6 <- 7    0 <- 1 2    2 <- 3
struct binomial_tree {
  int p;
  int root = 0;

  constexpr int parent(int r) const { return r == root ? nobody : head(r, 2 << level(r)); }
  constexpr int most_children() const { return ceil_lg(p); }
  /// Rounds after which r reports to its parent; the root after all.
  constexpr int level(int r) const {
    int i = 0;
    while (i < most_children() && head(r, 2 << i) == r) ++i;
    return i;
  }
  /// The ranks whose values r has after i rounds: neighbours, first and one past the last.
  constexpr int first_of(int r, int i) const { return r >> i << i; }
  constexpr int last_of(int r, int i) const { return std::min(p, first_of(r, i) + (1 << i)); }

  constexpr int child(int r, int i) const {
    int const d = 1 << i, sibling = (r / d ^ 1) * d;
    return sibling < p && head(r, 2 * d) == r ? head(sibling, d) : nobody;
  }

 private:
  constexpr int head(int r, int d) const { return detail::head_of_group(r, d, root); }
};

/// The same with up to `radix` groups merging at a time. The sizes are as even as so few rounds allow: 33 ranks in
/// three rounds are 3 x 3 x 4, not 4 x 4 x 3. Precondition: radix >= 2.
///   p = 9, radix 3 or 4, root 0:  0 <- 1,2  3,6    3 <- 4,5    6 <- 7,8
class knomial_groups {
 public:
  constexpr knomial_groups(int p, int radix, int root = 0) : p_(p), root_(root) {
    while (power(radix, rounds_) < p) ++rounds_;
    std::array<int, 32> merging{};
    for (int left = rounds_, ranks = p; left > 0; --left) {   // from the root
      int merged = 2;
      while (power(merged, left) < ranks) ++merged;
      ranks = (ranks - 1) / merged + 1;
      merging[static_cast<std::size_t>(left - 1)] = merged;
    }
    std::int64_t ranks = 1;
    for (std::size_t i = 0; i < group_.size(); ++i) {
      group_[i] = static_cast<int>(std::min<std::int64_t>(ranks, p));
      if (i < merging.size()) ranks = group_[i] * std::int64_t{std::max(1, merging[i])};
    }
  }

  constexpr int rounds() const { return rounds_; }
  /// Ranks in a group after i rounds.
  constexpr int group(int i) const { return group_[static_cast<std::size_t>(i)]; }
  /// Rounds after which r reports to its parent; the root after all.
  constexpr int level(int r) const {
    int i = 0;
    while (i < rounds_ && head(r, i + 1) == r) ++i;
    return i;
  }
  constexpr int parent(int r) const { return r == root_ ? nobody : head(r, level(r) + 1); }
  /// The most groups that merge with r's in round i; and the leader of the k-th of them, in the order of ranks.
  constexpr int others(int i) const { return (group(i + 1) - 1) / group(i); }
  constexpr int other(int r, int i, int k) const {
    int const d = group(i), mine = r / d, first = r / group(i + 1) * group(i + 1) / d;
    std::int64_t const place = (first + k + (k >= mine - first ? 1 : 0)) * static_cast<std::int64_t>(d);
    return place < p_ ? head(static_cast<int>(place), i) : nobody;
  }

 private:
  static constexpr std::int64_t power(std::int64_t base, int exponent) {
    std::int64_t all = 1;
    while (exponent-- > 0) all *= base;
    return all;
  }
  constexpr int head(int r, int i) const { return detail::head_of_group(r, group(i), root_); }

  int p_, root_, rounds_ = 0;
  std::array<int, 33> group_{};
};

/// The coursework's tree: the upper half of the ranks reports to the lower half, until one is left (any p: the lower
/// half is the larger).
///   p = 8:  0 <- 4 2 1    1 <- 5 3    2 <- 6    3 <- 7
struct halving_shape {
  int p;

  constexpr int parent(int r) const {
    for (int i = 0; i < most_children(); ++i)
      if (r >= left(i + 1)) return r - left(i + 1);
    return nobody;
  }
  constexpr int most_children() const { return ceil_lg(p); }
  constexpr int child(int r, int i) const {
    int const half = left(i + 1);
    return r < half && r + half < left(i) ? r + half : nobody;
  }

 private:
  constexpr int left(int round) const { return (p + (1 << round) - 1) >> round; }   // ranks that still have a value
};

/// The most children that r can have; a shape may know it for each rank.
template <class Tree>
constexpr int child_count(Tree const& tree, int r) {
  if constexpr (requires { tree.child_count(r); }) return tree.child_count(r);
  else return tree.most_children();
}

/// From the leaves to the root: whole vectors, children in order.
template <steps Step, class Tree>
constexpr void reduce_along(Step& step, Tree const& tree, range all) {
  for (int i = 0, count = child_count(tree, step.rank()); i < count; ++i) step(fold{tree.child(step.rank(), i), all});
  step(send{tree.parent(step.rank()), all});
}

/// From the root to the leaves: whole vectors, the child that reported last is served first.
template <steps Step, class Tree>
constexpr void broadcast_along(Step& step, Tree const& tree, range all) {
  step(recv{tree.parent(step.rank()), all});
  for (int i = child_count(tree, step.rank()) - 1; i >= 0; --i) step(send{tree.child(step.rank(), i), all});
}

}  // namespace colligo
