// SPDX-License-Identifier: BSL-1.0
/// @file
/// The steps of a call or a request whose ranks all share memory: of processes, and of threads. A template, so that
/// only units with bodies compile it.
#pragma once

#include <cstdint>
#include <span>

#include "../../engine/communicator_state.hpp"
#include "shared_steps.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// `Around` is what the transport has to do meanwhile: before_call(); before_look(), which may throw, before a look
/// that does not wait; and says_memory(), for reports.
template <class Around>
class memory_steps final : public any_step, public moving_step {
 public:
  memory_steps(int rank, int size, shared_host& host, scratch& memory, Around around)
      : any_step(rank, size, 1, memory.operands), around_(around), over_memory_(host, traffic_, rank) {}

  /// Sets the vector of the next steps.
  void work_on(working_vector& data) {
    data_ = &data;
    set_element_size(data.of().size);
    over_memory_.work_on(data);
  }

  void exchange(range out, range in, pair_of peers, pair_kind kind) override {
    if (peers.to == nobody) out = {};
    if (peers.from == nobody) in = {};
    operand::kind const what = kind.folds ? operand::kind::fold : operand::kind::recv;
    over_memory_.exchange(out, peers.to, kind.sent, {what, peers.from, in, kind.with});
  }
  void list(std::span<operand const> operands, list_kind kind) override { over_memory_.perform(operands, kind); }
  void move(operand const& alone) override { data_->move(alone); }
  bool shares_memory_with(int) const override { return around_.says_memory(); }

  void enter(call const& call, erased_policy const& what, std::uint32_t number) override {
    around_.before_call();
    over_memory_.enter(call, what, number);
  }
  void make_room(std::span<operand const> operands, list_kind kind) override {
    over_memory_.make_room(operands, kind);
  }
  void begin(std::span<operand const> operands, list_kind kind) override { over_memory_.begin(operands, kind); }
  bool advance() override {
    around_.before_look();
    return over_memory_.advance_far();
  }
  void abandon() override { over_memory_.abandon(); }

  void record(run_record& run) override { run.begin(this, &play, over_memory_.most_lines()); }
  void begin_playing(prepared_call const& prepared, call const& now, std::uint32_t number) override {
    around_.before_call();
    over_memory_.begin_playing(prepared, now, number);
  }
  bool play_on(bool waits) override {
    around_.before_look();
    return over_memory_.play(*data_, waits) == shared_steps::state::done;
  }

 private:
  static bool play(prepared_call const& prepared, call const& now, scratch& memory, std::uint32_t number) {
    auto& steps = *static_cast<memory_steps*>(prepared.steps);
    steps.around_.before_call();
    try {
      steps.over_memory_.begin_playing(prepared, now, number);
      working_vector data(now, memory);   // behind the first messages, for which other ranks wait
      steps.over_memory_.play(data, true);
      if (data.has_failed()) [[unlikely]] memory.failure = data.failure();
      return !data.has_failed();
    } catch (...) {
      steps.over_memory_.abandon();
      throw;
    }
  }

  Around around_;
  working_vector* data_ = nullptr;
  shared_traffic traffic_;
  shared_steps over_memory_;
};

}  // namespace colligo
