// SPDX-License-Identifier: BSL-1.0
/// @file
/// progress_thread: requests make progress while the program computes, without calls of test.
#pragma once

#include <chrono>

#include "../../core/owner.hpp"

namespace colligo::inline COLLIGO_MODE {

/// While it lives, a thread makes progress for this process's requests over MPI every `period`. It sleeps in between.
/// Functors may run in it.
/// Throws error unless MPI was initialised with MPI_THREAD_MULTIPLE. Precondition: ends before MPI_Finalize.
class progress_thread {
 public:
  explicit progress_thread(std::chrono::microseconds period = std::chrono::microseconds(20));
  ~progress_thread();
  progress_thread(progress_thread const&) = delete;
  progress_thread& operator=(progress_thread const&) = delete;

 private:
  struct state;
  detail::owner<state> state_;
};

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "progress_thread_body.hpp"
#endif
