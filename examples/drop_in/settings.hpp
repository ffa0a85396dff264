// SPDX-License-Identifier: BSL-1.0
// Which collectives are served, why others are passed on, and the report.
#pragma once

#include "drop_in.hpp"

#include <colligo/core/policy.hpp>

#include <atomic>
#include <cstdint>

namespace drop_in {

/// Why a call is passed on.
enum class reason {
  none, off, not_begun, wrong_mpi, settings_differ, no_communicator, intercommunicator, one_rank, arguments, operation,
  no_state, other_world, being_freed, request, persistent_request, first_request, request_counts, request_operation,
  request_messages
};
inline constexpr int reasons = 19;
/// So many communicators are served at a time. Each takes another one of MPI's, and MPICH has 2048 in all.
inline constexpr int most_served = 128;

struct settings {
  static inline std::atomic<reason> everywhere = reason::not_begun;
  static inline std::uint64_t wanted = 0;   // a bit for each collective

  /// `none` if calls of this collective are served.
  static reason reason_for(colligo::collective what) {
    reason const why = everywhere.load(std::memory_order_acquire);
    if (why != reason::none) return why;
    return (wanted >> static_cast<int>(what) & 1) != 0 ? reason::none : reason::off;
  }
};

void count_for_report(colligo::collective what, reason why);
/// Counts a call that is passed on, or served (of reason none), if a report is wanted.
inline void count(colligo::collective what, reason why) {
  if (reports) [[unlikely]] count_for_report(what, why);
}
/// The same of a call that makes a persistent request.
void pass_on_persistent(colligo::collective what);

}  // namespace drop_in
