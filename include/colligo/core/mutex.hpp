// SPDX-License-Identifier: BSL-1.0
/// @file
/// Mutexes and their locks. The standard library's header of this name also declares clocks and ratios, of which each
/// unit would compile a hundred templates.
#pragma once

#include <pthread.h>

#include "mode.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

class mutex {
 public:
  mutex() = default;
  mutex(mutex const&) = delete;
  mutex& operator=(mutex const&) = delete;

  void lock() { pthread_mutex_lock(&mutex_); }
  bool try_lock() { return pthread_mutex_trylock(&mutex_) == 0; }
  void unlock() { pthread_mutex_unlock(&mutex_); }
  pthread_mutex_t* native() { return &mutex_; }

 protected:
  explicit mutex(int kind) : mutex_() {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, kind);
    pthread_mutex_init(&mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

/// A thread that has locked it may lock it again.
class recursive_mutex : public mutex {
 public:
  recursive_mutex() : mutex(PTHREAD_MUTEX_RECURSIVE) {}
};

/// Keeps a mutex locked while it lives, at most until unlock().
class locked {
 public:
  explicit locked(mutex& of) : mutex_(&of) { of.lock(); }
  /// `of` may be null: then it locks nothing.
  explicit locked(mutex* of) : mutex_(of) {
    if (of) of->lock();
  }
  locked(locked const&) = delete;
  locked& operator=(locked const&) = delete;
  ~locked() { unlock(); }

  /// Locks nothing if another thread has locked the mutex: is_held() is false then.
  static locked if_free(mutex& of) { return locked(of.try_lock() ? &of : nullptr, already()); }

  bool is_held() const { return mutex_ != nullptr; }
  void unlock() {
    if (mutex_) mutex_->unlock();
    mutex_ = nullptr;
  }
  /// Precondition: it is held.
  pthread_mutex_t* native() const { return mutex_->native(); }

 private:
  struct already {};
  locked(mutex* of, already) : mutex_(of) {}

  mutex* mutex_;
};

}  // namespace colligo
