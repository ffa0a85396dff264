// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of hierarchy.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "../core/error.hpp"
#include "../core/strings.hpp"
#include "hierarchy.hpp"
#include "round_search_body.hpp"

namespace colligo::inline COLLIGO_MODE {

[[gnu::cold]] COLLIGO_BODY hierarchy::hierarchy(int p, std::vector<std::vector<int>> const& levels,
                                      std::vector<distance> const& far)
    : hierarchy(p, [&] {
        detail::row_of_lists lists;
        for (std::size_t level = 0; level < levels.size(); ++level) {
          if (levels[level].size() != static_cast<std::size_t>(p))
            throw argument_error(detail::concat({"colligo: a hierarchy of ", p, " ranks: level ", level,
                                                 " has the groups of ", levels[level].size()}));
          lists.add(levels[level]);
        }
        return lists;
      }(), {far.data(), far.data() + far.size()}, false) {
  stand_in_columns();
  regroup();
}

[[gnu::cold]] COLLIGO_BODY hierarchy hierarchy::of_lists(int p, detail::row_of_lists const& levels,
                                                         detail::small_vector<distance> far) {
  hierarchy made(p, levels, std::move(far), false);
  made.stand_in_columns();
  made.regroup();
  return made;
}

[[gnu::cold]] COLLIGO_BODY hierarchy hierarchy::without_columns(std::span<int const> hosts) {
  if (hosts.size() <= detail::run_list::few) return of_hosts(hosts);
  distance const far[] = {distance::host, distance::network};
  detail::row_of_lists levels;
  levels.add(hosts);
  return hierarchy(static_cast<int>(hosts.size()), levels, {far, far + 2}, false);
}

[[gnu::cold]] COLLIGO_BODY hierarchy::hierarchy(int p, detail::row_of_lists const& levels,
                                                detail::small_vector<distance> far, bool for_slices) {
  for (std::size_t level = far.size(); level < levels.size(); ++level)
    far.push_back(static_cast<distance>(std::min<std::size_t>(level, 2)));
  if (far.size() == levels.size()) far.push_back(distance::host);
  std::vector<int> above(index(p), 0);   // one group of all ranks
  members_ = above;   // for size()
  detail::row_of_lists kept;   // the outermost one first
  detail::small_vector<distance> kept_far;   // of all ranks, then of the kept levels
  kept_far.push_back(far.back());
  for (std::size_t level = levels.size(); level-- > 0;) {
    std::vector<int> lowest = detail::by_lowest(levels[level]);
    bool alone = true, within = true;
    for (std::size_t r = 0; r < lowest.size(); ++r) {
      alone = alone && lowest[r] == static_cast<int>(r);
      within = within && above[r] == above[index(lowest[r])];
    }
    if (lowest == above) kept_far.back() = far[level];   // the same groups share something nearer
    if (alone || !within || lowest == above) continue;
    kept.add(lowest);
    kept_far.push_back(far[level]);
    above = std::move(lowest);
  }
  arrange(kept, kept_far);
  pairs_off_ = all_pair_off();
  for (int level = 0; level < this->levels(); ++level) add_round(level, for_slices);
  for (int level = 0; level < this->levels(); ++level) {
    one_level& here = levels_[index(level)];
    auto const [fewest, most] = fewest_and_most(level, long_round_before(level));
    here.fewest_in_long = fewest, here.most_in_long = most;
    here.most = fewest_and_most(level, level - 1).second;
    here.ranks = fewest_and_most(level, -1);
  }
  for (int level = long_round_after(-1); level < this->levels(); level = long_round_after(level))
    for (int i = 0; i < level; ++i) levels_[index(i)].columns_above *= fewest_in_long(level);
}

// Sorts the ranks by their groups: stably by each level, the outermost last.
[[gnu::cold]] COLLIGO_BODY void hierarchy::arrange(detail::row_of_lists const& levels,
                                             detail::small_vector<distance> const& far) {
  std::vector<int> members(members_.size()), places(members_.size());
  std::iota(members.begin(), members.end(), 0);
  for (std::size_t i = levels.size(); i-- > 0;) detail::sort_by(levels[i], size(), members);
  for (std::size_t place = 0; place < members.size(); ++place) {
    places[index(members[place])] = static_cast<int>(place);
    consecutive_ = consecutive_ && members[place] == static_cast<int>(place);
  }
  levels_.clear();
  for (std::size_t i = levels.size(); i-- > 0;) {
    std::span<int const> const level = levels[i];
    std::vector<int> numbers;
    for (std::size_t place = 0; place < members.size(); ++place) {
      bool const begins = place == 0 || level[index(members[place])] != level[index(members[place - 1])];
      numbers.push_back(place == 0 ? 0 : numbers.back() + begins);
    }
    levels_.push_back(level_of(std::move(numbers), far[i + 1]));
  }
  levels_.push_back(level_of(std::vector<int>(members.size(), 0), far[0]));
  members_ = std::move(members), places_ = std::move(places);
}

// Computes column_of() for all places at once.
[[gnu::cold]] COLLIGO_BODY void hierarchy::stand_in_columns() {
  std::vector<int> column(index(size()), 0), places(index(size()));
  int count = 1;
  for (int level = long_round_after(-1); level < levels(); level = long_round_after(level)) {
    int const slices = fewest_in_long(level), below = long_round_before(level);
    count *= slices;
    for_each_group(level, [&](group all) {
      for (int k = 0, n = parts(below, all); k < n; ++k) {
        group const slice = part(below, all, k);
        for (int place = slice.first; place < slice.last; ++place)
          column[index(place)] = column[index(place)] * slices + k % slices;
      }
    });
  }
  std::iota(places.begin(), places.end(), 0);
  std::vector<int> begin = detail::sort_by(column, count, places);
  columns_ = {std::move(places), std::move(begin)};
}

COLLIGO_BODY hierarchy::one_level hierarchy::level_of(std::vector<int> numbers, distance far) {
  std::vector<int> first{0};
  for (std::size_t place = 1; place <= numbers.size(); ++place)
    if (place == numbers.size() || numbers[place] != numbers[place - 1]) first.push_back(static_cast<int>(place));
  if (numbers.size() > detail::run_list::few) numbers = std::vector<int>();
  return {.first = std::move(first), .group = std::move(numbers), .far = far};
}

COLLIGO_BODY int hierarchy::one_level::group_with(int place) const {
  std::size_t at = 0;
  for (std::size_t behind = first.size() - 1; behind - at > 1;) {
    std::size_t const middle = (at + behind) / 2;
    (first[middle] <= place ? at : behind) = middle;
  }
  return static_cast<int>(at);
}

// Compares each place with its partner in the next part; after lcm(sizes) places the pairs repeat.
[[gnu::cold]] COLLIGO_BODY bool hierarchy::all_pair_off() const {
  if (consecutive_) return true;
  bool in_order = true;
  for (int level = 0; level < levels(); ++level)
    for_each_group(level, [&](group all) {
      int const n = parts(level - 1, all);
      int longest = 1;
      for (int k = 0; k < n; ++k) longest = std::max(longest, part(level - 1, all, k).size());
      for (int k = 1; in_order && k < n; ++k) {
        group const before = part(level - 1, all, k - 1), next = part(level - 1, all, k);
        std::int64_t const pairs = std::lcm(std::int64_t{before.size()}, std::int64_t{next.size()});
        for (int i = 0; in_order && i < std::min<std::int64_t>(longest, pairs); ++i)
          in_order = rank_at(before.first + i % before.size()) < rank_at(next.first + i % next.size());
      }
    });
  return in_order;
}

// Where a level joins many groups, inserts a level below it that joins some of them first.
[[gnu::cold]] COLLIGO_BODY void hierarchy::add_round(int level, bool for_slices) {
  int const most = fewest_and_most(level, level - 1).second, joins = factor(level, most, for_slices);
  if (joins == 0) return;
  std::vector<int> numbers;
  int next = 0;
  for_each_group(level, [&](group all) {
    int const groups = parts(level - 1, all), made = (groups + joins - 1) / joins;
    for (int k = 0; k < groups; ++k)
      for (int i = part(level - 1, all, k).size(); i > 0; --i) numbers.push_back(next + k * made / groups);
    next += made;
  });
  levels_.push_back(level_of(std::move(numbers), how_far(level)));
  for (std::size_t i = levels_.size(); --i > index(level);) std::swap(levels_[i], levels_[i - 1]);
  levels_[index(level)].is_round = true;
  levels_[index(level)].is_short_round = !for_slices && most <= most_in_slices;
  if (!pairs_off_ || all_pair_off()) return;
  for (std::size_t i = index(level) + 1; i < levels_.size(); ++i) std::swap(levels_[i], levels_[i - 1]);
  levels_.pop_back();
}

// How many of up to `groups` parts to join in the first of several rounds, preferably a divisor of all groups' numbers
// of parts; 0: join all in one round. The farther away cache lines are, the more are read at once, so several rounds
// pay only for more parts. For slices they pay where all groups have equally many parts, or very many.
COLLIGO_BODY int hierarchy::factor(int level, int groups, bool for_slices) const {
  int const most = for_slices ? most_in_slices : 9;
  bool const is_chosen = for_slices && how_far(level) != distance::network;   // by round_search
  if (groups <= (is_chosen ? most + 4 : for_slices ? most : how_far(level) == distance::cache ? 10 : 12)) return 0;
  double const rounds = std::ceil(std::log(groups) / std::log(most) - 1e-9), root = std::pow(groups, 1 / rounds);
  int common = groups, best = 0;
  for_each_group(level, [&](group all) { common = std::gcd(common, parts(level - 1, all)); });
  for (int f = 2; f <= most; ++f) {
    if (common % f != 0) continue;
    if (for_slices && f > root - 1e-9) return f;
    if (std::abs(f - root) < std::abs(best - root)) best = f;
  }
  if (for_slices && groups <= most + 4) return 0;
  return std::abs(best - root) <= (common == groups ? 2 : 3) ? best : static_cast<int>(root);
}

// Adds a list: where each group of the level begins, and the end.
COLLIGO_BODY void hierarchy::add_bounds(int level, detail::row_of_lists& known) const {
  known.push_back(0);
  for (int at = 0; at < size();) known.push_back(at = group_at(level, at).last);
  known.end_list();
}

// Where groups of a host differ in size, chooses other groups, with shorter waits. Ranks keep their places.
[[gnu::cold]] COLLIGO_BODY void hierarchy::regroup() {
  if (size() <= 8 || index(size()) > detail::run_list::few || (even() && all_lead())) return;
  detail::row_of_lists known;
  auto const slice = [&](detail::owner<hierarchy>& made, detail::small_vector<detail::round_of_slices> const& rounds) {
    made = detail::owner<hierarchy>(new hierarchy(regrouped(rounds, known)));
    made->stand_in_columns();
  };
  int const host = level_within(distance::network);
  if (host < 0) return slice(for_slices_, {});
  detail::small_vector<distance> far;
  for (int level = named_after(-1); level <= host; level = named_after(level))
    add_bounds(level, known), far.push_back(how_far(level));
  detail::best_rounds const& best = detail::best_of(detail::make_owner<detail::best_rounds>(known, far));
  if (!even()) {
    for_whole_ = detail::owner<hierarchy>(new hierarchy(regrouped(best.whole, known)));
    if (!for_whole_->pairs_off()) for_whole_.reset();
  }
  if (all_lead()) return;
  slice(for_slices_, best.many);
  if (best.few == best.many) return;
  slice(for_short_slices_, best.few);
  long_from_ = best.long_from;
}

[[gnu::cold]] COLLIGO_BODY hierarchy hierarchy::regrouped(detail::small_vector<detail::round_of_slices> const& rounds,
                                                detail::row_of_lists const& known) const {
  detail::row_of_lists levels, outer;
  detail::small_vector<distance> far;
  detail::small_vector<int> numbers(index(size()));
  auto const add = [&](std::span<int const> groups, distance how_far) {
    for (int g = 0, place = 0; place < size(); ++place) {
      g += place == groups[index(g + 1)];
      numbers[index(rank_at(place))] = g;
    }
    levels.add(numbers);
    far.push_back(how_far);
  };
  detail::small_vector<int> groups(index(size() + 1));
  std::iota(groups.begin(), groups.end(), 0);
  for (auto const& each : rounds) {
    groups = detail::round_search::joined(groups, known[each.by.level], each.by);
    add(groups, each.far());
  }
  for (int level = named_after(level_within(distance::network)); level < this->levels(); level = named_after(level)) {
    add_bounds(level, outer);
    add(outer[outer.size() - 1], how_far(level));
  }
  levels.pop_back();   // the group of all ranks, which the constructor adds
  hierarchy made(size(), levels, std::move(far), true);
  for (int level = 0; level < static_cast<int>(rounds.size()) && !made.levels_[index(level)].is_round; ++level)
    made.levels_[index(level)].busiest = rounds[index(level)].busiest;
  return made;
}

[[gnu::noinline]] COLLIGO_BODY int hierarchy::same_slice(group of, group in, int level, int place) const {
  while (level >= 0) {
    level = long_round_before(level);
    int const within = part_of(level, in, place);
    of = part(level, of, within), in = part(level, in, within);
  }
  return of.first;
}

COLLIGO_BODY std::pair<int, int> hierarchy::fewest_and_most(int level, int below) const {
  std::pair<int, int> found{size(), 0};
  for_each_group(level, [&](group all) {
    int const n = parts(below, all);
    found = {std::min(found.first, n), std::max(found.second, n)};
  });
  return found;
}

[[gnu::cold]] COLLIGO_BODY hierarchy hierarchy::of_sizes(int p, std::span<int const> sizes,
                                                         std::span<int const> hosts) {
  if (!hosts.empty() && hosts.size() != static_cast<std::size_t>(p))
    throw argument_error(detail::concat({"colligo: hierarchy::of_sizes: hosts of ", hosts.size(), " ranks were given, ",
                                         "there are ", p}));
  detail::row_of_lists levels;
  detail::small_vector<distance> far;
  long long together = 1;
  bool joins_hosts = false;
  auto const add_hosts = [&] {
    if (!hosts.empty()) levels.add(hosts), far.push_back(distance::host);
  };
  std::vector<int> const lowest = detail::by_lowest(hosts);
  for (int const n : sizes) {
    if (n < 1)
      throw argument_error(detail::concat({"colligo: hierarchy::of_sizes: a size is ", n, ", at least 1 is needed"}));
    together = std::min<long long>(together * n, p);
    auto const first = [&](int r) { return r - static_cast<int>(r % together); };
    bool within = true, whole = true;   // groups lie within hosts; hosts lie within groups
    for (int r = 0; r < static_cast<int>(lowest.size()); ++r) {
      within = within && lowest[index(r)] == lowest[index(first(r))];
      whole = whole && first(r) == first(lowest[index(r)]);
    }
    if (!within && !whole) continue;
    if (!within && !std::exchange(joins_hosts, true)) add_hosts();
    far.push_back(joins_hosts ? distance::network : static_cast<distance>(std::min<std::size_t>(levels.size(), 2)));
    for (int r = 0; r < p; ++r) levels.push_back(first(r));
    levels.end_list();
  }
  if (!joins_hosts) add_hosts();
  if (!hosts.empty()) far.push_back(distance::network);
  return of_lists(p, levels, std::move(far));
}

[[gnu::cold]] COLLIGO_BODY hierarchy hierarchy::of_hosts(std::span<int const> hosts) {
  return of_sizes(static_cast<int>(hosts.size()), {}, hosts);
}

[[gnu::cold]] COLLIGO_BODY hierarchy hierarchy::of_domains(int p, detail::view<detail::run_list const> domains,
                                                         detail::run_list const& hosts) {
  detail::row_of_lists levels;
  detail::small_vector<distance> distances_of_levels;
  for (std::size_t level = 0; level < domains.size(); ++level) {
    if (domains[level].empty()) continue;
    distances_of_levels.push_back(level < 2 ? distance::cache : distance::socket);
    levels.add(domains[level].list());
  }
  if (!hosts.empty()) levels.add(hosts.list()), distances_of_levels.push_back(distance::host);
  distances_of_levels.push_back(hosts.empty() ? distance::host : distance::network);
  return hierarchy::of_lists(p, levels, std::move(distances_of_levels));
}

[[gnu::cold]] COLLIGO_BODY std::string hierarchy::text() const {
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
