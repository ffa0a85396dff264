// SPDX-License-Identifier: BSL-1.0
/// @file
/// Pipelines from all ranks at once through the circulant graph: a rank's message to its peer in a round is a list, of
/// at most one segment of each rank's data.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "../core/range.hpp"
#include "../core/small_vector.hpp"
#include "circulant_graph.hpp"

namespace colligo::inline COLLIGO_MODE {

/// How all ranks' data is cut: the longest into `segments`, others into as many, but not into segments shorter than
/// `least` elements.
struct circulant_cut {
  std::size_t segments, least;

  /// The segments of a rank's data. Precondition: it has data.
  constexpr blocks of(range data) const {
    return {data, static_cast<int>(std::min(segments, (data.size() + least - 1) / least))};
  }
};

/// Some ranks' data has more than one segment.
constexpr bool cuts_some(blocks const& of_rank, circulant_cut const& cut) {
  return cut.segments > 1 && of_rank.longest() > cut.least;
}

/// At most one rank has data.
constexpr bool from_one_rank(blocks const& of_rank) {
  int first = 0;   // the first rank of those behind which there are data
  for (int behind = of_rank.parts; first < behind;) {
    int const middle = (first + behind) / 2;
    if (of_rank.span(0, middle + 1).empty()) first = middle + 1;
    else behind = middle;
  }
  return first == of_rank.parts || of_rank[first] == of_rank.whole;
}

/// Elements of the longest message that has to be packed: at most a segment of each rank's data. 0 if only one rank has
/// data, because its segments need no packing.
constexpr std::size_t longest_list(blocks const& of_rank, circulant_cut const& cut) {
  if (from_one_rank(of_rank)) return 0;
  std::size_t all = of_rank.whole.size();
  if (cuts_some(of_rank, cut))
    of_rank.for_each_longer(cut.least, [&](int r) { all -= of_rank[r].size() - cut.of(of_rank[r])[0].size(); });
  return all;
}

/// The rounds of one rank. Shorter pipelines begin later, so that all end together: data of one segment comes in one of
/// the last lg p rounds, depending on its distance, so in each of these rounds it comes from consecutive ranks. Only
/// data of several segments is looked at one by one.
/// Precondition: fewer than 2^31 - 32 segments. With c ranks' data cut: a round costs O(lg p) time and more for each of
/// them that has begun, all of them together O(c lg^2 p), at most O(p lg p), for which segments go where; memory for
/// c lg p small integers.
class circulant_lists {
 public:
  /// Stretches of the vector that form one message, none of them empty, neighbours joined.
  using list = std::vector<range>;

  circulant_lists(blocks const& of_rank, circulant_cut const& cut, int rank)
      : graph_{of_rank.parts}, of_rank_(of_rank), rank_(rank), segments_(of_rank.whole.empty() ? 0 : 1) {
    if (cuts_some(of_rank, cut))
      of_rank.for_each_longer(cut.least, [&](int r) {
        cut_.push_back({r, cut.of(of_rank[r])});
        segments_ = std::max(segments_, cut_.back().segments);
      });
    if (graph_.q > 0) first_ = (graph_.q - (segments_ + graph_.q - 1) % graph_.q) % graph_.q;
    auto const ranks = static_cast<std::size_t>(graph_.p), q = static_cast<std::size_t>(graph_.q);
    begun_.reserve(cut_.size());   // before the first message
    all_distances_ = cut_.size() * q >= ranks;
    received_.resize((all_distances_ ? ranks : 2 * cut_.size()) * q);
    std::fill(received_.begin(), received_.end(), unknown);
  }

  /// N - 1 + lg p, rounded up, for the N segments of the longest data; 0 if there is none.
  int size() const { return graph_.q == 0 || segments_ == 0 ? 0 : segments_ - 1 + graph_.q; }
  /// Stretches that a list has at most.
  std::size_t most_stretches() const { return std::min(static_cast<std::size_t>(graph_.p), 2 * cut_.size() + 2); }
  int to(int round) const { return (rank_ + skip(round)) % graph_.p; }
  int from(int round) const { return (rank_ - skip(round) + graph_.p) % graph_.p; }
  void sent(int round, list& into) { received_by(to(round), round, into); }
  void received(int round, list& into) { received_by(rank_, round, into); }

