// SPDX-License-Identifier: BSL-1.0
/// @file
/// For hosts whose groups differ in size: a search for the groups to join round by round, instead of the given ones.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

#include "../core/latest_used.hpp"
#include "hierarchy.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// A branch-and-bound search for rounds, each of which joins groups of the round before, with the shortest time by the
/// model of memory_prices.hpp. Rounds work as in direct_by_level (whole vectors) or slices_of_level (as many slices as
/// the smallest group has parts).
class round_search {
 public:
  using bounds = small_vector<int>;   // of groups: where each begins, and the end
  using bounds_view = std::span<int const>;
  using rounds = small_vector<round_of_slices>;

  /// `known`: groups of the host's levels, innermost first.
  round_search(row_of_lists const& known, small_vector<distance> const& far) : far_(far) {
    bounds_view const hosts = known[known.size() - 1];
    // Of several hosts only the smallest and the largest are looked at.
    std::size_t smallest = 0, largest = 0;
    for (std::size_t h = 1; h + 1 < hosts.size(); ++h) {
      if (hosts[h + 1] - hosts[h] < hosts[smallest + 1] - hosts[smallest]) smallest = h;
      if (hosts[h + 1] - hosts[h] >= hosts[largest + 1] - hosts[largest]) largest = h;
    }
    for (std::size_t level = 0; level < known.size(); ++level) {
      int end = 0, number = 0;
      known_.push_back(0);
      for (std::size_t h = smallest;; h = largest) {
        int const shift = end - hosts[h];
        for (int const at : known[level]) {
          if (at <= hosts[h] || at > hosts[h + 1]) continue;
          known_.push_back(at + shift), ++number;
          for (; end < at + shift; ++end) number_.push_back(number);
        }
        if (h == largest) break;
      }
      known_.end_list(), number_.end_list();
    }
    for (std::size_t level = 0; level < known_.size(); ++level)
      most_.push_back(parts_of(known_[level], all_hosts(), true));
    int cached = 1, sockets = 1;
    sharing_.resize(ranks());
    for (std::size_t level = 0; level < known_.size(); ++level) {
      bounds_view const begin = known_[level];
      for (std::size_t g = 1; g < begin.size(); ++g) {
        int const size = begin[g] - begin[g - 1];
        if (far_[level] == distance::cache) cached = std::max(cached, size);
        for (int place = begin[g - 1]; place < begin[g] && level + 1 < known_.size(); ++place)
          sharing_[static_cast<std::size_t>(place)][static_cast<std::size_t>(far_[level + 1])] = size;
      }
      if (level > 0 && far_[level] == distance::host) sockets = most_[level - 1];
    }
    at_ = memory_by_distance({}, cached, sockets);
  }

  static bounds joined(bounds_view below, bounds_view within, joined_groups const& by) {
    bounds begins;
    auto first = below.begin();
    for (std::size_t g = 1; g < within.size(); ++g) {
      int const parts = static_cast<int>(std::lower_bound(first, below.end(), within[g]) - first);
      int const made = by.each == 0 ? 1 : std::max(1, (parts + (by.more ? 0 : by.each - 1)) / by.each);
      int const least = parts / made, larger = parts % made;
      // The first groups have exactly `each` parts, as far as possible.
      for (int i = 0; i < made; ++i) {
        begins.push_back(*first);
        first += least + (least < by.each ? i < larger : i >= made - larger);
      }
    }
    begins.push_back(below.back());
    return begins;
  }

  friend bool operator==(round_search const& a, round_search const& b) {
    return a.known_ == b.known_ && a.far_ == b.far_;
  }

  std::size_t ranks() const { return number_[0].size(); }

  /// The best rounds for vectors of `bytes`, whole or in slices.
  rounds best(double bytes, bool whole) {
    bytes_ = bytes, whole_ = whole, least_ = beyond_all;
    rounds some;
    go_on(alone(), some);
    return best_;
  }
  /// Seconds for a vector in slices.
  double time(rounds const& some, double bytes) {
    bytes_ = bytes, whole_ = false;
    state now = alone();
    for (round_of_slices const& each : some)
      now = after(now, joined(now.groups, known_[each.by.level], each.by));
    return now.spent;
  }

