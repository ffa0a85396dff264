// SPDX-License-Identifier: BSL-1.0
/// @file
/// Nested groups of ranks, level by level: those that share a cache, a socket, a host, and all ranks.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../core/machine.hpp"
#include "../core/owner.hpp"
#include "../core/small_vector.hpp"
#include "../core/run_list.hpp"
#include "../core/view.hpp"
#include "group_numbers.hpp"
#include "memory_prices.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {
/// Within each group of `level`, `each` consecutive groups are joined into one; 0 joins all of them. `more`: where
/// `each` does not divide their number, groups become larger rather than smaller.
struct joined_groups {
  std::size_t level;
  int each;
  bool more;
  friend bool operator==(joined_groups const&, joined_groups const&) = default;
};
struct round_of_slices {
  joined_groups by;
  reads busiest;   // what the rank reads that waits longest
  distance far() const {
    return busiest.messages[2] ? distance::host : busiest.messages[1] ? distance::socket : distance::cache;
  }
  friend bool operator==(round_of_slices const&, round_of_slices const&) = default;
};
}  // namespace detail

/// Nested groups of ranks. It sorts the ranks so that every group of every level is a run of consecutive places;
/// algorithms count in places, not in ranks.
class hierarchy {
 public:
  /// Places first .. last - 1.
  struct group {
    int first, last;
    constexpr int size() const { return last - first; }
  };

  /// One level: all ranks in one group.
  explicit hierarchy(int p) : hierarchy(p, detail::row_of_lists(), {}, false) {
    stand_in_columns();
    regroup();
  }
  /// `levels`: the group of each rank, as any numbers; innermost level first. Dropped are levels that distinguish
  /// nothing (one rank per group, one group of all, the groups of the level above), and levels whose groups do not lie
  /// within groups of the level above. `far`: what the ranks of a group share on each level, then what all ranks share;
  /// by default a cache, a socket, a host. Throws argument_error if a level is not a list of p groups.
  hierarchy(int p, std::vector<std::vector<int>> const& levels, std::vector<distance> const& far = {});
  static hierarchy of_lists(int p, detail::row_of_lists const& levels, detail::small_vector<distance> far);
  /// Groups of sizes[0] consecutive ranks, then groups of sizes[1] of these groups, and so on; the last groups may be
  /// smaller. `hosts`: the host of each rank, one more level, below the groups with ranks of several hosts; empty: all
  /// ranks are on one host. A size whose groups neither lie within hosts nor hold whole ones is left out. Throws
  /// argument_error for sizes below 1, and for hosts that are not p.
  static hierarchy of_sizes(int p, std::span<int const> sizes, std::span<int const> hosts = {});
  static hierarchy of_hosts(std::span<int const> hosts);
  /// Of the ranks' reports on their cores, without levels that some rank does not know: for each level the number of
  /// what a rank shares there. `hosts`: as above.
  static hierarchy of_domains(int p, detail::view<detail::run_list const> domains, detail::run_list const& hosts);
  /// The same for a host_map. With many ranks it has no columns (they take up to half a byte per rank), so no slices.
  static hierarchy without_columns(std::span<int const> hosts);

  int size() const { return static_cast<int>(members_.size()); }
  int rank_at(int place) const { return members_[index(place)]; }
  int place_of(int rank) const { return places_[index(rank)]; }
  /// Every place is its rank.
  bool consecutive() const { return consecutive_; }
  /// Partners of an exchange have the same rank order as their groups, so all ranks combine in the same order.
  bool pairs_off() const { return pairs_off_; }

