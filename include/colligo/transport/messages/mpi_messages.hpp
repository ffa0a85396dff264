// SPDX-License-Identifier: BSL-1.0
/// @file
/// The messages of one rank in a step, over an MPI_Comm: posts them, and waits for or tests them. An empty message says
/// that its sender has failed or has abandoned the call.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../../core/small_vector.hpp"
#include "../../engine/working_vector.hpp"
#include "mpi_state.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Kept with the state or the request, so that a call allocates nothing.
struct mpi_messages_memory {
  struct posted {
    int from;               ///< nobody: a send, or a receive whose data no longer matters
    std::size_t bytes;
  };
  small_vector<MPI_Request> requests;
  small_vector<posted> messages;             ///< for each request
  small_vector<std::vector<char>*> encoded;  ///< messages in progress of elements that are not bytes; owned
  std::vector<char> taken;          ///< the latest encoded or dropped message that has been received

  mpi_messages_memory() = default;
  mpi_messages_memory(mpi_messages_memory const&) = delete;
  ~mpi_messages_memory() {
    for (auto const* message : encoded) delete message;
  }
  void make_room(std::size_t n) {
    requests.reserve(n);
    messages.reserve(n);
  }
};

class mpi_messages {
 public:
  mpi_messages(mpi_state& state, mpi_messages_memory& memory) : state_(state), memory_(memory) {}

  /// Sets the vector and the call of the next messages.
  void work_on(working_vector& data, mpi_element const& wire) {
    data_ = &data;
    wire_ = &wire;
  }
  void enter(call const& call, std::uint32_t number) {
    mpi_tags const& tags = state_.wire().tags();
    number_ = number;
    tag_ = tags.of(number, tags.kind_of(call.what, call.root));
  }
  /// Elements do not travel as bytes, so only the sender knows the length of a message.
  bool are_encoded() const { return wire_->encode != nullptr; }

  /// Sends one message and receives one, at once. An empty one is left out.
  void exchange(std::byte const* out, std::size_t out_bytes, int to, std::byte* in, std::size_t in_bytes, int from) {
    std::size_t const got = state_.wire().exchange(out, out_bytes, to, in, in_bytes, from, tag_);
    if (got != in_bytes && !handle_wrong_length(from, got, in_bytes)) [[unlikely]] throw_abandoned(from);
  }

  /// Reserves memory for a step's messages, so that posting allocates nothing.
  void make_room(std::span<operand const> operands);
  /// Encodes the step's message number `number`, counted from 0. If the encoding throws, the rank has failed.
  void encode(std::size_t number, std::byte const* source, std::size_t elements);
  void send_encoded(std::size_t number, int to);
  void send(std::byte const* out, std::size_t bytes, int to);
  void recv(std::byte* in, std::size_t bytes, int from);
  /// Completes all posted messages, one after the other. `waits`: waits for each; otherwise returns false at the first
  /// one that is not complete.
  bool finish(bool waits);
  /// The same in order of arrival, arrived(i) for the i-th that was posted.
  template <class F>
  void finish_as_they_come(F arrived);
  /// Receives a step's encoded messages in the order listed; folds go to `free`, which advances. False: one is missing.
  bool take_encoded(std::span<operand const> operands, std::byte*& free, bool waits);
  /// Begins a step: none of its encoded messages has come yet.
  void expect_encoded() { encoded_taken_ = 0; }

  /// For a rank that has failed: sends an empty message instead of one of this length, or drops a received one.
  void send_nothing(std::size_t bytes, int to);
  void drop(std::size_t bytes, int from);
  /// Abandons the call in the middle of a step, after the abort messages: completes the messages in progress.
  void leave() noexcept;

 private:
  /// At each look that finds no message. Now and then looks for messages of other calls of this number, and throws.
  void has_looked() {
    if (++looks_ % 256 == 0) [[unlikely]] look_for_others();
  }
  void look_for_others();
  bool handle_wrong_length(int from, std::size_t bytes, std::size_t wanted);
  [[noreturn]] void throw_abandoned(int peer);
  void cancel_receives_from(int peer);
  void finished();
  std::size_t take_probed(MPI_Message& message, MPI_Status const& status);
  void take_rest(int from, std::size_t first);

  mpi_state& state_;
  mpi_messages_memory& memory_;
  working_vector* data_ = nullptr;
  mpi_element const* wire_ = nullptr;
  std::uint32_t number_ = 0;   // of the call
  int tag_ = 0;
  unsigned looks_ = 0;
  std::size_t finished_ = 0, encoded_taken_ = 0;   // messages of the step that are complete
  int abandoned_by_ = nobody;   // the rank that has abandoned the call, while messages of others are still to come
};

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "mpi_messages_body.hpp"
#endif