 private:
  struct state {
    bounds groups;
    small_vector<int> leads{};   // the leader of each slice of each group
    int slices = 1;
    double spent = 0;
    reads busiest{};
  };

  state alone() const {
    state start{.groups = bounds(ranks() + 1)};
    std::iota(start.groups.begin(), start.groups.end(), 0);
    start.leads = start.groups;
    return start;
  }
  bounds_view all_hosts() const { return known_[known_.size() - 1]; }
  // For each of places_: how many of the first `some` of them it reads, by distance.
  void count_reads(int some) {
    int const n = static_cast<int>(places_.size());
    reads_.clear(), nearer_.clear();
    reads_.resize(places_.size());
    for (int i = 0; i < n; ++i) nearer_.push_back(i < some);   // itself
    for (std::size_t level = 0; level < known_.size(); ++level) {
      auto const number = [this, numbers = number_[level]](int i) {
        return numbers[static_cast<std::size_t>(places_[static_cast<std::size_t>(i)])];
      };
      for (int first = 0, last = 0; first < n; first = last) {
        while (last < n && number(last) == number(first)) ++last;
        int const in_group = std::min(last, some) - std::min(first, some);
        for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
          reads_[i][static_cast<std::size_t>(far_[level])] += in_group - nearer_[i];
          nearer_[i] = in_group;
        }
        if (last - first == n) return;   // nobody is farther
      }
    }
  }

  // Whether neighbours in places_ are as near to each other as in the call before: then the waits are the same.
  bool are_as_before() {
    bool as_before = places_.size() == nearest_.size();
    nearest_.resize(places_.size());
    for (std::size_t i = 1; i < places_.size(); ++i) {
      auto const here = static_cast<std::size_t>(places_[i]), last = static_cast<std::size_t>(places_[i - 1]);
      int level = 0;   // that it shares with the one before
      while (number_[static_cast<std::size_t>(level)][here] != number_[static_cast<std::size_t>(level)][last]) ++level;
      as_before = as_before && nearest_[i] == level;
      nearest_[i] = level;
    }
    return as_before;
  }

  static constexpr int most_joined = 12, most_at_last = 20, most_rounds = 3, many = 512;
  // Updates the longest wait with those of the first `some` of places_.
  void take_longest(int some, double length, double gamma, double& longest, reads& busiest) const {
    reads last;
    for (int i = 0; i < some; ++i) {
      auto const at = static_cast<std::size_t>(i);
      reads const now{reads_[at], sharing_[static_cast<std::size_t>(places_[at])]};
      if (i != 0 && now == std::exchange(last, now)) continue;
      if (double const wait = wait_for(at_, now, length, gamma); wait > longest) longest = wait, busiest = now;
    }
  }

  static int parts_of(bounds_view groups, bounds_view within, bool most) {
    int least = groups.back(), largest = 0;
    auto first = groups.begin();
    for (std::size_t g = 1; g < within.size(); ++g) {
      auto const last = std::lower_bound(first, groups.end(), within[g]);
      int const parts = static_cast<int>(last - first);
      least = std::min(least, parts), largest = std::max(largest, parts);
      first = last;
    }
    return most ? largest : least;
  }

  // Whole vectors: every rank reads from one rank of each other part.
  state after_whole(state const& before, bounds groups) {
    state next{.groups = std::move(groups)};
    double longest = 0;
    int readers_before = 0;
    nearest_.clear();
    auto first = before.groups.begin();
    for (std::size_t g = 1; g < next.groups.size(); ++g) {
      auto const last = std::lower_bound(first, before.groups.end(), next.groups[g]);
      int least = *last - *first, most = 0;
      for (auto part = first; part != last; ++part)
        least = std::min(least, part[1] - part[0]), most = std::max(most, part[1] - part[0]);
      int const readers = (*last - *first - 1) / least;   // of one in the smallest part
      for (int i = 0; i < most; ++i) {
        places_.clear();
        for (auto part = first; part != last; ++part) places_.push_back(*part + i % (part[1] - part[0]));
        bool const as_before = are_as_before();
        if (readers <= std::exchange(readers_before, readers) && as_before) continue;
        count_reads(static_cast<int>(places_.size()));
        double longest_here = longest - (readers - 1) * fitted::further_reader;
        take_longest(static_cast<int>(places_.size()), bytes_, at_[0].gamma, longest_here, next.busiest);
        longest = longest_here + (readers - 1) * fitted::further_reader;
      }
      first = last;
    }
    next.spent = before.spent + bytes_ * at_[0].own.copied + longest;
    return next;
  }
  // In slices: on the way out each leader reads its slice from all parts, on the way back all read the others' slices.
  state after(state const& before, bounds groups) {
    if (whole_) return after_whole(before, std::move(groups));
    int const cut = parts_of(before.groups, groups, false);
    state next{.groups = std::move(groups), .leads = {}, .slices = before.slices * cut};
    double const length = bytes_ / next.slices;
    double out = 0, back = 0;
    std::ptrdiff_t first = 0;
    nearest_.clear();
    for (std::size_t g = 1; g < next.groups.size(); ++g) {
      auto const last =
          std::lower_bound(before.groups.begin(), before.groups.end(), next.groups[g]) - before.groups.begin();
      for (int slice = 0; slice < before.slices; ++slice) {
        places_.clear();
        for (auto part = first; part != last; ++part)
          places_.push_back(before.leads[static_cast<std::size_t>(part * before.slices + slice)]);
        next.leads.append(places_.begin(), places_.begin() + cut);
        if (are_as_before()) continue;
        count_reads(cut);
        int const parts = static_cast<int>(last - first);
        reads of_leaders;
        take_longest(parts, length, 0, back, of_leaders);
        if (parts > cut) count_reads(parts);
        take_longest(cut, length, at_[0].gamma, out, next.busiest);
      }
      first = last;
    }
    next.spent = before.spent + (bytes_ / before.slices + length) * at_[0].own.copied + out + back;
    return next;
  }

  double way_at(std::size_t far) const { return at_[far].alpha - at_[far].alpha_further(); }
  // A lower bound, approximately, of the time to join `groups` groups in one round, or two if `left` allows. A message
  // across a level's border takes longer; there is at least one for each group within the border.
  double at_least(int groups, int slices, int left) const {
    double const ways = whole_ ? 1 : 2, bytes = whole_ ? bytes_ : 0;
    double const pieces = bytes_ * (1.0 / slices - 1.0 / static_cast<double>(ranks()));
    double least = whole_ ? 0 : pieces * (2 * at_[0].beta + at_[0].gamma);
    double nearer_way = whole_ ? fitted::further_reader : 0, nearer = -nearer_way - bytes * at_[0].gamma;
    for (std::size_t level = 0; level < known_.size(); ++level) {
      auto const far = static_cast<std::size_t>(far_[level]);
      double const some = level == 0 ? groups : std::min(groups, most_[level - 1]);
      double const way = way_at(far), each = at_[far].alpha_further() + bytes * at_[far].beta;
      auto const of_round = [&](double f) { return ways * (way - nearer_way + (f - 1) * (each - nearer)); };
      if (some > 1) least += left > 1 ? std::min(of_round(some), 2 * of_round(std::sqrt(some))) : of_round(some);
      nearer_way = way, nearer = each;
    }
    return least;
  }
  // The same for the round that makes `groups`, and all rounds after it.
  double at_least(state const& now, bounds const& groups, int left) const {
    int const most = parts_of(now.groups, groups, true), cut = parts_of(now.groups, groups, false);
    int const slices = whole_ ? 1 : now.slices * cut;
    double const length = bytes_ / slices, each = at_[0].alpha_further() + length * at_[0].beta;
    double const out = way_at(0) + (most - 1) * (each + length * at_[0].gamma);
    double const back = whole_ ? 0 : way_at(0) + std::min(most - 1, cut) * each;
    return now.spent + out + back + at_least(parts_of(groups, all_hosts(), true), slices, left);
  }

  struct candidate {
    joined_groups by;
    double at_least;
  };
  // Tries the next rounds, the one with the least lower bound first.
  void go_on(state const& now, rounds& some) {
    std::size_t const last = known_.size() - 1;
    int const left = most_rounds - 1 - static_cast<int>(some.size());
    small_vector<candidate> next;
    bounds latest;
    auto const consider = [&](joined_groups const& by) {
      bounds groups = joined(now.groups, known_[by.level], by);
      if (by.each != 0 && (groups == now.groups || groups.size() == all_hosts().size())) return;
      double const least = at_least(now, groups, left);
      if (groups == latest || least >= least_) return;
      next.push_back({by, least});
      latest = std::move(groups);
    };
    if (left == 0 || parts_of(now.groups, all_hosts(), true) <= most_at_last) consider({last, 0, false});
    for (std::size_t level = 0; level <= last && left > 0; ++level) {
      bounds_view const within = known_[level];
      if (!std::includes(now.groups.begin(), now.groups.end(), within.begin(), within.end())) continue;
      int const most = parts_of(now.groups, within, true);
      for (int each = 2; each <= std::min(most_joined, most); each += now.groups.back() > many ? each : 1)
        for (bool const more : {false, true}) consider({level, each, more});
      if (level != last && most > 1 && most <= most_at_last) consider({level, 0, false});
    }
    while (!next.empty()) {
      candidate* first = next.begin();
      for (candidate& other : next)
        if (other.at_least < first->at_least) first = &other;
      candidate const each = *first;
      next.erase(first);
      if (each.at_least >= least_) return;
      state const then = after(now, joined(now.groups, known_[each.by.level], each.by));
      int const groups = parts_of(then.groups, all_hosts(), true);
      if (then.spent + at_least(groups, then.slices, left) >= least_) continue;
      some.push_back({each.by, then.busiest});
      if (groups == 1) least_ = then.spent, best_ = some;
      else go_on(then, some);
      some.pop_back();
    }
  }

  row_of_lists known_;
  small_vector<distance> far_;
  small_vector<int> most_;   // the most groups of each level on a host
  row_of_lists number_;   // by level: the group of each place
  small_vector<int> places_;   // of ranks that exchange messages with each other
  small_vector<int> nearer_, nearest_;   // of count_reads and are_as_before
  small_vector<std::array<int, 3>> reads_;   // by distance, of each place
  small_vector<std::array<int, 3>> sharing_;
  std::array<machine, 3> at_{};
  rounds best_;
  double bytes_ = 0, least_ = 0;
  bool whole_ = false;
};