  /// The number of levels. Each joins the groups of the level below; the last joins all ranks. Many groups are joined
  /// in several rounds, each of which is a level of its own.
  int levels() const { return static_cast<int>(levels_.size()); }
  /// A round that pays only for short messages.
  bool is_short_round(int level) const { return levels_[index(level)].is_short_round; }
  /// The nearest level below or above that is no such round; -1 below the first, levels() above the last.
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
  /// The nearest level below or above that was given to the constructor, not added as a round.
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
  /// What two ranks share that are in one group of this level, but in different ones of the level below.
  distance how_far(int level) const { return levels_[index(level)].far; }
  distance how_far(int a, int b) const {
    int level = 0;
    while (number(level, place_of(a)) != number(level, place_of(b))) ++level;
    return how_far(level);
  }
  /// The outermost level whose ranks are nearer than `far`, -1 if none is. level_within(distance::network): the hosts.
  int level_within(distance far) const {
    int level = levels() - 1;
    while (level >= 0 && how_far(level) >= far) --level;
    return level;
  }
  /// There is a level between hosts and all ranks: racks, sites.
  bool joins_hosts() const { return named_before(levels() - 1) > level_within(distance::network); }
  /// The number of ranks in the smallest and in the largest group of a level.
  int smallest(int level) const { return level < 0 ? 1 : levels_[index(level)].ranks.first; }
  int largest(int level) const { return level < 0 ? 1 : levels_[index(level)].ranks.second; }
  /// The largest number of groups of the level below in a group of this level.
  int most(int level) const { return levels_[index(level)].most; }
  /// The same for rounds of long messages: the least and the largest number of groups of the long round before.
  int fewest_in_long(int level) const { return levels_[index(level)].fewest_in_long; }
  int most_in_long(int level) const { return levels_[index(level)].most_in_long; }
  /// In a round of for_whole() or for_slices() within a host: what the rank reads that waits longest. none(): one
  /// message from each other part, from as far away as how_far(level).
  detail::reads const& busiest_at(int level) const { return levels_[index(level)].busiest; }
  /// The group that a place is in; on level -1 each place is a group.
  group group_at(int level, int place) const {
    if (level < 0) return {place, place + 1};
    return group_of(level, number(level, place));
  }
  /// How many groups of a level a group of a higher level consists of, and the k-th of these parts.
  int parts(int level, group of) const { return number(level, of.last - 1) - number(level, of.first) + 1; }
  group part(int level, group of, int k) const {
    return level < 0 ? group{of.first + k, of.first + k + 1} : group_of(level, number(level, of.first) + k);
  }
  /// The number of the part that a place is in.
  int part_of(int level, group of, int place) const { return number(level, place) - number(level, of.first); }
  /// Whom a place of group `own` reads in another group: the member at the same position, modulo the group's size.
  static int partner(group of, group own, int place) { return of.first + (place - own.first) % of.size(); }
  /// The place in group `of` of a level that leads the slice which `place` leads in group `in` of the same level.
  int same_slice(group of, group in, int level, int place) const;
  /// The least and the largest number of groups of level `below` in a group of `level`.
  std::pair<int, int> fewest_and_most(int level, int below) const;

  /// The groups along whose long rounds a vector of `bytes` is cut into slices: this hierarchy, or, where the groups of
  /// a host differ in size, another one in which more ranks lead a slice.
  hierarchy const& for_slices(double bytes = detail::beyond_all) const {
    return !for_slices_ ? *this : for_short_slices_ && bytes < long_from_ ? *for_short_slices_ : *for_slices_;
  }

  /// The same for vectors that stay whole: all ranks read all of it on each level.
  hierarchy const& for_whole() const { return for_whole_ ? *for_whole_ : *this; }

  /// An order of the ranks' blocks in which the slices of every level are contiguous ("columns"): first the blocks that
  /// the first part of each innermost group leads, among these first those that the first part of the next level leads,
  /// and so on. A part that leads no slice has its blocks beside those of the part that stands in for it. Returns the
  /// place whose block is the i-th.
  int place_in_columns(int i) const { return columns_.places[index(i)]; }
  /// The columns that a place leads in a long round, a subset of what it leads in the round before.
  group share(int level, int place) const {
    detail::run_list const& begin = columns_.begin;
    int const finer = level < 0 ? static_cast<int>(begin.size()) - 1 : levels_[index(level)].columns_above;
    int const first = column_of(place) / finer * finer;
    return {begin[index(first)], begin[index(first + finer)]};
  }
  /// The blocks of its group (on level -1: its own block) in the column of its own block.
  group column_within(int level, int place) const {
    group const own = group_at(level, place);
    auto const at = [&columns = columns_, column = index(column_of(place))](int bound) {
      int first = columns.begin[column];
      while (first < columns.begin[column + 1] && columns.places[index(first)] < bound) ++first;
      return first;
    };
    return {at(own.first), at(own.last)};
  }

