// SPDX-License-Identifier: BSL-1.0
/// @file
/// The interface of COLLIGO_PATIENCE to waiting loops, usually a null pointer. tools/waiting_for.hpp implements it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "../core/any_step.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

class observer;
class working_vector;
struct call;
struct erased_policy;
struct policy_run;

/// Watches this rank's waits.
class patience {
 public:
  virtual ~patience() = default;

  /// Runs the algorithm on steps that announce what comes next; `trace` observes, or null.
  virtual void watch(policy_run const& run, any_step& step, working_vector& data, observer* trace) = 0;
  /// Called by a loop that waits in a call, once it has begun to yield. Throws stalled if COLLIGO_PATIENCE says so.
  virtual void waits() = 0;
  /// The same for a request, of which a step is in progress: a loop waits for it, or it has been tested in vain.
  virtual void waits_for(call const& call, erased_policy const& what, std::uint32_t number, bool in_memory,
                         std::size_t step, std::span<operand const> operands) = 0;

  /// A request begins, and ends.
  virtual void starts(std::uint32_t number) = 0;
  virtual void completes(std::uint32_t number) = 0;

  /// Whether this rank has lost patience with this call and abandoned it: its messages may never come.
  virtual bool is_abandoned(std::uint32_t number) const = 0;

  /// A blocking call that does not consist of steps.
  virtual void enter(call const& call, erased_policy const& what, std::uint32_t number) = 0;
  virtual void leave() = 0;
};

/// Calls leave() in the destructor.
struct stay_in_call {
  patience* watcher;
  ~stay_in_call() {
    if (watcher) watcher->leave();
  }
};

}  // namespace colligo
