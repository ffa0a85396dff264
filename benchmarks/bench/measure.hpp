// SPDX-License-Identifier: BSL-1.0
/// @file
/// The timing loop, which knows nothing of collectives: contenders side by side in one run, on fresh input in every
/// repetition, each in an order of its own; the slowest rank counts.
#pragma once

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <colligo/core/error.hpp>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "launch.hpp"
#include "statistics.hpp"

namespace bench {

/// Several ways of doing the same thing on the same data. Every function is called by all ranks alike.
class contest {
 public:
  virtual ~contest() = default;

  virtual std::vector<std::string> const& names() const = 0;
  virtual std::size_t element_size() const = 0;
  virtual void resize(std::size_t elements) = 0;

  /// How many calls there can be input for.
  virtual int calls_per_input() const = 0;

  /// New input for a contender's next `calls` calls, calls_per_input() at most.
  virtual void refresh(std::size_t contender, int calls) = 0;

  /// Calls one contender `calls` times, each on an input of its own.
  virtual void run(std::size_t contender, int calls) = 0;

  /// Compares a contender's answers on this rank with the MPI library's own: empty, or what is wrong. Throws
  /// colligo::algorithm_error where a contender is sound but does not apply.
  virtual std::string check(std::size_t contender) = 0;

  /// What a contender that chooses for itself has taken, after a check; empty: it does not choose.
  virtual std::string took(std::size_t) const { return {}; }
};

struct plan {
  int repeats = 20;
  double sample_us = 100;   ///< calls are timed in batches that take at least this long, so that the clock and the
                            ///< start do not count
  bool crowded = false;     ///< more ranks than cores
};

/// What is known of one contender at one size.
struct outcome {
  std::string name;
  statistics us;
  std::string skipped;   ///< why it was not measured, empty if it was
  std::string took;      ///< what it chose, empty if it does not choose

  /// "automatic -> direct@shared_memory"
  std::string label() const { return took.empty() ? name : name + " -> " + took; }
  /// So far above what the machine can do that something else was measured too.
  bool is_noisy() const { return us.median > 1.5 * us.min; }
};

namespace detail {

/// Throws the lowest rank's message on all ranks if any rank has one.
inline void agree_that_right(std::string text) {
  int rank = 0, none = std::numeric_limits<int>::max(), first = none;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int const mine = text.empty() ? none : rank;
  MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first == none) return;
  auto length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, first, MPI_COMM_WORLD);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, first, MPI_COMM_WORLD);
  throw agreed_error(text);
}

/// A rank that spins in a barrier would hold up those that share its core by whole time slices.
inline void start_together([[maybe_unused]] bool crowded) {
#ifdef COLLIGO_BENCH_SIMULATED
  simulated::start_together();
#else
  if (!crowded) {
    MPI_Barrier(MPI_COMM_WORLD);
    return;
  }
  MPI_Request all = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &all);
  for (int there = 0; MPI_Test(&all, &there, MPI_STATUS_IGNORE), there == 0;) sched_yield();
#endif
}

/// Calls are timed `calls` in a row, as many as there is new input for, `passes` times.
struct batch {
  int passes = 1, calls = 1;

  void double_up(int most_calls) { calls < most_calls ? calls = std::min(2 * calls, most_calls) : passes *= 2; }
};

/// Microseconds of a batch on this rank, each pass from a common start. Writing the input is not timed.
inline double time_batch(contest& c, std::size_t contender, batch const& b, bool crowded) {
  double seconds = 0;
  for (int pass = 0; pass < b.passes; ++pass) {
    c.refresh(contender, b.calls);
    start_together(crowded);
    double const start = MPI_Wtime();
    c.run(contender, b.calls);
    seconds += MPI_Wtime() - start;
  }
  return seconds * 1e6;
}

/// How many calls make a sample, the same on all ranks.
inline batch batch_for(contest& c, std::size_t contender, plan const& how) {
  constexpr int most = 1 << 16;
  for (batch b;; b.double_up(c.calls_per_input())) {
    if (how.sample_us == 0) return b;   // nothing to be reached
    // One late rank must not pass for a slow contender: the fastest of three tries counts.
    double fastest = std::numeric_limits<double>::max();
    for (int i = 0; i < 3; ++i) {
      double const mine = time_batch(c, contender, b, how.crowded);
      double slowest = 0;
      MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      fastest = std::min(fastest, slowest);
    }
    if (fastest >= how.sample_us || b.passes * b.calls >= most) return b;
  }
}

}  // namespace detail

/// Checks and times all contenders at one size. progress(name) is called for each step; there are steps_per_size of
/// them.
template <class Progress>
std::vector<outcome> measure(contest& c, std::size_t elements, plan const& how, Progress progress) {
  auto const& names = c.names();
  std::vector<outcome> results;
  std::vector<detail::batch> batches(names.size());
  c.resize(elements);
  for (std::size_t i = 0; i < names.size(); ++i) {
    progress(names[i]);
    results.push_back({names[i], {}, {}, {}});
    try {
      detail::agree_that_right(c.check(i));
      results[i].took = c.took(i);
      batches[i] = detail::batch_for(c, i, how);
    } catch (colligo::algorithm_error const& e) {
      results[i].skipped = e.what();
    }
  }

  auto const repeats = static_cast<std::size_t>(how.repeats);
  std::vector<double> samples(names.size() * repeats), slowest(samples.size());
  turns order(names.size());
  for (std::size_t repeat = 0; repeat < repeats; ++repeat)
    for (std::size_t const i : order.next_round()) {
      progress(names[i]);
      if (results[i].skipped.empty())
        samples[i * repeats + repeat] =
            detail::time_batch(c, i, batches[i], how.crowded) / (batches[i].passes * batches[i].calls);
    }
  MPI_Allreduce(samples.data(), slowest.data(), static_cast<int>(samples.size()), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto const first = slowest.begin() + static_cast<std::ptrdiff_t>(i * repeats);
    results[i].us = statistics_of({first, first + how.repeats});
  }
  return results;
}

inline int steps_per_size(contest const& c, plan const& how) {
  return static_cast<int>(c.names().size()) * (1 + how.repeats);
}

}  // namespace bench