/// The best rounds for whole vectors, and for short and long ones in slices: long_from bytes are long.
struct best_rounds : round_search {
  using round_search::round_search;
  rounds whole, few, many;
  double long_from = 0;
  best_rounds* next = nullptr;
  static std::size_t bytes() { return 1; }   // entries of latest_used are counted
};

/// The search takes milliseconds, and programs split communicators alike again and again: each thread keeps its latest
/// results.
[[gnu::cold]] COLLIGO_BODY best_rounds const& best_of(owner<best_rounds> wanted) {
  static thread_local latest_used<best_rounds> latest{8};
  if (auto const* kept = latest.find([&](best_rounds const& each) { return each == *wanted; })) return *kept;
  best_rounds& fresh = *wanted;
  double const few = 2048, many = 32768;
  fresh.whole = fresh.best(128, true), fresh.few = fresh.best(few, false), fresh.many = fresh.best(many, false);
  // On many ranks fewer peers are worth 6 %: each peer's channel takes memory of its own.
  double const nearly = fresh.ranks() > 128 ? 1.06 : 1, longer = 8 * many;
  double of_few = fresh.time(fresh.few, few);
  if (double const of_whole = fresh.time(fresh.whole, few); of_whole < nearly * of_few)
    fresh.few = fresh.whole, of_few = of_whole;
  if (fresh.time(fresh.few, longer) < nearly * fresh.time(fresh.many, longer)) fresh.many = fresh.few;
  if (!(fresh.few == fresh.many)) {   // interpolates linearly between both lengths
    double const saved = fresh.time(fresh.many, few) - of_few;
    double const lost = fresh.time(fresh.few, many) - fresh.time(fresh.many, many);
    fresh.long_from = few + (many - few) * saved / (saved + lost);
  }
  return latest.add(std::move(wanted));
}

}  // namespace colligo
