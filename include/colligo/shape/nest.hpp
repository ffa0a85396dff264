// SPDX-License-Identifier: BSL-1.0
/// @file
/// Levels of ranks, from those that share a cache to all: groups within groups.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../core/mode.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Ranks stand in an order in which each group's follow each other, on all levels: algorithms count in these places.
class nest {
 public:
  /// Places first .. last - 1.
  struct group {
    int first, last;
    constexpr int size() const { return last - first; }
  };

  /// All ranks alike.
  explicit nest(int p) : nest(p, {}) {}
  /// `levels`: the group of each rank, any numbers, innermost level first. Left out are levels with nothing to say (one
  /// rank each, all ranks, as on the level above) and those whose groups do not lie within groups of the level above.
  nest(int p, std::vector<std::vector<int>> levels);
  /// Consecutive ranks, so many on the innermost level, so many of these groups on the next one. Groups that lack ranks
  /// are the last ones. Precondition: numbers above 0.
  static nest of_sizes(int p, std::span<int const> sizes);

  int size() const { return static_cast<int>(members_.size()); }
  /// Which rank is at a place, and where a rank is.
  int rank_at(int place) const { return members_[index(place)]; }
  int place_of(int rank) const { return places_[index(rank)]; }
  /// Places are ranks.
  bool consecutive() const { return consecutive_; }
  /// Those who exchange stand in the order of ranks as their groups do, so that all combine in the same order.
  bool pairs_off() const { return pairs_off_; }

  /// Levels, each of which joins the groups of the one before; the last one joins all ranks. Many groups are joined in
  /// several rounds: there is a level for each.
  int levels() const { return static_cast<int>(levels_.size()); }
  /// A round that is worth it only where what is exchanged is short.
  bool is_short_round(int level) const { return levels_[index(level)].is_short_round; }
  /// The level before or after one that is no such round; -1 before the first, levels() after the last.
  int long_round_before(int level) const {
    do --level;
    while (level >= 0 && is_short_round(level));
    return level;
  }
  int long_round_after(int level) const {
    do ++level;
    while (level < levels() && is_short_round(level));
    return level;
  }
  /// Parts of the smallest group of a level that is no such round: groups of the one before.
  int fewest(int level) const { return levels_[index(level)].fewest; }
  /// That a place is in; below the innermost level it is there alone.
  group group_at(int level, int place) const {
    if (level < 0) return {place, place + 1};
    return group_of(level, levels_[index(level)].group[index(place)]);
  }
  /// The groups of a level that a group of a level above consists of, and the k-th of them.
  int parts(int level, group of) const { return number(level, of.last - 1) - number(level, of.first) + 1; }
  group part(int level, group of, int k) const {
    return level < 0 ? group{of.first + k, of.first + k + 1} : group_of(level, number(level, of.first) + k);
  }
  /// Which of them a place is in.
  int part_of(int level, group of, int place) const { return number(level, place) - number(level, of.first); }
  /// In a group that `own` is not, whom a place of `own` reads: the member at the same place, or round again.
  static int partner(group of, group own, int place) { return of.first + (place - own.first) % of.size(); }
  /// Least and most groups of level `below` in any group of a level.
  std::pair<int, int> fewest_and_most(int level, int below) const;

  /// The ranks' blocks stand in columns where slices of levels are to be whole: those first that the first part of each
  /// innermost group leads, among them those that the first part of the level above leads, and so on; blocks of parts
  /// that lead none stand beside those of the part that does for them. Which place's block is the i-th.
  int place_in_columns(int i) const { return columns_[index(i)]; }
  /// The blocks that a place leads on a level that is no short round: part of what it leads on the level below.
  group share(int level, int place) const {
    int const finer = level < 0 ? static_cast<int>(column_begin_.size()) - 1 : levels_[index(level)].columns_above;
    int const first = column_[index(place)] / finer * finer;
    return {column_begin_[index(first)], column_begin_[index(first + finer)]};
  }
  /// Those of its group, or of it alone below the innermost level, that are in one column with its own.
  group column_within(int level, int place) const {
    group const own = group_at(level, place);
    auto const at = [this, column = index(column_[index(place)])](int bound) {
      int first = column_begin_[column];
      while (first < column_begin_[column + 1] && columns_[index(first)] < bound) ++first;
      return first;
    };
    return {at(own.first), at(own.last)};
  }

  /// On each level all groups have as many parts.
  bool even() const {
    for (int level = 0; level < levels(); ++level)
      if (auto const [fewest, most] = fewest_and_most(level, level - 1); fewest != most) return false;
    return true;
  }
  /// "4 x 16 x 2", without rounds; "4 x 3..5" where groups differ.
  std::string text() const;

