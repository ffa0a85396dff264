// SPDX-License-Identifier: BSL-1.0
/// @file
/// A sparse exchange in progress on one rank, and how a request performs it: as one step that is no algorithm's.
#pragma once

#include <cstdint>
#include <exception>
#include <span>
#include <utility>

#include "../core/owner.hpp"
#include "../engine/communicator_state.hpp"
#include "letters.hpp"
#include "sparse_steps.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

class exchange_on_rank : public owned_by_request {
 public:
  exchange_on_rank(sparse_call call, arrivals& in, owner<letters> over)
      : call_(std::move(call)), state_(state_at(call_.at)), in_(in), over_(std::move(over)) {}

  void enter(std::uint32_t number) { over_->enter(number_ = number); }
  /// True when it is complete.
  virtual bool advance() = 0;
  virtual void abandon() noexcept {
    if (!call_.is_request) keep_pattern(call_.at, few_messages);   // others may fail at another point
    if (!over_->abandon()) leave_what_is_sent();
  }

  /// The errors of refused calls: all ranks have taken part to the end.
  void finish() override {
    if (call_.refused) std::rethrow_exception(call_.refused);
    if (in_.refuses() >= 0) refuse_for(call_.at, in_.refuses(), in_.reason());
    if (in_.failure()) std::rethrow_exception(in_.failure());
    in_.complete();
  }

 protected:
  sparse_call call_;
  communicator_state& state_;
  arrivals& in_;
  owner<letters> over_;
  std::uint32_t number_ = 0;   // of the call
  /// The transport may read it at any time: it is never freed.
  virtual void leave_what_is_sent() noexcept { in_.leave_messages(); }
};

class exchange_steps final : public moving_step {
 public:
  explicit exchange_steps(exchange_on_rank& run) : run_(run) {}
  void enter(call const&, erased_policy const&, std::uint32_t number) override { run_.enter(number); }
  void begin(std::span<operand const>, list_kind) override {}
  bool advance() override { return run_.advance(); }
  void abandon() override { run_.abandon(); }

 private:
  exchange_on_rank& run_;
};

}  // namespace colligo
