// SPDX-License-Identifier: BSL-1.0
/// @file
/// Compresses long regular lists of integers: the hosts of a million ranks take a few numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <utility>
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

#if COLLIGO_HAS_BODIES
COLLIGO_BODY std::int64_t number_runs::at(std::size_t i, int place) const {
  run const& one = runs_[i];
  std::int64_t number = one.value;
  place -= one.first;
  for (int l = levels_end(i); l-- > one.levels;) {
    level const& of = levels_[static_cast<std::size_t>(l)];
    number += std::int64_t{place / of.period} * of.step, place %= of.period;
  }
  return number;
}

// A number that the latest run does not predict adds a level, whose period is the run's length so far, or begins a run.
[[gnu::cold]] COLLIGO_BODY void number_runs::push_back(int number) {
  auto const place = static_cast<int>(size_);
  std::size_t const latest = runs_.size() - 1;
  if (runs_.empty() || at(latest, place) != number) {
    auto const begin = static_cast<int>(levels_.size());
    int const length = runs_.empty() ? 0 : place - runs_[latest].first;
    bool const goes_on = length != 0 && (runs_[latest].levels == begin || length % levels_.back().period == 0);
    if (goes_on) levels_.push_back({length, number - runs_[latest].value});
    else runs_.push_back({place, number, begin});
  }
  ++size_;
}

COLLIGO_BODY int number_runs::operator[](std::size_t i) const {
  auto const place = static_cast<int>(i);
  std::size_t run_at = 0;
  for (std::size_t behind = runs_.size(); behind - run_at > 1;) {
    std::size_t const middle = (run_at + behind) / 2;
    (runs_[middle].first <= place ? run_at : behind) = middle;
  }
  return static_cast<int>(at(run_at, place));
}

[[gnu::cold]] COLLIGO_BODY void number_runs::visit_all(void const* f, visitor call) const {
  for (std::size_t i = 0; i < runs_.size(); ++i)
    visit(runs_[i].levels, levels_end(i), runs_[i].value, end_of(i) - runs_[i].first, f, call);
}

[[gnu::cold]] COLLIGO_BODY void number_runs::visit(int begin, int end, std::int64_t number, int count,
                                                   void const* f, visitor call) const {
  if (begin == end)
    for (; count > 0; --count) call(f, static_cast<int>(number));
  for (level last{}; count > 0; count -= last.period, number += last.step) {
    last = levels_[static_cast<std::size_t>(end) - 1];
    visit(begin, end - 1, number, count < last.period ? count : last.period, f, call);
  }
}

[[gnu::cold]] COLLIGO_BODY void number_runs::write(std::vector<int>& words) const {
  words.push_back(static_cast<int>(runs_.size())), words.push_back(static_cast<int>(levels_.size()));
  for (run const& one : runs_) words.push_back(one.first), words.push_back(one.value), words.push_back(one.levels);
  for (level const& one : levels_) words.push_back(one.period), words.push_back(one.step);
}

[[gnu::cold]] COLLIGO_BODY void number_runs::read(int const*& words, std::size_t size) {
  runs_.resize(static_cast<std::size_t>(words[0])), levels_.resize(static_cast<std::size_t>(words[1]));
  size_ = size, words += 2;
  for (run& one : runs_) one = {words[0], words[1], words[2]}, words += 3;
  for (level& one : levels_) one = {words[0], words[1]}, words += 2;
}

[[gnu::cold]] COLLIGO_BODY run_list::run_list(std::vector<int> numbers) : all_(std::move(numbers)) {
  if (all_.size() <= few) return;
  try {
    for (int const number : all_) {
      runs_.push_back(number);
      if (runs_.words() >= all_.size() / 2) break;   // not worth it
    }
  } catch (std::bad_alloc const&) {   // other ranks may rely on this one
  }
  if (runs_.size() == all_.size()) all_ = std::vector<int>();   // not {}, which keeps the memory
  else runs_ = {};
}

[[gnu::cold]] COLLIGO_BODY std::vector<int> run_list::list() const {
  std::vector<int> all(all_);
  all.reserve(size());
  runs_.for_each([&](int number) { all.push_back(number); });
  return all;
}
#endif

}  // namespace colligo