 private:
  struct one_level {
    std::vector<int> group, first;   // of each place; of each group, and the end
    bool is_short_round = false;
    int fewest = 1, columns_above = 1;   // slices that those of the level are cut into further out
  };

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  int number(int level, int place) const { return level < 0 ? place : levels_[index(level)].group[index(place)]; }
  group group_of(int level, int g) const {
    auto const& first = levels_[index(level)].first;
    return {first[index(g)], first[index(g + 1)]};
  }
  void arrange(std::vector<std::vector<int>> const& levels);
  void stand_in_columns();
  static one_level level_of(std::vector<int> numbers);
  bool all_pair_off() const;
  void add_round(int level);
  static int factor(int groups);
  static constexpr int most_in_slices = 16;   // to be joined in one round where vectors are long

  std::vector<int> members_, places_;
  std::vector<int> column_, columns_, column_begin_;   // of each place; places by column; where each begins, the end
  std::vector<one_level> levels_;
  bool consecutive_ = true, pairs_off_ = true;
};

namespace detail {
/// f(nest const&), of these levels; without any, of all ranks alike.
template <class F>
auto with_nest(nest const* levels, int p, F const& f) {
  return levels ? f(*levels) : f(nest(p));
}

/// Which of `count` peers, peer(0), peer(1) ..., of different groups of a level, is the i-th in the order of ranks.
template <class Peer>
int in_order_of_ranks(nest const& its, int i, int count, Peer const& peer) {
  if (its.pairs_off()) return i;
  for (int k = 0;; ++k) {
    int before = 0;
    for (int j = 0; j < count; ++j) before += peer(j) < peer(k);
    if (before == i) return k;
  }
}

/// Of policies whose tag has levels.
template <class Tag>
struct over_levels {
  Tag const& tag;

  int made_for(int p) const { return tag.levels ? tag.levels->size() : p; }
  bool in_order(int) const { return !tag.levels || tag.levels->consecutive(); }
  template <class F>
  auto with(int p, F const& f) const { return with_nest(tag.levels, p, f); }
};

/// Groups by number, each as its lowest member.
inline std::vector<int> by_lowest(std::vector<int> const& numbers) {
  std::vector<int> order(numbers.size()), lowest(numbers.size());
  std::iota(order.begin(), order.end(), 0);
  auto const number = [&](int r) { return numbers[static_cast<std::size_t>(r)]; };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return number(a) < number(b); });
  for (std::size_t i = 0; i < order.size(); ++i) {
    auto const r = static_cast<std::size_t>(order[i]);
    bool const begins = i == 0 || number(order[i]) != number(order[i - 1]);
    lowest[r] = begins ? order[i] : lowest[static_cast<std::size_t>(order[i - 1])];
  }
  return lowest;
}
}  // namespace detail

[[gnu::cold]] inline nest::nest(int p, std::vector<std::vector<int>> levels) : members_(index(p)), places_(index(p)) {
  std::vector<int> above(index(p), 0);   // all ranks
  std::vector<std::vector<int>> kept;
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    std::vector<int> its = detail::by_lowest(*level);
    bool alone = true, within = true;
    for (std::size_t r = 0; r < its.size(); ++r) {
      alone = alone && its[r] == static_cast<int>(r);
      within = within && above[r] == above[index(its[r])];
    }
    if (alone || !within || its == above) continue;
    above = its;
    kept.insert(kept.begin(), std::move(its));
  }
  arrange(kept);
  pairs_off_ = all_pair_off();
  for (int level = 0; level < this->levels(); ++level) add_round(level);
  for (int level = 0; level < this->levels(); ++level)
    levels_[index(level)].fewest = fewest_and_most(level, long_round_before(level)).first;
  stand_in_columns();
}

// Ranks sorted by the groups that they are in, from the outermost on.
[[gnu::cold]] inline void nest::arrange(std::vector<std::vector<int>> const& levels) {
  std::iota(members_.begin(), members_.end(), 0);
  for (auto const& level : levels)
    std::stable_sort(members_.begin(), members_.end(), [&](int a, int b) { return level[index(a)] < level[index(b)]; });
  consecutive_ = std::is_sorted(members_.begin(), members_.end());
  for (std::size_t place = 0; place < members_.size(); ++place)
    places_[index(members_[place])] = static_cast<int>(place);
  levels_.clear();
  for (auto const& level : levels) {
    std::vector<int> numbers;
    for (std::size_t place = 0; place < members_.size(); ++place) {
      bool const begins = place == 0 || level[index(members_[place])] != level[index(members_[place - 1])];
      numbers.push_back(place == 0 ? 0 : numbers.back() + begins);
    }
    levels_.push_back(level_of(std::move(numbers)));
  }
  levels_.push_back(level_of(std::vector<int>(members_.size(), 0)));
}

