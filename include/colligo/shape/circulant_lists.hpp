// SPDX-License-Identifier: BSL-1.0
/// @file
/// Pipelines from all ranks at once through the circulant graph: what a rank has for its peer in a round is a list, of
/// at most one piece of each rank's data.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../core/range.hpp"
#include "circulant_graph.hpp"

namespace colligo::inline COLLIGO_MODE {

/// How everybody's data is cut: the longest into `pieces`, others into as many, but not into pieces shorter than
/// `least` elements.
struct circulant_cut {
  std::size_t pieces, least;

  /// The pieces of some rank's data. Precondition: there is some.
  constexpr blocks of(range data) const {
    return {data, static_cast<int>(std::min(pieces, (data.size() + least - 1) / least))};
  }
};

/// Elements of the longest message that has to be packed: at most a piece of everybody's data. None where only one rank
/// has any, for its pieces go as they are.
constexpr std::size_t longest_list(blocks const& of_rank, circulant_cut const& cut) {
  std::size_t all = 0;
  int filled = 0;
  for (int r = 0; r < of_rank.parts; ++r) {
    if (of_rank[r].empty()) continue;
    all += cut.of(of_rank[r])[0].size();
    ++filled;
  }
  return filled < 2 ? 0 : all;
}

/// The rounds of one rank. Shorter pipelines begin later, so that all end together. Precondition: fewer than 2^31 - 32
/// pieces. Memory for p lg p small integers; costs O(lg p) time for each distance to a rank with data, and each round
/// as much as there are such ranks.
class circulant_lists {
 public:
  /// Stretches of the vector that go as one message, none of them empty, neighbours joined.
  using list = std::vector<range>;

  circulant_lists(blocks const& of_rank, circulant_cut const& cut, int rank)
      : graph_{of_rank.parts}, rank_(rank), received_(static_cast<std::size_t>(graph_.p * graph_.q), unknown) {
    for (int r = 0; r < graph_.p; ++r) {
      if (of_rank[r].empty()) continue;
      filled_.push_back({r, cut.of(of_rank[r])});
      pieces_ = std::max(pieces_, filled_.back().pieces.parts);
    }
    if (graph_.q > 0) first_ = (graph_.q - (pieces_ + graph_.q - 1) % graph_.q) % graph_.q;
  }

  /// N - 1 + lg p, rounded up, for the N pieces of the longest data; none where there is none.
  int size() const { return graph_.q == 0 || pieces_ == 0 ? 0 : pieces_ - 1 + graph_.q; }
  int to(int round) const { return (rank_ + skip(round)) % graph_.p; }
  int from(int round) const { return (rank_ - skip(round) + graph_.p) % graph_.p; }
  void sent(int round, list& into) { received_by(to(round), round, into); }
  void received(int round, list& into) { received_by(rank_, round, into); }

 private:
  struct data {
    int rank;
    blocks pieces;
  };

  int skip(int round) const { return graph_.skip((first_ + round) % graph_.q); }

  // Which piece a rank receives from the one so far below it. Few ranks with data ask for few distances.
  int received_at(int distance, int k) {
    auto const row = received_.begin() + distance * graph_.q;
    if (row[k] == unknown) std::ranges::copy_n(graph_.received_by(distance).begin(), graph_.q, row);
    return row[k];
  }

  void received_by(int rank, int round, list& into) {
    into.clear();
    int const at = first_ + round, k = at % graph_.q, turns = at - k - first_;
    for (auto const& [root, pieces] : filled_) {
      if (root == rank) continue;
      int const asked = turns + received_at((rank - root + graph_.p) % graph_.p, k);
      // The last rounds ask for pieces after the last: that one is meant.
      int const number = std::min(asked, pieces_ - 1) - (pieces_ - pieces.parts);
      range const piece = number < 0 ? range{} : pieces[number];
      if (piece.empty()) continue;
      if (!into.empty() && into.back().last == piece.first) into.back().last = piece.last;
      else into.push_back(piece);
    }
  }

  static constexpr std::int8_t unknown = 127;

  circulant_graph graph_;
  int rank_, pieces_ = 0, first_ = 0;   // the number of the first round, such that the last one has k = q - 1
  std::vector<std::int8_t> received_;
  std::vector<data> filled_;
};

}  // namespace colligo
