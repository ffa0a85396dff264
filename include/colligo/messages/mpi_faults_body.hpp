// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of mpi_steps.hpp for when this rank or another one has failed, or has left the call.
#pragma once

#include <sched.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "../core/error.hpp"
#include "mpi_steps.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

// Whether a rank goes on to the end of the algorithm after what has just been thrown: without memory that it needs, or
// without the ranks of its host. Those of other hosts wait for its messages, or until it takes theirs.
[[gnu::cold]] COLLIGO_BODY bool mpi_steps::goes_on() {
  try {
    throw;
  } catch (failed_elsewhere const&) {   // by a rank of this host
    data_->fail(std::current_exception());
  } catch (error const&) {   // MPI's, or ranks make different calls
    return false;
  } catch (...) {
    data_->fail(std::current_exception());
  }
  leave_host();
  return true;
}

[[gnu::cold]] COLLIGO_BODY void mpi_steps::leave_host() {
  if (!host_ || std::exchange(left_host_, true)) return;
  try {
    std::rethrow_exception(data_->failure());
  } catch (std::exception const& e) {
    host_->abandon_call(number_, e.what());
  } catch (...) {
    host_->abandon_call(number_, "an exception that is no std::exception");
  }
  leave_memory();
  through_memory_ = false;
}

// The step of a rank that has failed: messages of no bytes out, what comes in goes nowhere. Not into less room than it
// needs: Open MPI 4.1 writes what it reads from another process's memory past the end. Ranks of its host look at the
// calls that it has abandoned.
[[gnu::cold]] COLLIGO_BODY void mpi_steps::hollow(std::span<operand const> operands) {
  leave_host();
  auto const each = [&](piece const& p, auto f) {
    if (shares_memory_with(p.peer)) return;
    std::size_t const bytes = wire_->encode ? 1 : data_->of().bytes(p.elements.size());
    for (std::size_t at = 0; at < bytes; at += longest_segment) f();
  };
  for (piece const p : fragments(operands)) {
    if (!p.sends()) continue;
    each(p, [&] { port_.wire().send_empty(p.peer, number_, mpi_wire::remark::goes_on); });
  }
  for (piece const p : fragments(operands)) {
    if (p.sends()) continue;
    each(p, [&] {
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      int bytes = 0;
      for (int there = 0; !there;) {
        check_mpi(MPI_Improbe(p.peer, tag_, port_.wire().comm(), &there, &message, &status), "MPI_Improbe");
        if (!there) port_.linger();
      }
      check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
      make_taken(static_cast<std::size_t>(bytes));
      check_mpi(MPI_Mrecv(memory_.taken.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
      if (wire_->encode) return take_rest(p.peer, static_cast<std::size_t>(bytes));
      if (bytes == 0 && !note(p.peer, 0, 1)) throw_aborted(p.peer);
    });
  }
}

// The peer has left this call, or has refused it: there is nothing more to be had from it.
[[gnu::cold]] COLLIGO_BODY void mpi_steps::throw_aborted(int peer) {
  left_ = nobody;
  port_.wire().hears_aborts();
  data_->rethrow();
  throw failed_elsewhere(concat({"colligo: rank ", rank(), " in call number ", number_,
                                   " on this communicator: rank ", peer, " has given the call up"}));
}

// A message that is not as long as it has to be. False if its sender has left the call.
[[gnu::cold]] COLLIGO_BODY bool mpi_steps::note(int from, std::size_t bytes, std::size_t wanted) {
  if (bytes == 0 && port_.wire().receive_remark(from, number_) == mpi_wire::remark::abort_message) return false;
  if (data_->has_failed()) return true;
  try {
    std::string const said =
        concat({"colligo: rank ", rank(), " in call number ", number_, " on this communicator: "});
    if (bytes == 0)
      throw failed_elsewhere(concat(
          {said, "rank ", from, " has failed in this call, so that this rank's result is good for nothing"}));
    element const& of = data_->of();
    std::string const what = of.objects ? concat({wanted, " bytes"})
                                        : concat({wanted / of.size, " ", of.name(), " (", wanted, " bytes)"});
    throw mismatch_error(concat({said, "ranks make different calls: ", what, " are expected of rank ", from,
                                   ", it sends ", bytes > wanted ? concat_piece("more") : concat_piece(bytes)}));
  } catch (...) {   // one of the two, or no memory for the words
    data_->fail(std::current_exception());
  }
  return true;
}

// That rank sends no more in this call: what was to come of it in this step is not waited for.
[[gnu::cold]] COLLIGO_BODY void mpi_steps::expect_nothing_of(int peer) {
  left_ = peer;
  for (std::size_t i = 0; i < memory_.messages.size(); ++i) {
    if (memory_.messages[i].from != peer || memory_.requests[i] == MPI_REQUEST_NULL) continue;
    check_mpi(MPI_Cancel(&memory_.requests[i]), "MPI_Cancel");
    memory_.messages[i].from = nobody;
  }
}

[[gnu::cold]] COLLIGO_BODY void mpi_steps::leave() noexcept {
  leave_memory();
  bool const is_out_of_patience = port_.on_wait && port_.on_wait->is_abandoned(number_);
  for (std::size_t i = 0; i < memory_.messages.size() && is_out_of_patience; ++i)   // they may never come
    if (int const from = memory_.messages[i].from; from != nobody) expect_nothing_of(from);
  for (std::size_t i = 0; i < memory_.messages.size();) {
    MPI_Request& its = memory_.requests[i];
    MPI_Status status;
    int done = 1, bytes = 1;
    bool const is_left = its != MPI_REQUEST_NULL;
    int const code = MPI_Test(&its, &done, &status);
    if (code == MPI_SUCCESS && !done) {
      port_.drop_what_is_left();
      sched_yield();
      continue;
    }
    // Why it is empty is among what is dropped.
    if (is_left && code == MPI_SUCCESS && memory_.messages[i].from != nobody) {
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      if (bytes == 0) expect_nothing_of(memory_.messages[i].from);
    }
    ++i;
  }
  memory_.requests.clear(), memory_.messages.clear();
  finished_ = 0, left_ = nobody;
  received_.clear();
}

// A message whose length is known has to be received. A rank that has no room for it has failed, and needs nothing else
// that it holds.
[[gnu::cold]] COLLIGO_BODY void mpi_steps::make_taken(std::size_t bytes) {
  try {
    memory_.taken.resize(bytes);
  } catch (std::bad_alloc const&) {
    data_->fail(std::current_exception());
    memory_.taken = {};
    memory_.taken.resize(bytes);
  }
}

}  // namespace colligo
