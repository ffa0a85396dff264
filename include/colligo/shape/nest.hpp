// SPDX-License-Identifier: BSL-1.0
/// @file
/// Levels of ranks, from those that share a cache to all: groups within groups.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../core/machine.hpp"
#include "../core/owner.hpp"
#include "../core/row.hpp"
#include "../core/run_list.hpp"
#include "memory_prices.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {
/// So many groups are joined at a time, or a few more, within those of a level; 0: all of them.
struct joined_groups {
  std::size_t level;
  int each;
  bool more;
  friend bool operator==(joined_groups const&, joined_groups const&) = default;
};
struct round_of_slices {
  joined_groups by;
  reads busiest;   // of the rank that waits longest
  distance far() const {
    return busiest.messages[2] ? distance::host : busiest.messages[1] ? distance::socket : distance::cache;
  }
  friend bool operator==(round_of_slices const&, round_of_slices const&) = default;
};
}  // namespace detail

/// Ranks stand in an order in which each group's follow each other, on all levels: algorithms count in these places.
class nest {
 public:
  /// Places first .. last - 1.
  struct group {
    int first, last;
    constexpr int size() const { return last - first; }
  };

  /// All ranks alike.
  explicit nest(int p) : nest(p, detail::row_of_lists(), {}, false) {
    stand_in_columns();
    regroup();
  }
  /// `levels`: the group of each rank, any numbers, innermost level first. Left out are levels with nothing to say (one
  /// rank each, all ranks, as on the level above) and those whose groups do not lie within groups of the level above.
  /// `far`: what the ranks of a group share on each level, and what all ranks do; by default caches, then sockets, then
  /// the host.
  nest(int p, std::vector<std::vector<int>> const& levels, std::vector<distance> const& far = {});
  static nest of_lists(int p, detail::row_of_lists const& levels, detail::row<distance> far);
  /// Consecutive ranks, so many on the innermost level, so many of these groups on the next one. Groups that lack ranks
  /// are the last ones. `hosts`: of each rank, a level too; groups with ranks of several are beyond; empty: all are on
  /// one. Precondition: numbers above 0.
  static nest of_sizes(int p, std::span<int const> sizes, std::span<int const> hosts = {});
  static nest of_hosts(std::span<int const> hosts);
  /// The same for a host_map. If there are many ranks it lacks columns, which take up to half a byte a rank: no slices.
  static nest without_columns(std::span<int const> hosts);

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
  /// The level before or after one that is no round at all, but was named.
  int named_before(int level) const {
    do --level;
    while (level >= 0 && levels_[index(level)].is_round);
    return level;
  }
  int named_after(int level) const {
    do ++level;
    while (level < levels() && levels_[index(level)].is_round);
    return level;
  }
  /// What ranks share whose groups of the level below differ.
  distance how_far(int level) const { return levels_[index(level)].far; }
  distance how_far(int a, int b) const {
    int level = 0;
    while (number(level, place_of(a)) != number(level, place_of(b))) ++level;
    return how_far(level);
  }
  /// The outermost level on which ranks are nearer; -1: each is alone. level_within(distance::network): hosts.
  int level_within(distance far) const {
    int level = levels() - 1;
    while (level >= 0 && how_far(level) >= far) --level;
    return level;
  }
  /// There are racks or sites: levels of hosts below all ranks.
  bool joins_hosts() const { return named_before(levels() - 1) > level_within(distance::network); }
  /// Ranks of the smallest and the largest group of a level.
  int smallest(int level) const { return level < 0 ? 1 : levels_[index(level)].ranks.first; }
  int largest(int level) const { return level < 0 ? 1 : levels_[index(level)].ranks.second; }
  /// Parts of the largest group of a level: groups of the one below.
  int most(int level) const { return levels_[index(level)].most; }
  /// Of a long round: groups of the one before that is one, in its smallest and its largest group.
  int fewest_in_long(int level) const { return levels_[index(level)].fewest_in_long; }
  int most_in_long(int level) const { return levels_[index(level)].most_in_long; }
  /// Of a round of for_whole() or for_slices() within a host: of the rank that waits longest. None: it reads from one
  /// of each part, as far away as the level says.
  detail::reads const& busiest_at(int level) const { return levels_[index(level)].busiest; }
  /// That a place is in; below the innermost level it is there alone.
  group group_at(int level, int place) const {
    if (level < 0) return {place, place + 1};
    return group_of(level, number(level, place));
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
  /// The place in a group of a level that leads the slices which another one leads in a group of that level.
  int same_slice(group of, group in, int level, int place) const;
  /// Least and most groups of level `below` in any group of a level.
  std::pair<int, int> fewest_and_most(int level, int below) const;

  /// Along which vectors of so many bytes are cut into slices, in long rounds: these levels, or others in which more
  /// ranks lead a slice, where groups of a host differ.
  nest const& for_slices(double bytes = std::numeric_limits<double>::infinity()) const {
    return !for_slices_ ? *this : for_short_slices_ && bytes < long_from_ ? *for_short_slices_ : *for_slices_;
  }

  /// The same for whole vectors, which all ranks read on each level.
  nest const& for_whole() const { return for_whole_ ? *for_whole_ : *this; }

  /// The ranks' blocks stand in columns where slices of levels are to be whole: those first that the first part of each
  /// innermost group leads, among them those that the first part of the level above leads, and so on; blocks of parts
  /// that lead none stand beside those of the part that does for them. Which place's block is the i-th.
  int place_in_columns(int i) const { return columns_.places[index(i)]; }
  /// The blocks that a place leads in a long round: part of what it leads in the one before.
  group share(int level, int place) const {
    detail::run_list const& begin = columns_.begin;
    int const finer = level < 0 ? static_cast<int>(begin.size()) - 1 : levels_[index(level)].columns_above;
    int const first = column_of(place) / finer * finer;
    return {begin[index(first)], begin[index(first + finer)]};
  }
  /// Those of its group, or of it alone below the innermost level, that are in one column with its own.
  group column_within(int level, int place) const {
    group const own = group_at(level, place);
    auto const at = [&its = columns_, column = index(column_of(place))](int bound) {
      int first = its.begin[column];
      while (first < its.begin[column + 1] && its.places[index(first)] < bound) ++first;
      return first;
    };
    return {at(own.first), at(own.last)};
  }

  /// As many slices on each level as its largest group has parts.
  bool all_lead() const {
    for (int level = long_round_after(-1); level < levels(); level = long_round_after(level))
      if (fewest_in_long(level) != most_in_long(level)) return false;
    return true;
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
    detail::run_list first;   // place of each group, and the end
    std::vector<int> group;   // of each place; empty for many places: they are searched for
    distance far = distance::host;
    bool is_round = false, is_short_round = false;
    int group_with(int place) const;
    int most = 1, fewest_in_long = 1, most_in_long = 1;
    int columns_above = 1;   // slices that its own are cut into further out
    std::pair<int, int> ranks{1, 1};
    detail::reads busiest{};
  };

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  int number(int level, int place) const {
    if (level < 0) return place;
    one_level const& its = levels_[index(level)];
    return its.group.empty() ? its.group_with(place) : its.group[index(place)];
  }
  group group_of(int level, int g) const {
    auto const& first = levels_[index(level)].first;
    return {first[index(g)], first[index(g + 1)]};
  }
  template <class F>
  void for_each_group(int level, F const& f) const {
    for (std::size_t g = 1; g < levels_[index(level)].first.size(); ++g) f(group_of(level, static_cast<int>(g) - 1));
  }
  nest(int p, detail::row_of_lists const& levels, detail::row<distance> far, bool for_slices);
  void arrange(detail::row_of_lists const& levels, detail::row<distance> const& far);
  struct ranks_in_columns {
    detail::run_list places, begin;   // by column; where each begins, and the end
  };
  void stand_in_columns();
  int column_of(int place) const {
    int column = 0;
    for (int level = long_round_after(-1); level < levels(); level = long_round_after(level))
      column = column * fewest_in_long(level) +
               part_of(long_round_before(level), group_at(level, place), place) % fewest_in_long(level);
    return column;
  }
  static one_level level_of(std::vector<int> numbers, distance far);
  bool all_pair_off() const;
  void add_round(int level, bool for_slices);
  int factor(int level, int groups, bool for_slices) const;
  void add_bounds(int level, detail::row_of_lists& known) const;
  void regroup();
  nest regrouped(detail::row<detail::round_of_slices> const& rounds, detail::row_of_lists const& known) const;
  static constexpr int most_in_slices = 16;   // to be joined in one round where vectors are long

  detail::run_list members_, places_;
  ranks_in_columns columns_;
  std::vector<one_level> levels_;
  detail::owner<nest> for_whole_, for_short_slices_, for_slices_;   // null: this, or as for long ones
  double long_from_ = 0;           // bytes
  bool consecutive_ = true, pairs_off_ = true;
};

namespace detail {
/// Groups by number, each as its lowest member.
std::vector<int> by_lowest(std::span<int const> numbers);

/// f(nest const&), of these levels; without any, of all ranks alike.
template <class F>
auto with_nest(nest const* levels, int p, F const& f) {
  return levels ? f(*levels) : f(nest(p));
}

/// `count` peers, peer(0), peer(1) ..., of different groups of a level, in the order of ranks. Where that is another
/// one few are sorted; of many each is searched for, because no call may allocate.
template <class Peer>
class in_order_of_ranks {
 public:
  in_order_of_ranks(nest const& its, int count, Peer const& peer) : its_(its), count_(count), peer_(peer) {
    if (its.pairs_off() || count > few) return;
    for (int k = 0; k < count; ++k) sorted_[static_cast<std::size_t>(k)] = peer(k);
    sort_numbers(sorted_.data(), static_cast<std::size_t>(count), nullptr,
                 [](void const*, int a, int b) { return a < b; });
  }
  int operator()(int i) const {
    if (its_.pairs_off()) return peer_(i);
    if (count_ <= few) return sorted_[static_cast<std::size_t>(i)];
    int low = 0;
    for (int high = its_.size() - 1; low < high;) {   // i of them are lower ranks
      int const middle = low + (high - low) / 2;
      int up_to = 0;
      for (int k = 0; k < count_; ++k) up_to += peer_(k) <= middle;
      if (up_to > i) high = middle;
      else low = middle + 1;
    }
    return low;
  }

 private:
  static constexpr int few = 64;

  nest const& its_;
  int count_;
  Peer const& peer_;
  std::array<int, few> sorted_;
};

/// Of policies whose tag has levels.
template <class Tag>
struct over_levels {
  Tag const& tag;

  int made_for(int p) const { return tag.levels ? tag.levels->size() : p; }
  bool in_order(int) const { return !tag.levels || tag.levels->consecutive(); }
  template <class F>
  auto with(int p, F const& f) const { return with_nest(tag.levels, p, f); }
};

}  // namespace detail

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "nest_body.hpp"
#endif
