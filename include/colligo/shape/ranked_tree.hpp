// SPDX-License-Identifier: BSL-1.0
/// @file
/// A tree over the ranks as a value: made from a shape, from every rank's parent, from every rank's children, or read
/// from a file (tree_file.hpp). Every reader of a shape (tree.hpp) takes it.
#pragma once

#include <algorithm>
#include <concepts>
#include <span>
#include <string>
#include <vector>

#include "../core/error.hpp"
#include "tree.hpp"

namespace colligo::inline COLLIGO_MODE {

/// A shape such as binomial_tree: p ranks, each with its parent and its children.
template <class Shape>
concept tree_shape = requires(Shape const& s) {
  { s.p } -> std::convertible_to<int>;
  { s.parent(0) } -> std::same_as<int>;
  { s.child(0, 0) } -> std::same_as<int>;
  { s.most_children() } -> std::same_as<int>;
};

namespace detail {

/// Why lists of children are no tree, and the rank whose list is wrong.
struct tree_fault {
  enum class kind { none, out_of_range, own_child, twice, of_two, absent, two_roots, cycle };

  kind what{};
  int rank = nobody, other = nobody, third = nobody;

  template <class Lazy = void>
  std::string reason() const;
};
template <class Lazy = void>
COLLIGO_CONSTEXPR tree_fault fault_of(std::vector<std::vector<int>> const& children);

}  // namespace detail

/// A tree over ranks 0 .. size() - 1, any of which may be its root. A default-constructed one has no ranks. The
/// functions that make trees are templates, because most units make none.
class tree {
 public:
  COLLIGO_CONSTEXPR tree() = default;

  /// Any shape, children in its order. Throws argument_error as of_children does.
  template <tree_shape Shape>
  COLLIGO_CONSTEXPR tree(Shape const& shape) : tree(children_in(shape)) {}

  /// By the children of each rank, in the order in which they report. Throws argument_error if that is no tree over all
  /// these ranks.
  template <class Lazy = void>
  static COLLIGO_CONSTEXPR tree of_children(std::vector<std::vector<int>> const& children) {
    return tree(children);
  }

  /// By the parent of each rank; the root's is `nobody`. Children report nearest rank first, which keeps rank order if
  /// any order of the children does.
  template <class Lazy = void>
  static COLLIGO_CONSTEXPR tree of_parents(std::span<int const> parents) {
    int const p = static_cast<int>(parents.size());
    std::vector<std::vector<int>> children(parents.size());
    auto const adopt = [&](int r) {
      int const parent = parents[index(r)];
      if (parent < nobody || parent >= p)
        throw argument_error("colligo: tree: rank " + std::to_string(parent) + ", the parent of " + std::to_string(r) +
                             ", is not one of the " + std::to_string(p));
      if (parent != nobody) children[index(parent)].push_back(r);
    };
    for (int r = 0; r < p; ++r) adopt(r);
    for (int r = 0; r < p; ++r) {
      auto const distance = [r](int c) { return c < r ? 2 * (r - c) - 1 : 2 * (c - r); };
      auto& list = children[index(r)];
      std::sort(list.begin(), list.end(), [&](int a, int b) { return distance(a) < distance(b); });
    }
    return tree(children);
  }

  COLLIGO_CONSTEXPR int size() const { return static_cast<int>(parents_.size()); }   ///< p
  COLLIGO_CONSTEXPR int root() const { return root_; }
  COLLIGO_CONSTEXPR int parent(int r) const { return parents_[index(r)]; }
  COLLIGO_CONSTEXPR int most_children() const { return most_children_; }   ///< of any rank
  COLLIGO_CONSTEXPR int child_count(int r) const { return first_[index(r) + 1] - first_[index(r)]; }
  COLLIGO_CONSTEXPR int child(int r, int i) const {
    return i < child_count(r) ? list_[index(first_[index(r)] + i)] : nobody;
  }
  COLLIGO_CONSTEXPR std::span<int const> children(int r) const {
    return {list_.data() + first_[index(r)], index(child_count(r))};
  }
  COLLIGO_CONSTEXPR int depth() const { return depth_; }   ///< messages from the farthest leaf to the root
  /// Combining children as they report joins only neighbouring intervals of ranks, so any associative functor works.
  COLLIGO_CONSTEXPR bool in_order() const { return in_order_; }
  /// All ranks, each after its parent.
  template <class Lazy = void>
  COLLIGO_CONSTEXPR std::vector<int> from_the_root() const;

  friend COLLIGO_CONSTEXPR bool operator==(tree const& a, tree const& b) {
    return a.first_ == b.first_ && a.list_ == b.list_;
  }

 private:
  static constexpr std::size_t index(int i) { return static_cast<std::size_t>(i); }

  template <class Shape>
  static COLLIGO_CONSTEXPR std::vector<std::vector<int>> children_in(Shape const& shape) {
    std::vector<std::vector<int>> children(static_cast<std::size_t>(std::max(0, int{shape.p})));
    for (int r = 0; r < shape.p; ++r)
      for (int i = 0; i < shape.most_children(); ++i)
        if (int const c = shape.child(r, i); c != nobody) children[index(r)].push_back(c);
    return children;
  }

  template <std::same_as<std::vector<std::vector<int>>> Children>
  constexpr explicit tree(Children const& children)
      : parents_(children.size(), nobody), first_{0} {
    if (auto const fault = detail::fault_of(children); fault.what != detail::tree_fault::kind::none)
      throw argument_error("colligo: tree: " + fault.reason());
    for (int r = 0; auto const& of_rank : children) {
      for (int const c : of_rank) parents_[index(c)] = r;
      list_.insert(list_.end(), of_rank.begin(), of_rank.end());
      first_.push_back(static_cast<int>(list_.size()));
      most_children_ = std::max(most_children_, static_cast<int>(of_rank.size()));
      ++r;
    }
    root_ = static_cast<int>(std::find(parents_.begin(), parents_.end(), nobody) - parents_.begin());
    see_depth_and_order();
  }

