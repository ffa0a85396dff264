// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of run_list.hpp.
#pragma once

#include <new>

#include "run_list.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

[[gnu::cold]] COLLIGO_BODY run_list::run_list(std::vector<int> numbers) : all_(std::move(numbers)), size_(all_.size()) {
  if (size_ <= few) return;
  try {
    runs_ = runs_of(all_);
  } catch (std::bad_alloc const&) {   // other ranks may rely on this one
  }
  if (!runs_.empty()) all_ = std::vector<int>();   // not {}, which keeps the memory
}

[[gnu::cold]] COLLIGO_BODY std::vector<int> run_list::runs_of(std::vector<int> const& all) {
  std::vector<int> runs;
  for (std::size_t i = 0; i < all.size();) {
    if (runs.size() >= all.size() / 2) return {};   // not worth it
    int const value = all[i];
    std::size_t end = i;
    while (end < all.size() && all[end] == value) ++end;
    int const first = static_cast<int>(i), width = static_cast<int>(end - i);
    int const step = end < all.size() ? all[end] - value : 0;
    while (end < all.size() && all[end] == value + (static_cast<int>(end) - first) / width * step) ++end;
    for (int const word : {first, value, width, step}) runs.push_back(word);
    i = end;
  }
  return runs;
}

COLLIGO_BODY int run_list::in_run(std::size_t i) const {
  std::size_t at = 0;
  for (std::size_t behind = runs_.size() / words; behind - at > 1;) {
    std::size_t const middle = (at + behind) / 2;
    (static_cast<std::size_t>(runs_[middle * words]) <= i ? at : behind) = middle;
  }
  int const* const its = runs_.data() + at * words;   // as they were pushed
  return its[1] + (static_cast<int>(i) - its[0]) / its[2] * its[3];
}

[[gnu::cold]] COLLIGO_BODY std::vector<int> run_list::list() const {
  std::vector<int> its;
  its.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) its.push_back((*this)[i]);
  return its;
}

}  // namespace colligo
