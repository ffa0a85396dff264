// SPDX-License-Identifier: BSL-1.0
/// @file
/// Executes steps over an MPI_Comm: messages between hosts, and within a host where memory is not shared; the others go
/// through memory. A pair send + recv or send + fold is one MPI_Sendrecv, other steps are non-blocking.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "../core/row.hpp"
#include "../memory/shared_steps.hpp"
#include "mpi_port.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Memory of steps: kept with the port or the request, so that a call allocates nothing.
struct mpi_steps_memory {
  struct posted {
    int from;               ///< nobody: it is sent, or it does not matter any more what comes
    std::size_t bytes;
  };
  row<MPI_Request> requests;
  row<posted> messages;             ///< of the requests
  row<std::vector<char>*> encoded;  ///< what is in progress of elements that are not bytes; owned
  std::vector<char> taken;
  shared_traffic traffic;

  mpi_steps_memory() = default;
  mpi_steps_memory(mpi_steps_memory const&) = delete;
  ~mpi_steps_memory() {
    for (auto const* its : encoded) delete its;
  }
  void make_room(std::size_t n) {
    requests.reserve(n);
    messages.reserve(n);
  }
};

class mpi_steps : public any_step, public moving_step {
 public:
  /// `host`: the memory through which messages within a host go; null: all go over MPI.
  mpi_steps(mpi_port& port, scratch& values, shared_host* host, mpi_steps_memory& memory);

  /// What the next steps work on.
  void work_on(working_vector& data, mpi_element const& wire) {
    data_ = &data;
    wire_ = &wire;
    set_element_size(data.of().size);
    if (here_) here_->work_on(data);
  }

  void enter(call const& its, erased_policy const& what, std::uint32_t number) override {
    number_ = number;
    tag_ = port_.wire().tag_of(number);
    if (here_) here_->enter(its, what, number);
    left_host_ = false;
    is_plain_ = !host_ && !wire_->encode && !port_.looks_itself();
    if (!whole_ && port_.wire().has_left_calls()) [[unlikely]] port_.drop_what_is_left();
  }
  COLLIGO_BODY void exchange(range out, range in, pair_of peers, pair_kind kind) override;
  COLLIGO_BODY void list(std::span<operand const> operands, list_kind kind) override;
  void move(operand const& alone) override { data_->move(alone); }
  COLLIGO_BODY bool shares_memory_with(int peer) const override;
  COLLIGO_BODY void make_room(std::span<operand const> operands, list_kind kind) override;
  COLLIGO_BODY void begin(std::span<operand const> operands, list_kind kind) override;
  COLLIGO_BODY bool advance() override;
  void abandon() override { leave(); }
  /// The call is left in the middle of a step, and others have heard of it: what is in progress comes to its end.
  void leave() noexcept;
  /// What is in progress there does not belong to the next call.
  void leave_memory() {
    if (here_) here_->abandon();
  }

 private:
  void fold_as_they_come(std::span<operand const> operands);
  bool all_here(std::span<operand const> operands) const;
  void prepare(std::span<operand const> operands);
  bool goes_on();
  void leave_host();
  void hollow(std::span<operand const> operands);
  bool note(int from, std::size_t bytes, std::size_t wanted);
  [[noreturn]] void throw_aborted(int peer);
  void expect_nothing_of(int peer);
  void post_send(std::byte const* out, std::size_t bytes, int to);
  void post_recv(std::byte* in, std::size_t bytes, int from);
  void finish_in_memory();
  bool finish_messages(bool waits);
  bool take_encoded(bool waits);
  void make_taken(std::size_t bytes);
  void take_rest(int from, std::size_t first);
  void end_step();

  mpi_port& port_;
  working_vector* data_ = nullptr;
  mpi_element const* wire_ = nullptr;
  mpi_steps_memory& memory_;
  shared_host* host_;
  std::optional<shared_steps> here_;
  bool whole_, is_plain_ = false;   // is_plain_: no more than MPI_Sendrecv is needed for a pair
  bool left_host_ = false;          // in this call: what goes to ranks of this host does not any more
  std::uint32_t number_ = 0;
  int tag_ = 0;

  // The step that is in progress.
  std::span<operand const> operands_;
  room received_;
  std::byte* free_ = nullptr;        // of received_
  std::size_t next_encoded_ = 0;     // fragments received so far
  std::size_t finished_ = 0;         // messages that are through
  int left_ = nobody;                // who has left the call, when messages of the others are still to come
  bool through_memory_ = false, alone_in_memory_ = false;
};

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "mpi_steps_body.hpp"
#endif