[[gnu::cold]] inline void nest::stand_in_columns() {
  int count = 1;
  column_.assign(index(size()), 0);
  for (int level = long_round_after(-1); level < levels(); level = long_round_after(level)) {
    int const below = long_round_before(level), slices = fewest(level);
    for (int place = 0; place < size(); ++place) {
      int& column = column_[index(place)];
      column = column * slices + part_of(below, group_at(level, place), place) % slices;
    }
    count *= slices;
    for (int i = 0; i < level; ++i) levels_[index(i)].columns_above *= slices;
  }
  columns_.resize(index(size()));
  column_begin_.assign(index(count) + 2, 0);
  for (int const column : column_) ++column_begin_[index(column) + 2];
  for (int column = 0; column < count; ++column) column_begin_[index(column) + 2] += column_begin_[index(column) + 1];
  for (int place = 0; place < size(); ++place)
    columns_[index(column_begin_[index(column_[index(place)]) + 1]++)] = place;
  column_begin_.pop_back();
}

inline nest::one_level nest::level_of(std::vector<int> numbers) {
  one_level its{std::move(numbers), {0}, false, 1, 1};
  for (std::size_t place = 1; place <= its.group.size(); ++place)
    if (place == its.group.size() || its.group[place] != its.group[place - 1])
      its.first.push_back(static_cast<int>(place));
  return its;
}

inline bool nest::all_pair_off() const {
  if (consecutive_) return true;
  for (int level = 0; level < levels(); ++level)
    for (int place = 0; place < size(); ++place) {
      group const all = group_at(level, place), own = group_at(level - 1, place);
      for (int k = 0, before = -1; k < parts(level - 1, all); ++k) {
        int const its = rank_at(partner(part(level - 1, all, k), own, place));
        if (std::exchange(before, its) >= its) return false;
      }
    }
  return true;
}

// In front of a level that joins many groups: some of them first.
[[gnu::cold]] inline void nest::add_round(int level) {
  int const most = fewest_and_most(level, level - 1).second, its_factor = factor(most);
  if (its_factor == 0) return;
  std::vector<int> numbers;
  int next = 0;
  for (int place = 0; place < size();) {
    group const all = group_at(level, place);
    int const its_parts = parts(level - 1, all), made = (its_parts + its_factor - 1) / its_factor;
    for (; place < all.last; ++place) numbers.push_back(next + part_of(level - 1, all, place) * made / its_parts);
    next += made;
  }
  levels_.insert(levels_.begin() + level, level_of(std::move(numbers)));
  levels_[index(level)].is_short_round = most <= most_in_slices;
  if (pairs_off_ && !all_pair_off()) levels_.erase(levels_.begin() + level);
}

// Of so many groups, how many to join in the first of several rounds, a divisor if there is one about as large; 0: all
// in one round. Rounds of four to nine are within a fifth of the best, whatever a line's way costs.
inline int nest::factor(int groups) {
  constexpr int most = 9;
  if (groups <= most) return 0;
  double const rounds = std::ceil(std::log(groups) / std::log(most) - 1e-9), root = std::pow(groups, 1 / rounds);
  int best = 0;
  for (int f = 2; f <= most; ++f)
    if (groups % f == 0 && std::abs(f - root) < std::abs(best - root)) best = f;
  return std::abs(best - root) <= 2 ? best : static_cast<int>(root);
}

inline std::pair<int, int> nest::fewest_and_most(int level, int below) const {
  std::pair<int, int> its{size(), 0};
  for (int place = 0; place < size();) {
    group const all = group_at(level, place);
    int const n = parts(below, all);
    its = {std::min(its.first, n), std::max(its.second, n)};
    place = all.last;
  }
  return its;
}

[[gnu::cold]] inline nest nest::of_sizes(int p, std::span<int const> sizes) {
  std::vector<std::vector<int>> levels;
  long long together = 1;
  for (int const n : sizes) {
    together = std::min<long long>(together * n, p);
    auto& level = levels.emplace_back();
    for (int r = 0; r < p; ++r) level.push_back(static_cast<int>(r / together));
  }
  return nest(p, std::move(levels));
}

[[gnu::cold]] inline std::string nest::text() const {
  std::string said;
  for (int level = long_round_after(-1); level < levels(); level = long_round_after(level)) {
    auto const [fewest, most] = fewest_and_most(level, long_round_before(level));
    if (!said.empty()) said += " x ";
    said += std::to_string(fewest);
    if (most != fewest) said += ".." + std::to_string(most);
  }
  return said;
}

}  // namespace colligo
