// SPDX-License-Identifier: BSL-1.0
/// @file
/// What is told of a set of samples.
#pragma once

#include <algorithm>
#include <cstddef>
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

}  // namespace bench
