// SPDX-License-Identifier: BSL-1.0
// Which collectives are served, why others are passed on, and the report.
#pragma once

#include <colligo/core/policy.hpp>

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
  /// `none` if calls of this collective are served.
  static reason reason_for(colligo::collective what);
};

/// Counts a call that is passed on, or served (of reason none), if a report is wanted.
void count(colligo::collective what, reason why);
/// The same of a call that makes a persistent request.
void pass_on_persistent(colligo::collective what);

}  // namespace drop_in
