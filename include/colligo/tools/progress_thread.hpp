// SPDX-License-Identifier: BSL-1.0
/// @file
/// progress_thread: requests make progress while the program computes, without calls of test.
#pragma once

#include <cstdint>

#include "../core/owner.hpp"

namespace colligo::inline COLLIGO_MODE {

/// While it lives, a thread makes progress for this process's requests over MPI every period, by default 20 us. It
/// sleeps in between.
/// Functors may run in it.
/// Throws argument_error if the period is negative, error unless MPI was initialised with MPI_THREAD_MULTIPLE.
/// Precondition: ends before MPI_Finalize.
class progress_thread {
 public:
  progress_thread() : progress_thread(20'000) {}
  /// A period of std::chrono, whose header costs every unit a twentieth of a second and is not included here.
  template <class Period>
    requires requires { Period::period::den; }
  explicit progress_thread(Period period)
      : progress_thread(static_cast<std::int64_t>(1e9 * static_cast<double>(period.count()) * Period::period::num /
                                                  Period::period::den)) {}
  ~progress_thread();
  progress_thread(progress_thread const&) = delete;
  progress_thread& operator=(progress_thread const&) = delete;

 private:
  explicit progress_thread(std::int64_t period_in_ns);
  struct state;
  detail::owner<state> state_;
};

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "progress_thread_body.hpp"
#endif
