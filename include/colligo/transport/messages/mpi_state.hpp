// SPDX-License-Identifier: BSL-1.0
/// @file
/// The state of an MPI communicator, an attribute of it: scratch, shared memory, and a communicator of the library's
/// own with the same ranks, so that a user's wild-card receives never match its messages.
#pragma once

#include <mpi.h>
#include <sched.h>

#include "../../engine/communicator_state.hpp"
#include "../../engine/requests.hpp"
#include "mpi_endpoint.hpp"
#include "mpi_vendor.hpp"
#include "mpi_wire.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

namespace mpi {

inline mpi_element const& element_of(call const& call) { return *static_cast<mpi_element const*>(call.wire); }

}  // namespace mpi

class mpi_shared;
class missing_memory;

class mpi_state final : public communicator_state {
 public:
  /// Made on first use, which is collective.
  static mpi_state& of(MPI_Comm user) { return static_cast<mpi_state&>(mpi_endpoint(user)); }
  static mpi_state& look_up(MPI_Comm user);
  COLLIGO_BODY ~mpi_state() override;

  mpi_wire& wire() { return wire_; }
  int look_ups = 0;   // the first hundred

  /// The shared memory of this host's ranks; null if there is none, and for a single rank. The same on all ranks.
  shared_host* shared() const { return host_ ? host_ : no_memory(); }
  /// The same, but null for elements that can not travel through it.
  shared_host* shared_for(element const& of) const;

  shared_host* automatic_memory(element const& of) override { return size_ > 1 ? shared_for(of) : nullptr; }
  COLLIGO_BODY std::string why_no_memory(element const& of) override;
  COLLIGO_BODY bool has_vendor(call const& call) const override;
  COLLIGO_BODY void const* wire_of_bytes() const override;
  COLLIGO_BODY owner<moving_step> steps_for_request(working_vector& data, call const& call, transport over) override;
  COLLIGO_BODY owner<moving_step> vendor_request(call const& call, bool persistent) override;
  COLLIGO_BODY void yield_core(unsigned& polls) const override;
  COLLIGO_BODY bool uses_memory(call const& call, transport over) override;

  COLLIGO_BODY void abandon_call(std::uint32_t number, std::string_view why, bool begun) noexcept override;
  COLLIGO_BODY void forget_calls() noexcept override;
  /// A blocking call has to poll for its messages, because the rank drops messages or watches its waits meanwhile.
  bool must_poll() const { return left_calls::any() || watches_waits() || requests().busy(); }
  /// Called between two polls. Throws stalled.
  void wait_between_polls() {
    sched_yield();
    left_calls::drop_messages();
    requests().progress_if_free();
    if (on_wait) on_wait->waits();
  }

  /// Requests of this process on all communicators.
  static requests_of_rank& all_requests();

 private:
  friend class mpi_bootstrap;
  explicit mpi_state(MPI_Comm user);
  COLLIGO_BODY void perform(working_vector& data, policy_run const& run) override;
  COLLIGO_BODY void run_vendor(call const& call, bool blocking) override;
  COLLIGO_BODY bool goes_on_without_memory(call const& call, transport over) override;
  shared_host* no_memory() const;
  static int make_key();

  owner<mpi_shared> shared_;
  shared_host* host_ = nullptr;        // owned by shared_
  owner<missing_memory> missing_;
  struct steps_memory;
  owner<steps_memory> steps_memory_;   // of blocking calls
  mpi_wire wire_;   // last, so that it is destroyed first
};

/// A communicator of the same ranks without the user's attributes: duplicating would run their callbacks. Collective.
MPI_Comm make_communicator_like(MPI_Comm user);

/// Traces a communicator if COLLIGO_TRACE is set. Units that include trace.hpp set it.
inline owner<observer> (*follow_mpi)(MPI_Comm comm, run_list const& hosts) = nullptr;

}  // namespace colligo