 private:
  // A rank's data in segments, of which the first `longer` have one more element. Divided once.
  struct data {
    int rank, segments;
    std::size_t first, each, longer;

    data(int of, blocks const& block) : rank(of), segments(block.parts), first(block.whole.first) {
      each = block.whole.size() / static_cast<std::size_t>(segments);
      longer = block.whole.size() % static_cast<std::size_t>(segments);
    }
    range operator[](int number) const {
      auto const i = static_cast<std::size_t>(number);
      std::size_t const begin = first + i * each + std::min(i, longer);
      return {begin, begin + each + (i < longer)};
    }
  };

  int skip(int round) const { return graph_.skip((first_ + round) % graph_.q); }

  // The segment that a rank receives from the rank so far below it. Repeated look-ups are kept: for this rank, and for
  // all distances if many need them; another rank is needed in only one round of q.
  int received_at(std::size_t asking, int distance, int k) {
    auto const at = all_distances_ ? distance : static_cast<std::ptrdiff_t>(asking);
    std::int8_t* const known = received_.begin() + at * graph_.q;
    if (known[k] == unknown) {
      bool const whole = all_distances_ || asking % 2 == 0;
      auto const all = graph_.received_by(distance, whole ? graph_.q : k + 1);
      if (whole) std::copy_n(all.begin(), graph_.q, known);
      else known[k] = static_cast<std::int8_t>(all[static_cast<std::size_t>(k)]);
    }
    return known[k];
  }

  void received_by(int rank, int round, list& into) {
    into.clear();
    int const at = first_ + round, k = at % graph_.q, turns = at - k - first_, p = graph_.p;
    // In the last rounds: data of one segment, from ranks at distances from skip(k) on, below skip(k + 1).
    int begin = p, count = 0;
    if (turns == segments_ - 1) {
      begin = (rank - graph_.skip(k + 1) + 1 + p) % p;
      count = graph_.skip(k + 1) - graph_.skip(k);
    }
    auto const whole_data = [&](int first, int last) {   // of those from first on, below last
      if (count == 0) return;
      add(first, std::min(last, begin + count - p), into);
      add(std::max(first, begin), std::min(last, begin + count), into);
    };
    int next = 0;
    if (turns != turns_of_begun_) find_begun(turns);
    for (std::size_t const i : begun_) {
      data const& cut = cut_[i];
      whole_data(next, cut.rank);
      next = cut.rank + 1;
      if (cut.rank == rank) continue;
      int const distance = rank - cut.rank + (rank < cut.rank ? p : 0);
      int const asked = turns + received_at(2 * i + (rank != rank_), distance, k);
      // In the last rounds numbers beyond the last segment mean the last segment.
      int const number = std::min(asked, segments_ - 1) - (segments_ - cut.segments);
      if (number >= 0) add(cut[number], into);
    }
    whole_data(next, p);
  }

  // Data of few segments begin in one of the last turns, when all have begun.
  void find_begun(int turns) {
    turns_of_begun_ = turns;
    begun_.clear();
    for (std::size_t i = 0; i < cut_.size(); ++i)
      if (turns + graph_.q > segments_ - cut_[i].segments) begun_.push_back(i);
  }

  void add(int first, int last, list& into) const {
    if (first < last) add(of_rank_.span(first, last), into);
  }
  static void add(range stretch, list& into) {
    if (stretch.empty()) return;
    if (!into.empty() && into.back().last == stretch.first) into.back().last = stretch.last;
    else into.push_back(stretch);
  }

  static constexpr std::int8_t unknown = 127;

  circulant_graph graph_;
  blocks of_rank_;
  int rank_, segments_, first_ = 0;   // the number of the first round, such that the last one has k = q - 1
  detail::small_vector<data> cut_;
  detail::small_vector<std::size_t> begun_;   // of these, in the turn of the latest question
  int turns_of_begun_ = std::numeric_limits<int>::min();
  bool all_distances_ = false;
  detail::small_vector<std::int8_t> received_;
};

}  // namespace colligo
