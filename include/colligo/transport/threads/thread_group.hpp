// SPDX-License-Identifier: BSL-1.0
/// @file
/// What ranks that are threads share: their messages, their memory, and reports of failures. A template, so that only
/// units that run threads compile it.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/copy.hpp"
#include "../../core/error.hpp"
#include "../../core/thread.hpp"
#include "../../engine/identity.hpp"
#include "../../engine/scratch.hpp"
#include "../../environment/core_set.hpp"
#include "../memory/shared_host.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The number of cores that this process may run on.
[[gnu::cold]] inline int cores_of_process() {
#if defined(__linux__)
  if (core_set const cores = core_set::of_process(); !cores.empty()) return static_cast<int>(cores.size());
#endif
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

template <class Lazy>
struct group_of_threads {
  // A message on offer. The sender's step owns it until the receiver has taken it.
  struct parcel {
    std::byte const* data;
    std::size_t n;
    element const* of;
    int to;
    std::uint32_t number;    // of the call
    bool failed = false;     // the sender has failed, so the data is not valid
    bool accepted = false;   // the receiver is copying the data; guarded by the receiver's mutex
    bool taken = false;      // the receiver has copied the data; guarded by the sender's mutex
    parcel* next = nullptr;
  };

  // A message that its receiver does not expect of this rank (exchange/). `refusal`, if it is not null, is the reason
  // why the sender's arguments are refused.
  struct letter : parcel {
    int from = 0, way = 0;   // way: of the sender
    std::string const* refusal = nullptr;
  };

  // Thrown in waiting ranks after another rank's function has thrown.
  struct abandoned {};

  // The memory of one rank's channels, in the process: addresses are those of the process, whole, because some systems
  // keep a tag in their highest bits.
  class rank_memory final : public host_memory {
   public:
    std::uint64_t allocate(std::size_t bytes) override {
      std::byte* const fresh = parts_.emplace_back().of_size(bytes);
      return reinterpret_cast<std::uintptr_t>(fresh);
    }
    void take_back() override { parts_.pop_back(); }
    std::byte* at(std::uint64_t address) const override {
      return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
    }

   private:
    std::vector<buffer> parts_;
  };

  // Numbers of calls, any number of them: 8 bytes for each run of calls that follow each other.
  class numbers_of_calls {
   public:
    void add(std::uint32_t number) noexcept try {
      locked const lock(mutex_);
      std::size_t const next = runs_before(number);
      bool const extends = next != 0 && number <= runs_[next - 1].last + 1;
      if (extends) runs_[next - 1].last = std::max(runs_[next - 1].last, number);
      else runs_.insert(runs_.begin() + static_cast<std::ptrdiff_t>(next), {number, number});
    } catch (std::bad_alloc const&) {   // the latest are known all the same
    }
    bool has(std::uint32_t number) const {
      locked const lock(mutex_);
      std::size_t const next = runs_before(number);
      return next != 0 && number <= runs_[next - 1].last;
    }
    void forget_before(std::uint32_t number) {
      locked const lock(mutex_);
      std::erase_if(runs_, [=](run const& r) { return number - r.last > abandoned_calls::remembered; });
    }

   private:
    struct run { std::uint32_t first, last; };
    std::size_t runs_before(std::uint32_t number) const {
      auto const is_before = [](std::uint32_t n, run const& r) { return n < r.first; };
      return static_cast<std::size_t>(std::upper_bound(runs_.begin(), runs_.end(), number, is_before) - runs_.begin());
    }
    mutex mutable mutex_;        // nothing else is locked meanwhile
    std::vector<run> runs_;      // in ascending order
  };

  class group {
   public:
    explicit group(int p) : ranks_(static_cast<std::size_t>(p)) {
      for (auto& rank : ranks_) rank.offered.resize(static_cast<std::size_t>(p));
    }

    void offer(int from, parcel& p) {
      rank_state& d = at(p.to);
      append(d, d.offered[static_cast<std::size_t>(from)], p);
    }

    /// The first message of `from` in the call `number`. If there is none: waits for it, or returns null.
    parcel* accept(int from, int to, std::uint32_t number, bool waits) {
      rank_state& d = at(to);
      parcel* found = nullptr;
      auto const there = [&] {
        return (found = found ? found : take(d.offered[static_cast<std::size_t>(from)], number)) != nullptr;
      };
      locked lock(d.mutex);
      await(lock, to, from, number, there, waits);
      return found;
    }

    void took(int from, parcel& p) {
      rank_state& d = at(from);
      locked const lock(d.mutex);
      p.taken = true;
      d.changed.notify_all();
    }

    bool is_taken(int from, parcel const& p, bool waits) {
      locked lock(at(from).mutex);
      return await(lock, from, p.to, p.number, [&] { return p.taken; }, waits);
    }

    void post(letter& l) {
      rank_state& d = at(l.to);
      append(d, d.letters, l);
    }
    /// The first letter to this rank in the call `number`; null: there is none.
    letter* take_letter(int rank, std::uint32_t number) {
      rank_state& d = at(rank);
      locked const lock(d.mutex);
      return static_cast<letter*>(take(d.letters, number));
    }
    /// Throws if a rank has abandoned the call.
    void require_all_in_call(int rank, std::uint32_t number) {
      for (std::size_t r = 0; r < ranks_.size(); ++r)
        if (ranks_[r].calls_abandoned.has(number))
          throw failed_elsewhere(abandoned_there(at_call(rank, number), static_cast<int>(r),
                                                 ranks_[r].calls_abandoned.reason(number)));
    }

    // For a sender that gives up its step: afterwards no rank reads the message.
    void withdraw(int from, parcel const& p) {
      {
        rank_state& d = at(p.to);
        locked const lock(d.mutex);
        if (!p.accepted) {
          for (parcel** first : {&d.offered[static_cast<std::size_t>(from)], &d.letters})
            for (parcel** place = first; *place; place = &(*place)->next)
              if (*place == &p) {
                *place = p.next;
                return;
              }
          return;
        }
      }
      rank_state& d = at(from);
      locked lock(d.mutex);
      d.changed.wait(lock, [&] { return p.taken; });   // being copied at this moment
    }

    void leave(int rank, std::exception_ptr error) {
      locked const lock(state_);
      if (error && !first_) {   // first, so that no rank takes this one for one that has left in peace
        first_ = error;
        failed_ = true;
      }
      at(rank).gone = true;
      wake_all();
    }

    /// A rank abandons a call: ranks that wait for it in this call throw.
    void abandon_call(int rank, std::uint32_t number, std::string_view why) noexcept {
      locked const lock(state_);
      at(rank).calls_abandoned.add(number, why);
      at(rank).all_abandoned.add(number);
      wake_all();
    }
    void forget_calls(int rank, std::uint32_t number) noexcept {
      at(rank).calls_abandoned.forget_before(number);
      at(rank).all_abandoned.forget_before(number);
    }
    void report_waits(int rank, patience* watcher) { at(rank).on_wait = watcher; }
    static bool is_gone(void* self, int rank) { return static_cast<group*>(self)->at(rank).gone; }

    std::exception_ptr first_error() const { return first_; }
    bool failed() const { return failed_; }

    /// The segments of all ranks for shared_host, made and set to zeros by the first rank that needs them.
    std::vector<std::byte*> segments() {
      locked const lock(state_);
      std::size_t const bytes = segment_layout(static_cast<int>(ranks_.size())).bytes();
      std::vector<std::byte*> begins;
      segments_.resize(ranks_.size());
      for (buffer& segment : segments_) {
        bool const fresh = segment.empty();
        begins.push_back(segment.of_size(bytes));
        if (fresh) std::memset(begins.back(), 0, bytes);
      }
      return begins;
    }
    /// The memory of a rank's channels. It lives as long as the group, because other ranks may still read it.
    host_memory& memory_of(int rank) { return at(rank).memory; }
    static void wait_in_memory(void* self) {
      if (static_cast<group*>(self)->failed_) throw abandoned{};
      sched_yield();
    }
    static bool read(void*, int, std::byte* into, std::byte const* address, std::size_t bytes) {
      copy_bytes(address, bytes, into);
      return true;
    }

   private:
    struct rank_state {
      detail::mutex mutex;
      condition changed;
      std::vector<parcel*> offered;   // for each sender: a list of messages to this rank
      parcel* letters = nullptr;      // a list of those of any sender
      rank_memory memory;
      std::atomic<bool> gone = false;
      patience* on_wait = nullptr;   // used by this rank alone
      abandoned_calls calls_abandoned;   // with reasons, those of the latest
      numbers_of_calls all_abandoned;
    };

    static void append(rank_state& d, parcel*& list, parcel& p) {
      locked const lock(d.mutex);
      parcel** last = &list;
      while (*last) last = &(*last)->next;
      *last = &p;
      d.changed.notify_all();
    }
    // Takes the first one in the call `number` out of a list; null: there is none. The list's mutex is locked.
    static parcel* take(parcel*& list, std::uint32_t number) {
      parcel** place = &list;
      while (*place && (*place)->number != number) place = &(*place)->next;
      parcel* const found = *place;
      if (found) *place = found->next, found->accepted = true;
      return found;
    }

    void wake_all() {
      for (rank_state& d : ranks_) {
        locked const lock(d.mutex);
        d.changed.notify_all();
      }
    }

    rank_state& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

    // Of any number of calls: a rank that is late by many would wait for ever if one were forgotten, and a request that
    // is older than many refused calls may still be in progress.
    bool has_abandoned(int rank, std::uint32_t number) {
      return at(rank).all_abandoned.has(number) || at(rank).calls_abandoned.has(number);
    }

    // Returns ready(), which it waits for if `waits`. Throws if the peer can no longer make it true.
    template <class Ready>
    bool await(locked& lock, int rank, int peer, std::uint32_t number, Ready ready, bool waits) {
      auto const hopeless = [&] { return at(peer).gone || has_abandoned(peer, number); };
      auto const over = [&] { return ready() || hopeless(); };
      if (waits && !at(rank).on_wait) at(rank).changed.wait(lock, over);
      while (waits && !at(rank).changed.wait_for(lock, 5, over)) at(rank).on_wait->waits();
      if (ready()) return true;
      if (!waits && !hopeless()) return false;
      lock.unlock();
      locked const state(state_);
      if (first_) throw abandoned{};
      if (has_abandoned(peer, number))
        throw failed_elsewhere(abandoned_there(at_call(rank, number), peer, at(peer).calls_abandoned.reason(number)));
      throw error(left_before(at_call(rank, number), peer));
    }

    std::vector<rank_state> ranks_;
    mutex state_;
    std::exception_ptr first_;
    std::atomic<bool> failed_ = false;
    std::vector<buffer> segments_;
  };
};

}  // namespace colligo
