// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of mpi_messages.hpp for ranks that have failed or abandoned the call.
#pragma once

#include <sched.h>

#include <exception>
#include <string>

#include "../../core/clock.hpp"
#include "../../core/error.hpp"
#include "../../faults/sentences.hpp"
#include "mpi_messages.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

[[gnu::cold]] COLLIGO_BODY void mpi_messages::send_nothing(std::size_t bytes, int to) {
  for (std::size_t at = 0; at < bytes; at += longest_segment)
    state_.wire().send_empty(to, number_, tag_);
}
// Probes for the length: Open MPI 4.1 writes data read from another process's memory past the end of a short buffer.
[[gnu::cold]] COLLIGO_BODY void mpi_messages::drop(std::size_t bytes, int from) {
  for (std::size_t at = 0; at < bytes; at += longest_segment) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    int there = 0;
    for (;;) {
      check_mpi(MPI_Improbe(from, tag_, state_.wire().comm(), &there, &message, &status), "MPI_Improbe");
      if (there) break;
      state_.wait_between_polls();
    }
    std::size_t const first = take_probed(message, status);
    if (are_encoded()) take_rest(from, first);
    else if (first == 0 && !handle_wrong_length(from, 0, 1)) throw_abandoned(from);
  }
}

// A rank that makes another call may have gone on, and neither sends nor takes anything of this one.
[[gnu::cold]] COLLIGO_BODY void mpi_messages::look_for_others() {
  mpi_wire const& wire = state_.wire();
  for (int kind = 0; kind < wire.tags().kinds(); ++kind) {
    int const tag = wire.tags().of(number_, kind);
    int there = 0, bytes = 0;
    MPI_Status status;
    if (tag != tag_) check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag, wire.comm(), &there, &status), "MPI_Iprobe");
    if (there) check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
    if (bytes == 0) continue;   // there is none, or it is of a rank that has abandoned its call
    state_.hopeless = number_;
    throw mismatch_error(other_elements(at_call(state_.rank(), number_, name_of(data_->what())), status.MPI_SOURCE,
                                        "messages of this call", "those of another one"));
  }
}

// The peer has abandoned or refused this call, and sends nothing more.
[[gnu::cold]] COLLIGO_BODY void mpi_messages::throw_abandoned(int peer) {
  abandoned_by_ = nobody;
  state_.wire().hears_aborts();
  data_->rethrow();
  throw failed_elsewhere(abandoned_there(at_call(state_.rank(), number_, name_of(data_->what())), peer));
}

// Makes this rank's call fail because of a message of the wrong length. False if its sender has abandoned the call.
[[gnu::cold]] COLLIGO_BODY bool mpi_messages::handle_wrong_length(int from, std::size_t bytes, std::size_t wanted) {
  if (bytes == 0 && state_.wire().receive_remark(from, number_) == mpi_wire::remark::abort_message) return false;
  if (data_->has_failed()) return true;
  try {
    std::string const at = at_call(state_.rank(), number_, name_of(data_->what()));
    if (bytes == 0) throw failed_elsewhere(failed_there(at, from));
    element const& of = data_->of();
    std::string const what = of.objects ? concat({wanted, " bytes"})
                                        : concat({wanted / of.size, " ", of.name(), " (", wanted, " bytes)"});
    throw mismatch_error(other_elements(at, from, what, bytes > wanted ? "more" : with_number(bytes, "byte")));
  } catch (...) {   // one of these two errors, or no memory for its text
    data_->fail(std::current_exception());
  }
  return true;
}

// For a rank that sends no more in this call: cancels this step's receives from it.
[[gnu::cold]] COLLIGO_BODY void mpi_messages::cancel_receives_from(int peer) {
  abandoned_by_ = peer;
  for (std::size_t i = 0; i < memory_.messages.size(); ++i) {
    if (memory_.messages[i].from != peer || memory_.requests[i] == MPI_REQUEST_NULL) continue;
    check_mpi(MPI_Cancel(&memory_.requests[i]), "MPI_Cancel");
    memory_.messages[i].from = nobody;
  }
}

[[gnu::cold]] COLLIGO_BODY void mpi_messages::leave() noexcept {
  bool const is_out_of_patience =
      state_.hopeless == number_ || (state_.on_wait && state_.on_wait->is_abandoned(number_));
  for (std::size_t i = 0; i < memory_.messages.size() && is_out_of_patience; ++i)   // messages may never come
    if (int const from = memory_.messages[i].from; from != nobody) cancel_receives_from(from);
  std::int64_t const end = now_in_ns() + 200 * ns_per_ms;   // then nobody takes this rank's own either
  bool is_left = false;
  for (std::size_t i = 0; i < memory_.messages.size();) {
    MPI_Request& request = memory_.requests[i];
    MPI_Status status;
    int done = 1, bytes = 1;
    bool const is_open = request != MPI_REQUEST_NULL;
    int const code = MPI_Test(&request, &done, &status);
    if (code == MPI_SUCCESS && !done && is_out_of_patience && now_in_ns() > end) {
      MPI_Request_free(&request);   // the memory of the message is MPI's until MPI_Finalize
      is_left = true;
      ++i;
      continue;
    }
    if (code == MPI_SUCCESS && !done) {
      left_calls::drop_messages();
      sched_yield();
      continue;
    }
    // An empty message: its sender has failed or abandoned the call. left_calls drops the message that says which.
    if (is_open && code == MPI_SUCCESS && memory_.messages[i].from != nobody) {
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      if (bytes == 0) cancel_receives_from(memory_.messages[i].from);
    }
    ++i;
  }
  if (is_left) memory_.encoded.clear();   // never freed: encoded messages are MPI's too
  memory_.requests.clear(), memory_.messages.clear();
  finished_ = 0, abandoned_by_ = nobody;
}

}  // namespace colligo
