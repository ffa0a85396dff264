// SPDX-License-Identifier: BSL-1.0
/// @file
/// Statistics of a set of samples, and the order in which they are taken.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

namespace bench {

struct statistics {
  double min = 0, median = 0, max = 0;
};

/// Precondition: at least one sample.
inline statistics statistics_of(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  std::size_t const half = samples.size() / 2;
  double const median = samples.size() % 2 == 1 ? samples[half] : (samples[half - 1] + samples[half]) / 2;
  return {samples.front(), median, samples.back()};
}

/// Which contender takes which turn: another order in every round, so that none always comes after the same one and
/// meets what that has left in the caches. The same on all ranks.
class turns {
 public:
  explicit turns(std::size_t contenders) : order_(contenders) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  std::vector<std::size_t> const& next_round() {
    std::shuffle(order_.begin(), order_.end(), random_);
    return order_;
  }

 private:
  std::vector<std::size_t> order_;
  std::minstd_rand random_;
};

}  // namespace bench