  /// On each level every part of every group leads a slice.
  bool all_lead() const {
    for (int level = long_round_after(-1); level < levels(); level = long_round_after(level))
      if (fewest_in_long(level) != most_in_long(level)) return false;
    return true;
  }
  /// On each level all groups have equally many parts.
  bool even() const {
    for (int level = 0; level < levels(); ++level)
      if (auto const [fewest, most] = fewest_and_most(level, level - 1); fewest != most) return false;
    return true;
  }
  /// "4 x 16 x 2", without added rounds; "4 x 3..5" where groups differ in size.
  std::string text() const;

 private:
  struct one_level {
    detail::run_list first;   // first place of each group, and the end
    std::vector<int> group;   // of each place; empty for many places, whose group is searched for
    distance far = distance::host;
    bool is_round = false, is_short_round = false;
    int group_with(int place) const;
    int most = 1, fewest_in_long = 1, most_in_long = 1;
    int columns_above = 1;   // into how many slices higher levels cut a slice of this level
    std::pair<int, int> ranks{1, 1};
    detail::reads busiest{};
  };

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  int number(int level, int place) const {
    if (level < 0) return place;
    one_level const& here = levels_[index(level)];
    return here.group.empty() ? here.group_with(place) : here.group[index(place)];
  }
  group group_of(int level, int g) const {
    auto const& first = levels_[index(level)].first;
    return {first[index(g)], first[index(g + 1)]};
  }
  template <class F>
  void for_each_group(int level, F const& f) const {
    for (std::size_t g = 1; g < levels_[index(level)].first.size(); ++g) f(group_of(level, static_cast<int>(g) - 1));
  }
  hierarchy(int p, detail::row_of_lists const& levels, detail::small_vector<distance> far, bool for_slices);
  void arrange(detail::row_of_lists const& levels, detail::small_vector<distance> const& far);
  struct ranks_in_columns {
    detail::run_list places, begin;   // sorted by column; where each column begins, and the end
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
  hierarchy regrouped(detail::small_vector<detail::round_of_slices> const& rounds,
                      detail::row_of_lists const& known) const;
  static constexpr int most_in_slices = 16;   // groups joined in one round of slices

  detail::run_list members_, places_;
  ranks_in_columns columns_;
  std::vector<one_level> levels_;
  detail::owner<hierarchy> for_whole_, for_slices_;   // null: this hierarchy
  detail::owner<hierarchy> for_short_slices_;   // null: for_slices_
  double long_from_ = 0;   // bytes from which slices are long
  bool consecutive_ = true, pairs_off_ = true;
};

using nest = hierarchy;   ///< The name in earlier versions.

namespace detail {
/// Calls f(*levels), or f(hierarchy(p)) without levels.
template <class F>
auto with_hierarchy(hierarchy const* levels, int p, F const& f) {
  return levels ? f(*levels) : f(hierarchy(p));
}

/// The peers peer(0) .. peer(count - 1), in the order of their ranks. Where peer() has another order, up to 64 peers
/// are sorted; of more each is searched for, because no call may allocate.
template <class Peer>
class in_order_of_ranks {
 public:
  in_order_of_ranks(hierarchy const& groups, int count, Peer const& peer)
      : groups_(groups), count_(count), peer_(peer) {
    if (groups.pairs_off() || count > few) return;
    for (int k = 0; k < count; ++k) sorted_[static_cast<std::size_t>(k)] = peer(k);
    sort_numbers(sorted_.data(), static_cast<std::size_t>(count), nullptr,
                 [](void const*, int a, int b) { return a < b; });
  }
  int operator()(int i) const {
    if (groups_.pairs_off()) return peer_(i);
    if (count_ <= few) return sorted_[static_cast<std::size_t>(i)];
    int low = 0;
    for (int high = groups_.size() - 1; low < high;) {   // the rank below which there are i peers
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

  hierarchy const& groups_;
  int count_;
  Peer const& peer_;
  std::array<int, few> sorted_;
};

/// Base of policies whose tag has levels.
template <class Tag>
struct over_levels {
  Tag const& tag;

  int made_for(int p) const { return tag.levels ? tag.levels->size() : p; }
  bool in_order(int) const { return !tag.levels || tag.levels->consecutive(); }
  template <class F>
  auto with(int p, F const& f) const { return with_hierarchy(tag.levels, p, f); }
};

}  // namespace detail

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "hierarchy_body.hpp"
#endif
