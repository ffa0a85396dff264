// SPDX-License-Identifier: BSL-1.0
/// @file
/// Compresses long regular lists of integers: the hosts of a million ranks take a few numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "small_vector.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Integers in runs, built by push_back(). A run begins with equal numbers. Its innermost level repeats them every
/// `period` places, each time with `step` added; the next level repeats all of that in the same way, and so on.
class number_runs {
 public:
  void push_back(int number);
  int operator[](std::size_t i) const;
  std::size_t size() const { return runs_.empty() ? 0 : size_; }
  bool empty() const { return runs_.empty(); }
  /// Calls f(number) for all numbers in order.
  template <class F>
  void for_each(F const& f) const {
    visit_all(&f, [](void const* g, int number) { (*static_cast<F const*>(g))(number); });
  }
  /// The list as numbers to be sent, and how many they are.
  std::size_t words() const { return 2 + 3 * runs_.size() + 2 * levels_.size(); }
  void write(std::vector<int>& words) const;
  void read(int const*& words, std::size_t size);

 private:
  struct run {
    int first, value, levels;   ///< first index in the list, number there, index in levels_ of the innermost level
  };
  struct level {
    int period, step;
  };
  int levels_end(std::size_t i) const {
    return i + 1 < runs_.size() ? runs_[i + 1].levels : static_cast<int>(levels_.size());
  }
  int end_of(std::size_t i) const { return i + 1 < runs_.size() ? runs_[i + 1].first : static_cast<int>(size_); }
  std::int64_t at(std::size_t i, int place) const;
  // Not templates on f, because compilers inline recursive functions into themselves.
  using visitor = void (*)(void const* f, int number);
  void visit_all(void const* f, visitor call) const;
  void visit(int begin, int end, std::int64_t number, int count, void const* f, visitor call) const;

  small_vector<run> runs_;
  small_vector<level> levels_;
  std::size_t size_ = 0;
};

/// A list of integers, kept in runs if it is long and runs take less memory.
class run_list {
 public:
  run_list() = default;
  /// Keeps the numbers as they are if there is no memory for runs.
  run_list(std::vector<int> numbers);

  int operator[](std::size_t i) const { return runs_.empty() ? all_[i] : runs_[i]; }
  std::size_t size() const { return runs_.empty() ? all_.size() : runs_.size(); }
  bool empty() const { return size() == 0; }
  std::vector<int> list() const;
  /// The numbers in memory; empty if they are kept in runs.
  std::span<int const> kept() const { return all_; }

  /// Shorter lists are not worth a search.
  static constexpr std::size_t few = 4096;

 private:
  std::vector<int> all_;
  number_runs runs_;
};

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "run_list_body.hpp"
#endif