  template <class Lazy = void>
  COLLIGO_CONSTEXPR void see_depth_and_order() {
    auto ranks = from_the_root();
    std::vector<int> level(ranks.size(), 0), lowest = level, highest = level;
    for (int const r : ranks) depth_ = std::max(depth_, level[index(r)] = r == root_ ? 0 : level[index(parent(r))] + 1);
    std::reverse(ranks.begin(), ranks.end());
    for (int const r : ranks) {   // its children's intervals are known
      int &low = lowest[index(r)] = r, &high = highest[index(r)] = r;
      for (int const c : children(r)) {
        in_order_ = in_order_ && (highest[index(c)] + 1 == low || high + 1 == lowest[index(c)]);
        low = std::min(low, lowest[index(c)]), high = std::max(high, highest[index(c)]);
      }
    }
  }

  std::vector<int> parents_, first_, list_;   // the children of r: list_[first_[r]] .. list_[first_[r + 1] - 1]
  int root_ = nobody, most_children_ = 0, depth_ = 0;
  bool in_order_ = true;
};

template <class Lazy>
COLLIGO_CONSTEXPR std::vector<int> tree::from_the_root() const {
  std::vector<int> ranks;
  if (size() > 0) ranks.push_back(root_);
  for (std::size_t i = 0; i < ranks.size(); ++i)
    for (int const c : children(ranks[i])) ranks.push_back(c);
  return ranks;
}

/// The same tree with another root: the path between the two roots is reversed. For walking down; needs no memory.
struct rerooted {
  tree const& hung;
  int root;

  COLLIGO_CONSTEXPR int parent(int r) const {
    return r == root ? nobody : on_path(r) ? next_to_root(r) : hung.parent(r);
  }
  COLLIGO_CONSTEXPR int most_children() const { return hung.most_children() + 1; }
  COLLIGO_CONSTEXPR int child_count(int r) const { return hung.child_count(r) + 1; }
  /// The former parent, with most ranks behind it, is the last to report and the first to be served.
  COLLIGO_CONSTEXPR int child(int r, int i) const {
    if (i == hung.child_count(r)) return on_path(r) ? hung.parent(r) : nobody;
    int const c = hung.child(r, i);
    return c == next_to_root(r) ? nobody : c;
  }

 private:
  COLLIGO_CONSTEXPR bool on_path(int r) const { return r == root || next_to_root(r) != nobody; }
  // The child of r that has `root` below or at it.
  COLLIGO_CONSTEXPR int next_to_root(int r) const {
    for (int at = root; hung.parent(at) != nobody; at = hung.parent(at))
      if (hung.parent(at) == r) return at;
    return nobody;
  }
};

namespace detail {

template <class Lazy>
COLLIGO_CONSTEXPR tree_fault fault_of(std::vector<std::vector<int>> const& children) {
  using enum tree_fault::kind;
  int const p = static_cast<int>(children.size());
  auto const at = [](int r) { return static_cast<std::size_t>(r); };
  std::vector<int> parents(children.size(), nobody);
  for (int r = 0; r < p; ++r)
    for (int const c : children[at(r)]) {
      if (c < 0 || c >= p) return {out_of_range, r, c, p - 1};
      if (c == r) return {own_child, r};
      if (parents[at(c)] == r) return {twice, r, c};
      if (parents[at(c)] != nobody) return {of_two, r, c, parents[at(c)]};
      parents[at(c)] = r;
    }
  for (int r = 0; r < p && p > 1; ++r)
    if (parents[at(r)] == nobody && children[at(r)].empty()) return {absent, r};
  int root = nobody;
  for (int r = 0; r < p; ++r) {
    if (parents[at(r)] != nobody) continue;
    if (root != nobody) return {two_roots, r, root};
    root = r;
  }
  std::vector<int> reached;
  std::vector<char> seen(children.size(), 0);   // clang 14 takes no std::vector(n) of numbers in constant expressions
  if (root != nobody) reached.push_back(root);
  for (std::size_t i = 0; i < reached.size(); ++i) {
    seen[at(reached[i])] = 1;
    reached.insert(reached.end(), children[at(reached[i])].begin(), children[at(reached[i])].end());
  }
  if (static_cast<int>(reached.size()) == p) return {};
  int lost = static_cast<int>(std::find(seen.begin(), seen.end(), 0) - seen.begin());
  for (int i = 0; i < p; ++i) lost = parents[at(lost)];   // upwards without end, so it is on the cycle by now
  return {cycle, lost};
}

template <class Lazy>
std::string tree_fault::reason() const {
  auto const number = [](int r) { return std::to_string(r); };
  switch (what) {
    case kind::none: break;
    case kind::out_of_range:
      return "rank " + number(other) + ", a child of " + number(rank) + ", is out of range: ranks are 0 to " +
             number(third);
    case kind::own_child: return "rank " + number(rank) + " is its own child";
    case kind::twice: return "rank " + number(other) + " is a child of " + number(rank) + " twice";
    case kind::of_two: return "rank " + number(other) + " is a child of " + number(rank) + " and of " + number(third);
    case kind::absent: return "rank " + number(rank) + " is not in the tree: it has neither parent nor children";
    case kind::two_roots:
      return "ranks " + number(other) + " and " + number(rank) + " are both nobody's child: there must be one root";
    case kind::cycle: return "rank " + number(rank) + " is on a cycle: it is below itself";
  }
  return {};
}

}  // namespace detail
}  // namespace colligo
