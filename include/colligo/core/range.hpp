// SPDX-License-Identifier: BSL-1.0
/// @file
/// Half-open index ranges of "the vector", and the ways in which the papers cut it.
#pragma once

#include <algorithm>
#include <cstddef>

namespace colligo {

/// Elements first .. last - 1 of the vector. Everything that an algorithm says about data is said with this.
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

/// The smallest range that covers two adjacent ones.
constexpr range joined(range a, range b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.first, b.first), std::max(a.last, b.last)};
}

/// Vector halving: the low half holds the odd element.
constexpr std::size_t middle(range r) { return r.first + (r.size() + 1) / 2; }
constexpr range low_half(range r) { return {r.first, middle(r)}; }
constexpr range high_half(range r) { return {middle(r), r.last}; }

/// An even split: `parts` blocks whose sizes differ by at most one element, the longer ones first.
struct blocks {
  range whole;
  int parts;

  constexpr range operator[](int i) const { return {begin_of(i), begin_of(i + 1)}; }

  /// The most elements of any block.
  constexpr std::size_t longest() const { return (*this)[0].size(); }

 private:
  constexpr std::size_t begin_of(int i) const {
    auto const p = static_cast<std::size_t>(parts), k = static_cast<std::size_t>(i);
    return whole.first + whole.size() / p * k + std::min(k, whole.size() % p);
  }
};

}  // namespace colligo
