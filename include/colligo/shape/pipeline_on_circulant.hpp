// SPDX-License-Identifier: BSL-1.0
/// @file
/// A pipeline from rank 0 through the circulant graph: the blocks that each rank sends and receives in each round.
#pragma once

#include <algorithm>
#include <cstddef>

#include "../core/step.hpp"
#include "circulant_graph.hpp"
#include "pipeline.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The rounds of one rank. Costs O(lg^2 p) time to make.
class pipeline_on_circulant {
 public:
  struct round {
    int to, from;
    range sent, received;
  };

  pipeline_on_circulant(pipeline const& part, int p, int rank)
      : part_(part), schedule_(p, rank), rank_(rank) {
    if (int const q = schedule_.q; q > 0) first_ = (q - (part.size() - 1) % q) % q;
  }

  int size() const { return schedule_.q == 0 ? 0 : part_.size() - 1 + schedule_.q; }
  round operator[](int i) const {
    int const at = first_ + i, k = at % schedule_.q, p = schedule_.p, d = schedule_.skip(k);
    auto const slot = static_cast<std::size_t>(k);
    int const to = (rank_ + d) % p, from = (rank_ - d + p) % p;
    return {to == 0 ? nobody : to, rank_ == 0 ? nobody : from, block(schedule_.sent[slot] + at - k),
            block(schedule_.received[slot] + at - k)};
  }

 private:
  // In the last rounds numbers beyond the last block mean the last block.
  range block(int number) const { return part_[std::min(number - first_, part_.size() - 1)]; }

  pipeline part_;
  circulant_schedule schedule_;
  int rank_, first_ = 0;   // the number of the first round, such that the last one has k = q - 1
};

}  // namespace colligo
