// SPDX-License-Identifier: BSL-1.0
/// @file
/// A thread and a condition variable, as the standard library's headers of these names have. Those also declare clocks
/// and stop tokens, and cost every unit an eighth of a second.
#pragma once

#include <pthread.h>
#include <time.h>

#include <atomic>

#include "error.hpp"
#include "mutex.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Tells an object of this process from the copy of a parent's. Counts forks, because getpid is a slow system call.
class fork_watch {
 public:
  fork_watch() { [[maybe_unused]] static int const counts = pthread_atfork(nullptr, nullptr, [] { ++forks_; }); }
  bool is_of_parent() const { return made_after_ != forks_; }

 private:
  static inline std::atomic<unsigned> forks_ = 0;   // that led to this process
  unsigned const made_after_ = forks_;
};

/// Runs f(context), and waits for its end when it is destroyed; not in a child of fork(), which lacks the thread.
class thread {
 public:
  thread(void (*f)(void* context), void* context) : f_(f), context_(context) {
    auto const run = [](void* of) -> void* {
      auto const& started = *static_cast<thread*>(of);
      return started.f_(started.context_), nullptr;
    };
    if (pthread_create(&handle_, nullptr, run, this) != 0) throw error("colligo: the system starts no further thread");
  }
  thread(thread const&) = delete;
  thread& operator=(thread const&) = delete;
  ~thread() {
    if (!fork_.is_of_parent()) pthread_join(handle_, nullptr);
  }

 private:
  void (*f_)(void* context);
  void* context_;
  fork_watch fork_;
  pthread_t handle_{};
};

/// A condition variable. over() is called with the lock held.
class condition {
 public:
  condition() = default;
  condition(condition const&) = delete;
  condition& operator=(condition const&) = delete;
  ~condition() { pthread_cond_destroy(&condition_); }

  void notify_all() { pthread_cond_broadcast(&condition_); }
  template <class Over>
  void wait(locked& lock, Over const& over) {
    while (!over()) pthread_cond_wait(&condition_, lock.native());
  }
  /// Returns over() when it is true or `milliseconds` have passed.
  template <class Over>
  bool wait_for(locked& lock, long milliseconds, Over const& over) {
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += milliseconds * 1'000'000;
    until.tv_sec += until.tv_nsec / 1'000'000'000, until.tv_nsec %= 1'000'000'000;
    while (!over())
      if (pthread_cond_timedwait(&condition_, lock.native(), &until) != 0) return over();
    return true;
  }

 private:
  pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;
};

}  // namespace colligo
