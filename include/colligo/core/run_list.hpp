// SPDX-License-Identifier: BSL-1.0
/// @file
/// Long lists of whole numbers that follow rules: on which host each of a million ranks is takes a few numbers.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "mode.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Numbers by index, kept in runs of value + (i - first) / width * step if they are many and runs take less.
class run_list {
 public:
  run_list() = default;
  /// Keeps the numbers as they are if there is no memory for runs.
  run_list(std::vector<int> numbers);

  int operator[](std::size_t i) const { return runs_.empty() ? all_[i] : in_run(i); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::vector<int> list() const;
  /// The numbers in memory; empty if they are kept in runs.
  std::span<int const> kept() const { return all_; }

  /// Shorter lists are not worth a search.
  static constexpr std::size_t few = 4096;

 private:
  static constexpr std::size_t words = 4;   // of a run: first, value, width, step
  static std::vector<int> runs_of(std::vector<int> const& all);
  int in_run(std::size_t i) const;

  std::vector<int> all_, runs_;
  std::size_t size_ = 0;
};

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "run_list_body.hpp"
#endif
