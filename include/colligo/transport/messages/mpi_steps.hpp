// SPDX-License-Identifier: BSL-1.0
/// @file
/// Executes steps over an MPI_Comm: operands for ranks of the same host go through shared memory, if there is any
/// (transport/memory/shared_steps.hpp), the others as messages (mpi_messages.hpp). Where all ranks share memory,
/// transport/memory/memory_steps.hpp takes their place.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <span>

#include "../memory/memory_steps.hpp"
#include "mpi_messages.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

inline void drop_left_calls(mpi_state& state) {
  if (!left_calls::any()) [[likely]] return;
  left_calls::drop_messages();
  left_calls::forget_old(state.wire().comm(), state.calls);
}

/// Around steps over memory that all ranks share.
struct among_processes {
  mpi_state& state;

  void before_call() { drop_left_calls(state); }
  void before_look() {}
  bool says_memory() const { return true; }
};

/// Kept with the state or the request, so that a call allocates nothing.
struct mpi_steps_memory {
  mpi_messages_memory messages;
  shared_traffic traffic;
};

class mpi_steps : public any_step, public moving_step {
 public:
  /// `host`: the shared memory for messages within the host, which has some of the ranks; null: all go over MPI.
  mpi_steps(mpi_state& state, scratch& values, shared_host* host, mpi_steps_memory& memory);

  /// Sets the vector of the next steps.
  void work_on(working_vector& data, mpi_element const& wire) {
    data_ = &data;
    messages_.work_on(data, wire);
    set_element_size(data.of().size);
    if (over_memory_) over_memory_->work_on(data);
  }

  void enter(call const& call, erased_policy const& what, std::uint32_t number) override {
    number_ = number;
    messages_.enter(number);
    if (over_memory_) over_memory_->enter(call, what, number);
    abandoned_on_host_ = false;
    is_plain_ = !host_ && !messages_.are_encoded() && !state_.must_poll();
    drop_left_calls(state_);
  }
  COLLIGO_BODY void exchange(range out, range in, pair_of peers, pair_kind kind) override;
  COLLIGO_BODY void list(std::span<operand const> operands, list_kind kind) override;
  void move(operand const& alone) override { data_->move(alone); }
  COLLIGO_BODY bool shares_memory_with(int peer) const override;
  COLLIGO_BODY void make_room(std::span<operand const> operands, list_kind kind) override;
  COLLIGO_BODY void begin(std::span<operand const> operands, list_kind kind) override;
  COLLIGO_BODY bool advance() override;
  void abandon() override { leave(); }
  /// Abandons the call in the middle of a step, after the abort messages: completes the messages in progress.
  void leave() noexcept {
    leave_memory();
    messages_.leave();
    received_.clear();
  }
  /// The same for messages in progress in shared memory alone.
  void leave_memory() {
    if (over_memory_) over_memory_->abandon();
  }

 private:
  void fold_as_they_come(std::span<operand const> operands);
  bool all_on_host(std::span<operand const> operands) const;
  void prepare(std::span<operand const> operands);
  bool goes_on();
  void abandon_on_host();
  void perform_failed(std::span<operand const> operands);
  void finish_in_memory();
  bool finish_messages(bool waits) {
    return (!messages_.are_encoded() || messages_.take_encoded(operands_, free_, waits)) && messages_.finish(waits);
  }
  void end_step();

  mpi_state& state_;
  working_vector* data_ = nullptr;
  mpi_messages messages_;
  shared_host* host_;
  std::optional<shared_steps> over_memory_;
  bool is_plain_ = false;           // a pair needs no more than mpi_messages::exchange
  bool abandoned_on_host_ = false;  // this rank has abandoned the call for ranks of its host, but goes on over MPI
  std::uint32_t number_ = 0;        // of the call

  // The step that is in progress.
  std::span<operand const> operands_;
  room received_;
  std::byte* free_ = nullptr;       // of received_
  bool memory_in_progress_ = false, only_memory_ = false;   // some, or all, messages go through shared memory
};

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "mpi_steps_body.hpp"
#endif
