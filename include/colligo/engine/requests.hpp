// SPDX-License-Identifier: BSL-1.0
/// @file
/// Requests. A request performs the rank's plan step by step. All requests of a rank make progress whenever the
/// rank tests one, waits for one, or makes a blocking call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>

#include "../core/small_vector.hpp"
#include "../core/thread.hpp"
#include "../plan/walk.hpp"
#include "communicator_state.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// A collective on one rank that is performed step by step, any number of times. A complete request is kept for a while
/// and reused with other arguments, so that a program that repeats a call plans it once.
class running final : public kept_with_state {
 public:
  /// Makes all decisions and allocations. Collective only if the state's shared memory has not been used before.
  running(communicator_state& state, call const& asked, choice const& by, owner<owned_by_request> owned,
          bool persistent);
  /// Of steps that are no algorithm's, as one: `by` has a name alone. They allocate before they are passed.
  running(communicator_state& state, call const& call, choice const& by, owner<moving_step> steps,
          owner<owned_by_request> owned);
  COLLIGO_BODY ~running() override;
  running(running const&) = delete;
  running& operator=(running const&) = delete;

  /// Throws error if it is active.
  void start();
  /// The same as a call that has been counted already.
  void start_as(std::uint32_t number);
  /// True if it is complete; throws its exception then, once.
  bool test();
  void wait();
  bool in_progress() const { return in_progress_.load(std::memory_order_acquire); }
  /// It is in progress, and fails with this exception.
  void fail(std::exception_ptr why);
  /// Started, and neither wait nor test has seen it complete.
  bool active() const { return active_; }
  /// Makes progress; true if it is complete.
  bool complete();
  void yield_core(unsigned& polls);
  /// For COLLIGO_PATIENCE: the rank has looked in vain.
  void note_wait();

  /// A kept request for the same call, with these arguments; null if there is none. `by`: null for automatic.
  /// Collective as the constructor is.
  static owned_running kept(communicator_state& state, call const& call, choice const* by,
                            owner<owned_by_request>& owned);
  /// Called by its last owner: keeps it for reuse, or destroys it.
  static void leave(owner<running> request);

 private:
  friend class requests_of_rank;
  static void run_among(communicator_state& state, policy_run const& run);

  void end_silently() noexcept;
  range holds();
  void make_room();
  void work_on_arguments();
  void prepare();
  bool matches(call const& call, choice const* by) const;
  void begin(std::uint32_t number);
  void begin_performing(bool records);
  bool advance(bool waits = false);
  bool advance_played(bool waits);
  void begin_step(std::span<operand const> operands, list_kind kind);
  bool end_step();
  void finish();
  void rethrow();

  std::shared_ptr<communicator_state>
      state_life_;   // its communicator may be freed before; null while the state keeps this one
  communicator_state& state_;
  requests_of_rank& all_;
  call call_;
  choice by_;
  std::uint32_t number_ = 0;
  small_vector<std::size_t> offsets_;
  call_signature signature_;          // if it is reusable
  owner<owned_by_request> owned_;
  scratch memory_;
  rank_plan plan_;
  working_place place_;               // its memory that is not the user's is in result_
  bool copies_input_ = false, uses_memory_ = false, reusable_ = false;
  std::size_t bytes_ = 0;             // of memory that it owns, if it is reusable
  std::optional<room> result_, input_;
  values<std::byte const> in_;
  values<std::byte> out_, beyond_;
  std::optional<working_vector> data_;   // refers to in_, out_ and beyond_
  owner<moving_step> steps_;
  owner<prepared_call> prepared_;     // null: steps are performed
  std::optional<run_record> record_;  // of this run
  bool plays_ = false;                // this run is played
  unsigned runs_ = 0;
  std::size_t current_ = 0;           // index of the step in progress
  struct { std::size_t call; std::int64_t began, combining, combined_before; } traced_{};   // by state_.trace
  bool begun_ = false, active_ = false, is_started_ = false;
  bool advancing_ = false;   // advance() runs, perhaps in the functor, which may call the library
  std::atomic<bool> in_progress_ = false;
  std::exception_ptr failed_, stalled_;
  std::uintptr_t hooked_ = 0;   // what a tool has returned at the start
  bool is_told_ = false;        // it has been told of this start
};

/// All requests of one rank: of a process over MPI, of a thread of run_threads.
class requests_of_rank {
 public:
  /// Acquire: a thread that sees no request in progress sees all writes of the thread that made progress.
  bool busy() const { return count_.load(std::memory_order_acquire) != 0; }

  /// In a child of fork(): the requests belong to the parent, and a thread that the child lacks may hold the mutex.
  bool are_of_parent() const { return fork_.is_of_parent(); }

  /// From now on several threads may call, one at a time.
  void share() { shared_ = true; }

  /// One round of progress for all requests in progress. True if one has completed.
  bool progress() {
    auto const advance = advance_all.load(std::memory_order_relaxed);
    return advance != nullptr && advance(*this);
  }
  /// For a call that waits, whose functor may have started requests. Not while another thread makes progress, which may
  /// wait for this call.
  bool progress_if_free() {
    if (!busy()) return false;
    locked const turn = locked::if_free(mutex_);
    return turn.is_held() && progress();
  }
  void add(running& r, std::uint32_t number);
  /// Advances a request that plays, if it is the only one and no other thread makes progress; otherwise returns false.
  bool advance_alone(running& r, bool waits);
  /// Inside a functor of a request over this state: a call there could match no call of other ranks.
  bool is_inside(communicator_state const& state);
  static inline thread_local communicator_state const* of_vendor = nullptr;   ///< whose functor MPI has called
  /// Throws error there.
  void refuse_inside(communicator_state const& state);
  /// Several threads may make and drop requests.
  locked lock() { return locked(shared_ && !are_of_parent() ? &mutex_ : nullptr); }
  /// Requests in progress fail, and none may be started: MPI has been finalised, or they are the parent's.
  void end();
  /// Reserves memory, so that add() does not allocate.
  void make_room(int one_more_or_less);
  // The first request sets these two pointers, so that units without requests compile neither function.
  /// Runs a blocking call while requests are in progress, which continue meanwhile.
  std::atomic<void (*)(communicator_state& state, policy_run const& run)> run_among = nullptr;
  std::atomic<bool (*)(requests_of_rank& requests)> advance_all = nullptr;

 private:
  friend class running;
  bool advance();
  void drop_complete();

  recursive_mutex mutex_;
  fork_watch fork_;
  std::atomic<bool> shared_ = false;
  std::atomic<int> count_ = 0;
  std::size_t made_ = 0;
  bool ended_ = false;
  std::uint64_t walk_ = 0;   // number of the latest walk over the requests
  int walks_ = 0;            // walks in progress, nested: a functor may make calls over other states
  small_vector<running*> in_progress_;  // in the order of their starts; null: complete
};

}  // namespace colligo
