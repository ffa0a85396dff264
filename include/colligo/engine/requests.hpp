// SPDX-License-Identifier: BSL-1.0
/// @file
/// Collectives that are started and waited for. A request walks the rank's plan; all requests of a rank make progress
/// whenever it tests one, waits for one, or makes a blocking call.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>

#include "../core/row.hpp"
#include "../plan/walk.hpp"
#include "port.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// A collective on one rank that is performed step by step, any number of times. What a program starts again and
/// again is worked out once: a request that is complete is kept for a while, and takes other arguments.
class running final : public kept_with_port {
 public:
  /// Decides all and allocates all; collective only where the port's memory is first asked for.
  running(port_base& port, call const& its, choice const& by, owner<owned_by_request> owned, bool persistent);
  COLLIGO_BODY ~running() override;
  running(running const&) = delete;
  running& operator=(running const&) = delete;

  /// Throws error if it is active.
  void start();
  /// True if it is complete; then its exception, if there was one, comes out, once.
  bool test();
  void wait();
  bool in_progress() const { return in_progress_.load(std::memory_order_acquire); }
  /// Started, and neither waited for nor tested to the end.
  bool active() const { return active_; }
  /// Makes progress; true if it is complete.
  bool complete();
  void yield_core(unsigned& polls);

  /// One that is kept and does the same, for these arguments, or none. As collective as making one.
  static owned_running kept(port_base& port, call const& its, choice const& by,
                            owner<owned_by_request>& owned);
  /// For whoever had it: keeps it, or ends it.
  static void leave(owner<running> its);

 private:
  friend class requests_of_rank;
  static void run_among(port_base& port, policy_run const& run);

  void end_silently() noexcept;
  void work_on_arguments();
  bool does(call const& its, choice const& by) const;
  void begin(std::uint32_t number);
  bool advance();
  void begin_step(std::span<operand const> operands, list_kind kind);
  bool end_step();
  void finish();
  void rethrow();

  std::shared_ptr<port_base> lives_;   // the communicator may be freed meanwhile; null while this one is kept with it
  port_base& port_;
  requests_of_rank& all_;
  call its_;
  choice by_;
  std::uint32_t number_ = 0;
  row<std::size_t> offsets_;
  owner<owned_by_request> owned_;
  scratch memory_;
  rank_plan plan_;
  working_place place_;               // what is not the user's is result_
  bool copies_input_ = false, uses_memory_ = false, reusable_ = false;
  std::optional<room> result_, input_;
  values<std::byte const> in_;
  values<std::byte> out_, beyond_;
  std::optional<working_vector> data_;   // of these three
  owner<moving_step> steps_;
  std::size_t at_ = 0;
  struct { std::size_t call; std::int64_t began, combining, combined_before; } traced_{};   // by port_.trace
  bool begun_ = false, active_ = false;
  bool inside_ = false;   // it makes progress: what a functor of its calls finds it so
  std::atomic<bool> in_progress_ = false;
  std::exception_ptr failed_, stalled_;
};

/// All requests of one rank: of a process over MPI, of a thread of run_threads.
class requests_of_rank {
 public:
  /// Who sees that nothing is in progress sees all that a thread has done that made progress.
  bool busy() const { return count_.load(std::memory_order_acquire) != 0; }

  /// Several threads may come here: from now on they take turns.
  void share() { shared_ = true; }

  /// One round for all that are in progress. True if one has been completed.
  bool progress() {
    auto const advance = advance_all.load(std::memory_order_relaxed);
    return advance != nullptr && advance(*this);
  }
  void add(running& r, std::uint32_t number);
  /// Throws error in a functor of a request over this port: what it calls there could meet nothing of other ranks'.
  void refuse_inside(port_base const& port);
  /// Several threads may make and drop requests.
  std::unique_lock<std::recursive_mutex> lock() {
    return shared_ ? std::unique_lock(mutex_) : std::unique_lock(mutex_, std::defer_lock);
  }
  /// MPI ends: those in progress fail, none is started any more.
  void end();
  /// So that add() does not allocate for one more.
  void make_room(int one_more_or_less);
  // Set by the first request, so that units without any compile neither.
  /// A blocking call while requests are in progress: all of them go on meanwhile.
  void (*run_among)(port_base& port, policy_run const& run) = nullptr;
  std::atomic<bool (*)(requests_of_rank& its)> advance_all = nullptr;

 private:
  friend class running;
  bool advance();

  std::recursive_mutex mutex_;
  std::atomic<bool> shared_ = false;
  std::atomic<int> count_ = 0;
  std::size_t made_ = 0;
  bool ended_ = false;
  std::uint64_t walk_ = 0;   // the latest, by number
  int walks_ = 0;            // one inside the other: a functor may make calls, over other ports
  row<running*> in_progress_;  // in the order of their starts; null: complete
};

}  // namespace colligo
