// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of mpi_messages.hpp.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "mpi_messages.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

COLLIGO_BODY void mpi_messages::make_room(std::span<operand const> operands) {
  std::size_t messages = 0;
  for (fragment const p : fragments(operands)) messages += data_->of().bytes(p.elements.size()) / longest_segment + 1;
  memory_.make_room(messages);
}

COLLIGO_BODY void mpi_messages::encode(std::size_t number, std::byte const* source, std::size_t elements) {
  if (memory_.encoded.size() == number) {
    memory_.encoded.reserve(number + 1);
    memory_.encoded.push_back(new std::vector<char>);
  }
  try {
    if (!data_->has_failed()) wire_->encode(source, elements, *memory_.encoded[number]);
  } catch (...) {
    data_->fail(std::current_exception());
  }
}
COLLIGO_BODY void mpi_messages::send_encoded(std::size_t number, int to) {
  std::vector<char> const& message = *memory_.encoded[number];
  send(reinterpret_cast<std::byte const*>(message.data()), data_->has_failed() ? 1 : message.size(), to);
}

COLLIGO_BODY void mpi_messages::send(std::byte const* out, std::size_t bytes, int to) {
  for (std::size_t at = 0; at < bytes; at += longest_segment) {
    std::size_t const now = std::min(bytes - at, longest_segment);
    if (data_->has_failed()) {
      state_.wire().send_empty(to, number_, tag_);
      continue;
    }
    memory_.messages.push_back({nobody, now});
    check_mpi(MPI_Isend(out + at, static_cast<int>(now), MPI_BYTE, to, tag_, state_.wire().comm(),
                        &memory_.requests.push_back(MPI_REQUEST_NULL)),
              "MPI_Isend");
  }
}
COLLIGO_BODY void mpi_messages::recv(std::byte* in, std::size_t bytes, int from) {
  for (std::size_t at = 0; at < bytes; at += longest_segment) {
    std::size_t const now = std::min(bytes - at, longest_segment);
    memory_.messages.push_back({from, now});
    check_mpi(MPI_Irecv(in + at, static_cast<int>(now), MPI_BYTE, from, tag_, state_.wire().comm(),
                        &memory_.requests.push_back(MPI_REQUEST_NULL)),
              "MPI_Irecv");
  }
}
// In the order of posting: if the first of two messages from one rank says that the rank has abandoned the call, the
// second one never comes.
COLLIGO_BODY bool mpi_messages::finish(bool waits) {
  for (; finished_ < memory_.messages.size(); ++finished_) {
    auto const [from, wanted] = memory_.messages[finished_];
    MPI_Request& request = memory_.requests[finished_];
    MPI_Status status;
    int done = 1;
    int const code = waits ? MPI_Wait(&request, &status) : MPI_Test(&request, &done, &status);
    if (code == MPI_SUCCESS && !done) return has_looked(), false;
    if (from == nobody) {
      check_mpi(code, "MPI_Wait");
      continue;
    }
    std::size_t const got = mpi_wire::received(code, "MPI_Wait", status, wanted);
    if (got != wanted && !handle_wrong_length(from, got, wanted)) [[unlikely]] cancel_receives_from(from);
  }
  finished();
  return true;
}

template <class F>
void mpi_messages::finish_as_they_come(F arrived) {
  auto const n = static_cast<int>(memory_.requests.size());
  for (;;) {
    bool const waits = !state_.must_poll();   // a functor may have started a request
    int which = MPI_UNDEFINED, there = 1;
    MPI_Status status;
    int const code = waits ? MPI_Waitany(n, memory_.requests.data(), &which, &status)
                           : MPI_Testany(n, memory_.requests.data(), &which, &there, &status);
    if (!there) {
      has_looked();
      state_.wait_between_polls();
      continue;
    }
    if (which == MPI_UNDEFINED) break;
    auto const i = static_cast<std::size_t>(which);
    auto const [from, wanted] = memory_.messages[i];
    if (from == nobody) continue;
    std::size_t const got = mpi_wire::received(code, "MPI_Waitany", status, wanted);
    if (got != wanted && !handle_wrong_length(from, got, wanted)) [[unlikely]] cancel_receives_from(from);
    if (abandoned_by_ == nobody) arrived(i);
  }
  finished();
}

COLLIGO_BODY void mpi_messages::finished() {
  memory_.requests.clear(), memory_.messages.clear();
  finished_ = 0;
  if (abandoned_by_ != nobody) [[unlikely]] throw_abandoned(abandoned_by_);
}

COLLIGO_BODY bool mpi_messages::take_encoded(std::span<operand const> operands, std::byte*& free, bool waits) {
  std::size_t number = 0;
  for (fragment const p : fragments(operands)) {
    if (p.sends() || number++ < encoded_taken_) continue;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    int there = 1;
    if (waits) check_mpi(MPI_Mprobe(p.peer, tag_, state_.wire().comm(), &message, &status), "MPI_Mprobe");
    else check_mpi(MPI_Improbe(p.peer, tag_, state_.wire().comm(), &there, &message, &status), "MPI_Improbe");
    if (!there) return has_looked(), false;
    std::size_t const first = take_probed(message, status);
    ++encoded_taken_;
    std::byte* const into =
        p.folds() ? std::exchange(free, free + data_->of().bytes(p.elements.size())) : data_->write(p.elements);
    take_rest(p.peer, first);
    if (data_->has_failed()) continue;
    try {
      std::size_t const wanted = p.elements.size(), sent = wire_->decode(memory_.taken, into, wanted);
      if (sent == wanted) continue;
      throw mismatch_error(other_elements(at_call(state_.rank(), number_, name_of(data_->what())), p.peer,
                                          concat({wanted, " ", data_->of().name()}), with_number(sent, "element")));
    } catch (...) {
      data_->fail(std::current_exception());
    }
  }
  return true;
}

// Receives a probed message, which can not be left, into memory_.taken. Returns its bytes. A rank that has no memory
// for it has failed, so it may free the buffer first.
COLLIGO_BODY std::size_t mpi_messages::take_probed(MPI_Message& message, MPI_Status const& status) {
  int bytes = 0;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  auto const size = static_cast<std::size_t>(bytes);
  try {
    memory_.taken.resize(size);
  } catch (std::bad_alloc const&) {
    data_->fail(std::current_exception());
    memory_.taken = {};
    memory_.taken.resize(size);
  }
  check_mpi(MPI_Mrecv(memory_.taken.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
  return size;
}

// The first 8 bytes of an encoded message are its length. Receives what is missing of a message of several segments.
COLLIGO_BODY void mpi_messages::take_rest(int from, std::size_t first) {
  std::uint64_t bytes = 0;
  if (first >= sizeof bytes) std::memcpy(&bytes, memory_.taken.data(), sizeof bytes);
  std::size_t const expected = std::clamp<std::size_t>(bytes, sizeof bytes, longest_segment);
  if (first != expected) {
    if (!handle_wrong_length(from, first, expected)) throw_abandoned(from);
    return;
  }
  if (bytes > first) memory_.taken.resize(bytes);
  for (std::size_t at = first; at < bytes; at += longest_segment)
    check_mpi(MPI_Recv(memory_.taken.data() + at, static_cast<int>(std::min<std::size_t>(bytes - at, longest_segment)),
                       MPI_BYTE, from, tag_, state_.wire().comm(), MPI_STATUS_IGNORE),
              "MPI_Recv");
}

}  // namespace colligo

#include "mpi_faults_body.hpp"
