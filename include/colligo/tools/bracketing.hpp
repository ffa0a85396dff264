// SPDX-License-Identifier: BSL-1.0
/// @file
/// The grouping and order in which the elements of a result are combined, in a canonical form: the result of
/// association().
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../core/policy.hpp"
#include "../core/range.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Whether op(a, b) and op(b, a) count as equal: if so, the operand with the lowest rank comes first.
enum class operands : std::uint8_t { ordered, commute };

/// The grouping and order of a collective's results. Two are equal if every rank's results consist of the same
/// combinations, element by element.
class bracketing {
 public:
  /// A rank's contribution (0 .. p - 1) or a combination (p + its number).
  using value = int;
  struct combination {
    value left, right;
    friend constexpr bool operator==(combination const&, combination const&) = default;
  };
  /// A stretch of a rank's result with the same expression.
  struct stretch {
    int rank;
    range elements;
    value made;
    friend constexpr bool operator==(stretch const&, stretch const&) = default;
  };

  /// Combinations come after their operands; stretches are sorted by rank, then by place.
  template <class Lazy = void>
  COLLIGO_CONSTEXPR bracketing(collective what, int p, std::vector<combination> combinations,
                               std::vector<stretch> stretches)
      : what_(what), p_(p), combinations_(std::move(combinations)), stretches_(std::move(stretches)) {}

  constexpr std::vector<stretch> const& stretches() const { return stretches_; }

  /// Every element that several ranks have has the same expression on all of them.
  template <class Lazy = void>
  constexpr bool same_on_all_ranks() const {
    if (what_ != collective::all_reduce || stretches_.empty()) return true;
    std::size_t const each = stretches_.size() / static_cast<std::size_t>(p_);
    if (stretches_.size() % static_cast<std::size_t>(p_) != 0) return false;
    for (std::size_t i = each; i < stretches_.size(); ++i)
      if (stretches_[i].elements != stretches_[i - each].elements || stretches_[i].made != stretches_[i - each].made)
        return false;
    return true;
  }
  /// Every element is combined from the lowest rank to the highest: ((a0 op a1) op a2) ...
  template <class Lazy = void>
  COLLIGO_CONSTEXPR bool sequential() const {
    for (stretch const& s : stretches_) {
      bool const is_scan = what_ == collective::scan || what_ == collective::exclusive_scan;
      int next = what_ == collective::scan ? s.rank : is_scan ? s.rank - 1 : p_ - 1;
      value v = s.made;
      for (; v >= p_; v = at(v).left)
        if (at(v).right != next--) return false;
      if (v != 0 || next != 0) return false;
    }
    return true;
  }
  /// All elements of a rank have the same expression.
  template <class Lazy = void>
  constexpr bool uniform() const {
    for (std::size_t i = 1; i < stretches_.size(); ++i)
      if (stretches_[i].rank == stretches_[i - 1].rank) return false;
    return true;
  }

  /// "((0 1) 2)"; empty for an element that is no result of this rank.
  template <class Lazy = void>
  COLLIGO_CONSTEXPR std::string text(int rank, std::size_t element) const {
    for (stretch const& s : stretches_)
      if (s.rank == rank && s.elements.first <= element && element < s.elements.last) return text_of(s.made);
    return {};
  }

  friend bool operator==(bracketing const&, bracketing const&) = default;

 private:
  COLLIGO_CONSTEXPR combination const& at(value v) const { return combinations_[static_cast<std::size_t>(v - p_)]; }
  template <class Lazy = void>
  constexpr std::string text_of(value v) const {
    if (v < p_) {
      std::string digits;
      do digits.insert(digits.begin(), static_cast<char>('0' + v % 10)); while ((v /= 10) != 0);
      return digits;
    }
    return '(' + text_of(at(v).left) + ' ' + text_of(at(v).right) + ')';
  }

  collective what_;
  int p_;
  std::vector<combination> combinations_;
  std::vector<stretch> stretches_;
};

namespace detail {

// Combinations, each once, in a hash table by operands.
template <class Lazy = void>
class combinations {
 public:
  using value = bracketing::value;

  constexpr combinations(int p, operands order) : p_(p), commute_(order == operands::commute), slots_(64, -1) {}

  constexpr value combine(value left, value right) {
    if (commute_ && before(right, left)) std::swap(left, right);
    if (2 * all_.size() >= slots_.size()) grow();
    std::size_t const slot = slot_of(left, right);
    if (slots_[slot] < 0) {
      slots_[slot] = static_cast<int>(all_.size());
      all_.push_back({{left, right}, std::min(least(left), least(right))});
    }
    return p_ + slots_[slot];
  }

  /// A value with combinations numbered in the order of their first use in a result, whatever the schedule.
  constexpr value renumbered(value v, std::vector<value>& numbers, std::vector<bracketing::combination>& kept) const {
    if (v < p_) return v;
    numbers.resize(all_.size(), -1);
    auto const i = static_cast<std::size_t>(v - p_);
    if (numbers[i] < 0) {
      value const left = renumbered(all_[i].made_of.left, numbers, kept);
      value const right = renumbered(all_[i].made_of.right, numbers, kept);
      numbers[i] = p_ + static_cast<int>(kept.size());
      kept.push_back({left, right});
    }
    return numbers[i];
  }

 private:
  struct entry {
    bracketing::combination made_of;
    int least;   // rank in it
  };
  constexpr entry const& at(value v) const { return all_[static_cast<std::size_t>(v - p_)]; }
  constexpr int least(value v) const { return v < p_ ? v : at(v).least; }
  // An order that does not depend on the schedule.
  constexpr bool before(value a, value b) const {
    if (a == b) return false;
    if (least(a) != least(b)) return least(a) < least(b);
    if (a < p_ || b < p_) return a < p_;
    auto const &x = at(a).made_of, &y = at(b).made_of;
    return x.left != y.left ? before(x.left, y.left) : before(x.right, y.right);
  }
  constexpr std::size_t slot_of(value left, value right) const {
    auto const mixed = (static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right)) *
                       0x9e3779b97f4a7c15u;
    std::size_t slot = static_cast<std::size_t>(mixed >> 32) % slots_.size();
    bracketing::combination const wanted{left, right};
    while (slots_[slot] >= 0 && all_[static_cast<std::size_t>(slots_[slot])].made_of != wanted)
      slot = (slot + 1) % slots_.size();
    return slot;
  }
  constexpr void grow() {
    slots_.assign(4 * slots_.size(), -1);
    for (std::size_t i = 0; i < all_.size(); ++i)
      slots_[slot_of(all_[i].made_of.left, all_[i].made_of.right)] = static_cast<int>(i);
  }

  int p_;
  bool commute_;
  std::vector<int> slots_;
  std::vector<entry> all_;
};

}  // namespace detail

}  // namespace colligo
