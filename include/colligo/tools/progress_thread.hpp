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
#include <mpi.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif
#include <time.h>

#include <atomic>

#include "../core/error.hpp"
#include "../core/thread.hpp"
#include "../transport/messages/mpi_state.hpp"

namespace colligo::inline COLLIGO_MODE {

struct progress_thread::state {
  explicit state(std::int64_t period) : period_in_ns(period) {}
  void look() {
#ifdef PR_SET_TIMERSLACK
    prctl(PR_SET_TIMERSLACK, 1000UL);   // nanoseconds; the 50 us that are usual would be late
#endif
    timespec const period{.tv_sec = period_in_ns / 1'000'000'000, .tv_nsec = period_in_ns % 1'000'000'000};
    for (detail::requests_of_rank& all = detail::mpi_state::all_requests(); !ends.load(std::memory_order_acquire);) {
      if (all.busy()) all.progress();
      nanosleep(&period, nullptr);
    }
  }

  std::int64_t period_in_ns;
  std::atomic<bool> ends = false;
  detail::thread looking{[](void* of) { static_cast<state*>(of)->look(); }, this};
};

COLLIGO_BODY progress_thread::progress_thread(std::int64_t period_in_ns) {
  if (period_in_ns < 0) throw argument_error("colligo: the period of a progress_thread is negative");
  int threads = MPI_THREAD_SINGLE, initialised = 0;
  MPI_Initialized(&initialised);
  if (initialised) detail::check_mpi(MPI_Query_thread(&threads), "MPI_Query_thread");
  if (threads != MPI_THREAD_MULTIPLE)
    throw error("colligo: a progress_thread needs MPI_THREAD_MULTIPLE: boost::mpi::environment(argc, argv, "
                "boost::mpi::threading::multiple) or MPI_Init_thread");
  detail::mpi_state::all_requests().share();
  state_ = detail::make_owner<state>(period_in_ns);
}

COLLIGO_BODY progress_thread::~progress_thread() { state_->ends.store(true, std::memory_order_release); }

}  // namespace colligo
#endif
