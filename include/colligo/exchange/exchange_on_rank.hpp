// SPDX-License-Identifier: BSL-1.0
/// @file
/// A sparse exchange in progress on one rank, and how a request performs it: as one step that is no algorithm's.
#pragma once

#include <cstdint>
#include <exception>
#include <span>
#include <utility>

#include "../core/owner.hpp"
#include "../core/strings.hpp"
#include "../engine/communicator_state.hpp"
#include "../engine/identity.hpp"
#include "../transport/memory/shared_host.hpp"
#include "letters.hpp"
#include "sparse_steps.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

class exchange_on_rank : public owned_by_request {
 public:
  exchange_on_rank(sparse_call call, sparse_way way, arrivals& in, owner<letters> over)
      : call_(std::move(call)), way_(way), state_(state_at(call_.at)), in_(in), over_(std::move(over)) {}

  void enter(std::uint32_t number) { over_->enter(number_ = number, way_); }
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
  // For a way without a call that counts: numbers one all the same, and reports it to the ranks of the host, which see
  // from that that ways differ.
  void begin_without_counting() {
    auto const& way = sparse_ways[static_cast<std::size_t>(way_)];
    first_ = {state_.next_call(), collective::all_to_all_v, 0, 0, call_.of.size, packed(way)};
    shared_host* const host = over_->host();
    if (host && !state_.requests().busy())   // earlier ones are over
      host->calls.record().enter(first_, 0, call_.of.name);
  }
  // This rank waits: looks now and then whether others have named another way.
  void look_for_others() {
    if (++looks_ % 256 != 0) return;
    over_->look_for_others();
    shared_host* const host = first_.what == collective::all_to_all_v ? over_->host() : nullptr;
    for (std::size_t place = 0; host && place < host->records().size(); ++place) {
      call_identity theirs{.number = first_.number};
      if (host->records()[place]->knows(theirs) && theirs != first_)
        refuse_way(call_.at, way_, concat({", rank ", host->rank_at(place), " makes ", name_of_call(theirs)}));
    }
  }

  sparse_call call_;
  sparse_way way_;
  communicator_state& state_;
  arrivals& in_;
  owner<letters> over_;
  std::uint32_t number_ = 0;   // of the call
  call_identity first_;        // of its first call: the number, and if it reports it the rest
  unsigned looks_ = 0;
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
