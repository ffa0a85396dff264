// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of progress_thread.hpp.
#pragma once

#include <mpi.h>
#include <sys/prctl.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "../../core/error.hpp"
#include "../../messages/mpi_port.hpp"
#include "progress_thread.hpp"

namespace colligo::inline COLLIGO_MODE {

struct progress_thread::state {
  std::atomic<bool> ends = false;
  std::thread looks;
};

COLLIGO_BODY progress_thread::progress_thread(std::int64_t period_in_ns) : state_(detail::make_owner<state>()) {
  int threads = MPI_THREAD_SINGLE, initialised = 0;
  MPI_Initialized(&initialised);
  if (initialised) detail::check_mpi(MPI_Query_thread(&threads), "MPI_Query_thread");
  if (threads != MPI_THREAD_MULTIPLE)
    throw error("colligo: a progress_thread needs MPI_THREAD_MULTIPLE: boost::mpi::environment(argc, argv, "
                "boost::mpi::threading::multiple) or MPI_Init_thread");
  detail::requests_of_rank& all = detail::mpi_port::all_requests();
  all.share();
  state_->looks = std::thread([period_in_ns, &all, &ends = state_->ends] {
#ifdef PR_SET_TIMERSLACK
    prctl(PR_SET_TIMERSLACK, 1000UL);   // nanoseconds; the 50 us that are usual would be late
#endif
    while (!ends.load(std::memory_order_acquire)) {
      if (all.busy()) all.progress();
      std::this_thread::sleep_for(std::chrono::nanoseconds(period_in_ns));
    }
  });
}

COLLIGO_BODY progress_thread::~progress_thread() {
  state_->ends.store(true, std::memory_order_release);
  state_->looks.join();
}

}  // namespace colligo
