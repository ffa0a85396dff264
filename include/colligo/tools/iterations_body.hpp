// SPDX-License-Identifier: BSL-1.0
/// @file
/// Iterations in a trace: stretches of time in which every rank repeats calls, which a timeline folds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "../core/stable_order.hpp"
#include "tracer.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Iterations of a loop that look like those before them: all of a stretch but the first two and the last one.
struct iterations {
  std::int64_t begin, end;    ///< after the second one, before the last one
  std::size_t times, calls;   ///< how many iterations lie between, and the calls of one

  bool cover(std::int64_t from, std::int64_t to) const { return begin <= from && to <= end; }
};

/// Of one rank.
class repeated_calls {
 public:
  explicit repeated_calls(trace_log const& log) {
    for (trace_event const& e : log.events())
      if (e.what == trace_event::kind::call) calls_.push_back(&e);
    sort_stably(calls_, [](trace_event const* e) { return e->begin; });
    look(0, calls_.size());
  }

  std::vector<iterations> const& found() const { return found_; }
  bool has_calls_in(iterations const& stretch) const {
    return std::ranges::any_of(
        calls_, [&](trace_event const* e) { return e->begin < stretch.end && e->end > stretch.begin; });
  }
  std::size_t calls_inside(iterations const& stretch) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(calls_, [&](trace_event const* e) { return stretch.cover(e->begin, e->end); }));
  }

 private:
  static constexpr std::size_t longest = 40, kept = 3, least = 2 * kept;   // calls of an iteration; iterations

  static bool alike(trace_event const& a, trace_event const& b) {
    return a.call_of == b.call_of && a.algorithm == b.algorithm && a.elements == b.elements && a.bytes == b.bytes &&
           a.communicator == b.communicator;
  }

  // Of the calls [first, last) the most that are iterations, and then those before and after them.
  void look(std::size_t first, std::size_t last) {
    std::size_t begin = 0, covered = 0, period = 0;
    for (std::size_t k = 1; k <= longest && least * k <= last - first; ++k)
      for (std::size_t i = first, run = 0; i + k < last; ++i) {
        run = alike(*calls_[i], *calls_[i + k]) ? run + 1 : 0;
        if (run + k >= least * k && run + k > covered) begin = i + 1 - run, covered = run + k, period = k;
      }
    if (covered == 0) return;
    std::size_t const times = covered / period, end = begin + times * period;
    look(first, begin);
    std::int64_t shown_to = 0;
    for (std::size_t i = begin; i < begin + 2 * period; ++i) shown_to = std::max(shown_to, calls_[i]->end);
    std::int64_t const shown_from = calls_[end - period]->begin;   // calls may overlap: they are requests
    if (shown_to < shown_from) found_.push_back({shown_to, shown_from, times - kept, period});
    look(end, last);
  }

  std::vector<trace_event const*> calls_;
  std::vector<iterations> found_;
};

/// Those of all ranks, in the order of time. A rank that makes no call meanwhile does not count.
inline std::vector<iterations> iterations_of(std::span<trace_log const> logs) {
  std::vector<repeated_calls> ranks;
  for (trace_log const& log : logs) ranks.emplace_back(log);
  std::vector<iterations> all;
  if (!ranks.empty()) all = ranks.front().found();
  for (repeated_calls const& rank : ranks) {
    std::vector<iterations> common;
    for (iterations const& before : all) {
      if (!rank.has_calls_in(before)) {
        common.push_back(before);
        continue;
      }
      for (iterations both : rank.found()) {
        both.begin = std::max(before.begin, both.begin), both.end = std::min(before.end, both.end);
        both.calls = before.calls;
        if (both.begin < both.end) common.push_back(both);
      }
    }
    all = std::move(common);
  }
  for (iterations& i : all) i.times = ranks.front().calls_inside(i) / i.calls;
  std::erase_if(all, [](iterations const& i) { return i.times < 3; });
  return all;
}

}  // namespace colligo
