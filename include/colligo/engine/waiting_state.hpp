// SPDX-License-Identifier: BSL-1.0
/// @file
/// A state for transports that have only the steps of requests: a blocking call performs one such step after the other
/// and waits for each. A template, so that only units that use it compile it.
#pragma once

#include <span>

#include "communicator_state.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// `Lazy`: void. A call allocates its steps; a transport that avoids that writes perform() itself.
template <class Lazy = void>
class waiting_state : public communicator_state {
 protected:
  using communicator_state::communicator_state;

  void perform(working_vector& data, policy_run const& run) override {
    auto const each = this->steps_for_request(data, run.call, run.by.over);
    waited_for all(*this, data, *each);
    this->run_on(all, *each, data, run, [&] { each->abandon(); });
  }

 private:
  class waited_for final : public any_step {
   public:
    waited_for(waiting_state const& state, working_vector& data, moving_step& each)
        : any_step(state.rank(), state.size(), data.of().size, data.memory().operands), state_(state), data_(data),
          each_(each) {}

    void move(operand const& alone) override { data_.move(alone); }
    void list(std::span<operand const> operands, list_kind kind) override {
      each_.make_room(operands, kind);
      each_.begin(operands, kind);
      for (unsigned polls = 0; !each_.advance();) {
        state_.yield_core(polls);
        if (state_.on_wait) state_.on_wait->waits();
      }
    }
    bool shares_memory_with(int peer) const override { return each_.shares_memory_with(peer); }

   private:
    waiting_state const& state_;
    working_vector& data_;
    moving_step& each_;
  };
};

}  // namespace colligo
