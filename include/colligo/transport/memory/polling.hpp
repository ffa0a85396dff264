// SPDX-License-Identifier: BSL-1.0
/// @file
/// How a rank waits in shared memory: it polls, and now and then yields its core.
#pragma once

#include "../../engine/waits.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Relaxes the core for hyper-threads and power while a rank polls.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Where the ranks of a host have cores of their own, a rank polls for long, unless it has often done so in vain.
class polling {
 public:
  /// `spins`, `polls_first`, `yield` and `context`: see surroundings.
  explicit polling(bool spins = false, bool polls_first = false, void (*yield)(void*) = nullptr,
                   void* context = nullptr)
      : spins_(spins), polls_before_yield_(spins ? many_polls : polls_first ? brief_polls : 1), yield_(yield),
        context_(context) {}

  bool spins() const { return spins_; }
  unsigned polls_before_yield() const { return polls_before_yield_; }
  void report_to(patience* watcher) { on_wait_ = watcher; }
  /// Called between two polls; `polls` is 0 at the first of them. Returns true now and then, when the caller should
  /// check whether the other ranks are still there.
  bool pause(unsigned& polls) {
    if (++polls == 1 && spins_) begin_wait();
    if ((polls & (polls_before_yield_ - 1)) != 0) {
      relax();
      return false;
    }
    yield_core();
    return spins_ || polls % (64 * polls_before_yield_) == 0;
  }

 private:
  // Polls before a rank yields, powers of two. The many take some 100 us: then a late peer may need progress of MPI.
  // The few take longer than the copy of a chunk: then another process may need the core.
  // The brief ones, where other ranks need the cores, take as long as a context switch: a running peer answers before.
  static constexpr unsigned many_polls = 4096, few_polls = 512, brief_polls = 32;
  // After most_fruitless waits of many polls, with less than `weight` shorter ones between two of them, polling is
  // useless: the rank polls only few times in the next impatient_waits waits.
  static constexpr unsigned most_fruitless = 8, weight = 16, most_impatient = 256;

  void begin_wait() {
    if (polls_before_yield_ == many_polls) fruitless_ -= fruitless_ > 0;
    else if (++impatient_waits_ == most_impatient) polls_before_yield_ = many_polls, fruitless_ = 0;
  }
  [[gnu::noinline]] void yield_core() {
    if (polls_before_yield_ == many_polls && (fruitless_ += weight) >= most_fruitless * weight)
      polls_before_yield_ = few_polls, impatient_waits_ = 0;
    yield_(context_);
    if (on_wait_) on_wait_->waits();
  }

  bool spins_;
  unsigned polls_before_yield_, fruitless_ = 0, impatient_waits_ = 0;
  void (*yield_)(void*);
  void* context_;
  patience* on_wait_ = nullptr;
};

}  // namespace colligo
