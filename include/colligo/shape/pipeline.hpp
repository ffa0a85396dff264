// SPDX-License-Identifier: BSL-1.0
/// @file
/// The blocks of a vector in a pipeline.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "../core/machine.hpp"
#include "../core/range.hpp"

namespace colligo::inline COLLIGO_MODE {

/// The vector in blocks of at most so many bytes (0: as many as balance filling the pipeline of `depth` ranks against
/// start-ups, where a byte costs `per_byte`). A pipeline asks for the block before the first and the one after the last
/// too: those are empty.
class pipeline {
 public:
  pipeline(range all, std::size_t block_bytes, std::size_t element_size, int depth, double per_byte = typical.beta)
      : blocks_{all, 1} {
    double const bytes = static_cast<double>(all.size() * element_size);
    double const best = depth < 1 ? bytes : std::sqrt(bytes * typical.alpha / per_byte / depth);
    double const count = std::ceil(bytes / (block_bytes ? static_cast<double>(block_bytes) : best));
    double const most = static_cast<double>(all.size());
    blocks_.parts = all.empty() ? 1 : static_cast<int>(std::max(1.0, std::min({count, most, 1e9})));
  }
  int size() const { return blocks_.parts; }
  range operator[](int i) const { return i < 0 || i >= blocks_.parts ? range{} : blocks_[i]; }

 private:
  blocks blocks_;
};

}  // namespace colligo
