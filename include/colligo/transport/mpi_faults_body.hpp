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

// Whether a rank goes on to the end of the text after what has just been thrown: without memory that it needs, or
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
    host_->give_up(number_, e.what());
  } catch (...) {
    host_->give_up(number_, "an exception that is no std::exception");
  }
  leave_memory();
  through_memory_ = false;
}

// The step of a rank that has failed: messages of no bytes out, what comes in goes nowhere. Not into less room than it
// needs: Open MPI 4.1 writes what it reads from another process's memory past the end. Ranks of its host look at what
// it has given up.
[[gnu::cold]] COLLIGO_BODY void mpi_steps::hollow(std::span<operand const> operands) {
  leave_host();
  auto const each = [&](piece const& p, auto f) {
    if (shares_memory_with(p.peer)) return;
    std::size_t const bytes = wire_->encode ? 1 : data_->of().bytes(p.elements.size());
    for (std::size_t at = 0; at < bytes; at += longest_piece) f();
  };
  for_each_piece(operands, [&](piece const& p) {
    if (!p.sends()) return;
    each(p, [&] { check_mpi(MPI_Send(nullptr, 0, MPI_BYTE, p.peer, tag_, port_.comm()), "MPI_Send"); });
  });
  for_each_piece(operands, [&](piece const& p) {
    if (p.sends()) return;
    each(p, [&] {
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      int bytes = 0;
      for (int there = 0; !there;) {
        check_mpi(MPI_Improbe(p.peer, tag_, port_.comm(), &there, &message, &status), "MPI_Improbe");
        if (!there) port_.linger();
      }
      check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
      make_taken(static_cast<std::size_t>(bytes));
      check_mpi(MPI_Mrecv(memory_.taken.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
      auto const* const came = reinterpret_cast<std::byte const*>(memory_.taken.data());
      auto const all = static_cast<std::size_t>(bytes);
      if (mpi_port::is_farewell(came, all, all)) tell_left(p.peer);
      if (wire_->encode && bytes != 0) take_rest(p.peer, static_cast<std::size_t>(bytes));
    });
  });
}

// The peer has left this call, or has refused it: there is nothing more to be had from it.
[[gnu::cold]] COLLIGO_BODY void mpi_steps::tell_left(int peer) {
  port_.hears_of_farewells();
  data_->rethrow();
  throw failed_elsewhere(sentence({"colligo: rank ", rank(), " in call number ", number_,
                                   " on this communicator: rank ", peer, " has given the call up"}));
}

// A message that is not as long as it has to be, or might be a farewell.
[[gnu::cold]] COLLIGO_BODY void mpi_steps::note(int from, std::byte const* message, std::size_t bytes,
                                                std::size_t wanted) {
  if (message && mpi_port::is_farewell(message, bytes, wanted)) tell_left(from);
  if (bytes == wanted || data_->has_failed()) return;
  try {
    std::string const said =
        sentence({"colligo: rank ", rank(), " in call number ", number_, " on this communicator: "});
    if (bytes == 0)
      return data_->fail(std::make_exception_ptr(failed_elsewhere(sentence(
          {said, "rank ", from, " has failed in this call, so that this rank's result is good for nothing"}))));
    data_->fail(std::make_exception_ptr(mismatch_error(
        sentence({said, "ranks make different calls: ", wanted / data_->of().size, " ", data_->of().name(), " (",
                  wanted, " bytes) are expected of rank ", from, ", it sends ",
                  bytes > wanted ? word("more") : word(bytes)}))));
  } catch (std::bad_alloc const&) {   // of the words
    data_->fail(std::current_exception());
  }
}

[[gnu::cold]] COLLIGO_BODY void mpi_steps::leave() noexcept {
  leave_memory();
  if (port_.on_wait && port_.on_wait->has_given_up(number_))   // it may never come
    for (std::size_t i = 0; i < memory_.messages.size(); ++i)
      if (memory_.messages[i].from != nobody && memory_.requests[i] != MPI_REQUEST_NULL)
        MPI_Cancel(&memory_.requests[i]);
  int code = MPI_SUCCESS;
  for (int done = memory_.requests.empty(); !done && code == MPI_SUCCESS; sched_yield()) {
    code = MPI_Testall(static_cast<int>(memory_.requests.size()), memory_.requests.data(), &done,
                       memory_.statuses.data());
    port_.drop_what_is_left();
  }
  memory_.requests.clear(), memory_.messages.clear();
  received_.reset();
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
