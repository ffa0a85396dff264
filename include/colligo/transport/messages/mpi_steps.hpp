// SPDX-License-Identifier: BSL-1.0
/// @file
/// Executes steps over an MPI_Comm: operands for ranks of the same host go through shared memory, if there is any
/// (transport/memory/shared_steps.hpp), the others as messages (mpi_messages.hpp). Where all ranks share memory,
/// transport/memory/memory_steps.hpp takes their place.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <exception>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include "../../core/error.hpp"
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
    messages_.enter(call, number);
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

#if COLLIGO_HAS_BODIES
[[gnu::cold, gnu::noinline]] COLLIGO_BODY mpi_steps::mpi_steps(mpi_state& state, scratch& values, shared_host* host,
                                                              mpi_steps_memory& memory)
    : any_step(state.rank(), state.size(), 1, values.operands), state_(state), messages_(state, memory.messages),
      host_(host) {
  if (host) over_memory_.emplace(*host, memory.traffic, state.rank());
}

COLLIGO_BODY void mpi_steps::exchange(range out, range in, pair_of peers, pair_kind kind) {
  if (peers.to == nobody) out = {};
  if (peers.from == nobody) in = {};
  if (out.empty() && in.empty()) return;
  std::size_t const size = element_size(), out_bytes = out.size() * size, in_bytes = in.size() * size;
  if (!is_plain_ || state_.requests().busy() || data_->has_failed() || (out_bytes | in_bytes) > longest_segment) {
    operand const received = kind.folds ? operand(fold{peers.from, in, kind.with}) : operand(recv{peers.from, in});
    return list(std::array{operand(send{peers.to, out, kind.sent}), received}, list_kind::plain);
  }
  std::byte const* const source = data_->read(out, kind.sent, nullptr);
  std::byte* into = nullptr;
  try {
    into = kind.folds ? data_->memory().received.of_size(in_bytes) : data_->write(in);
  } catch (std::bad_alloc const&) {
    data_->fail(std::current_exception());
    return exchange(out, in, peers, kind);
  }
  messages_.exchange(source, out_bytes, peers.to, into, in_bytes, peers.from);
  if (kind.folds && in_bytes != 0) data_->combine(in, into, peers.from < rank(), kind.with);
}

COLLIGO_BODY void mpi_steps::list(std::span<operand const> operands, list_kind kind) {
  if (data_->has_failed()) return perform_failed(operands);
  bool const any_order = kind == list_kind::as_they_come && !messages_.are_encoded() && !host_;
  bool begun = false;
  try {
    if (host_ && !left_calls::any() && all_on_host(operands)) return over_memory_->perform(operands, kind);
    host_ ? make_room(operands, kind) : prepare(operands);   // all allocations come before the first message
    if (!any_order) begin(operands, kind);
    begun = true;
    finish_in_memory();
  } catch (...) {
    if (!goes_on()) throw;
    if (!begun) return perform_failed(operands);
  }
  if (any_order) return fold_as_they_come(operands);
  if (only_memory_) return;
  bool const waits = !state_.must_poll();
  while (!finish_messages(waits)) state_.wait_between_polls();
  end_step();
}

// All allocations of a step, except for encoded elements.
COLLIGO_BODY void mpi_steps::prepare(std::span<operand const> operands) {
  scratch_sizes const sizes(operands);
  scratch& memory = data_->memory();
  element const& of = data_->of();
  if (!of.objects) {
    memory.received.of_size(of.bytes(sizes.received));
    memory.combined.of_size(of.bytes(sizes.combined));
  }
  memory.sources.reserve(2 * operands.size());
  memory.arriving.reserve(2 * operands.size());
  messages_.make_room(operands);
}

COLLIGO_BODY bool mpi_steps::shares_memory_with(int peer) const { return host_ && host_->has(peer); }

COLLIGO_BODY void mpi_steps::make_room(std::span<operand const> operands, list_kind kind) {
  prepare(operands);
  if (over_memory_) over_memory_->make_room(operands, kind);
}

COLLIGO_BODY void mpi_steps::begin(std::span<operand const> operands, list_kind kind) {
  operands_ = operands;
  only_memory_ = host_ && all_on_host(operands);
  memory_in_progress_ = host_ != nullptr;
  if (only_memory_) return over_memory_->begin(operands, kind);
  element const& of = data_->of();
  scratch_sizes const sizes(operands);
  received_.clear();
  received_.make(data_->memory().received, of, sizes.received);
  room combined(data_->memory().combined, of, sizes.combined);
  // Combines and encodes the data to be sent before any message is posted.
  auto& sources = data_->memory().sources;
  sources.clear();
  std::byte* free = combined.data();
  std::size_t encoded = 0;
  for (fragment const p : fragments(operands)) {
    if (!p.sends()) continue;
    std::byte const* const source = data_->read(p.elements, p.which, free);
    if (p.combines_first()) free += of.bytes(p.elements.size());
    sources.push_back(source);
    if (messages_.are_encoded()) messages_.encode(encoded++, source, p.elements.size());
  }
  prepare(operands);
  free_ = received_.data();
  messages_.expect_encoded();
  if (!messages_.are_encoded())
    for (fragment const p : fragments(operands)) {
      if (p.sends()) continue;
      std::size_t const bytes = of.bytes(p.elements.size());
      std::byte* const into = p.folds() ? std::exchange(free_, free_ + bytes) : data_->write(p.elements);
      if (host_ && host_->has(p.peer))
        over_memory_->add_in({operand::kind::recv, p.peer, p.elements, own::result}, nullptr, into);
      else messages_.recv(into, bytes, p.peer);
    }
  std::size_t next = 0;
  for (fragment const p : fragments(operands)) {
    if (!p.sends()) continue;
    std::size_t const i = next++, bytes = of.bytes(p.elements.size());
    if (messages_.are_encoded()) messages_.send_encoded(i, p.peer);
    else if (host_ && host_->has(p.peer)) over_memory_->add_out(p.peer, nullptr, sources[i], bytes);
    else messages_.send(sources[i], bytes, p.peer);
  }
  if (host_) over_memory_->begin_added();
}

COLLIGO_BODY bool mpi_steps::advance() {
  if (memory_in_progress_) {
    memory_in_progress_ = !over_memory_->advance_far();
    if (memory_in_progress_ && only_memory_) return false;
  }
  if (only_memory_) return true;
  if (!finish_messages(false) || memory_in_progress_) return false;
  end_step();
  return true;
}

COLLIGO_BODY void mpi_steps::finish_in_memory() {
  for (unsigned polls = 0; memory_in_progress_;) {
    auto const now = over_memory_->advance();
    memory_in_progress_ = now != shared_steps::state::done;
    if (now != shared_steps::state::stuck) polls = 0;
    else over_memory_->wait(polls);
    // A rank of this host may wait for a rank of another host, and that rank until this one receives its message.
    left_calls::drop_messages();
  }
}

COLLIGO_BODY void mpi_steps::end_step() {
  combine_received(operands_, received_.data(), rank(), *data_);
  received_.clear();
}

// Folds in order of arrival; in the order listed if a message has several segments.
COLLIGO_BODY void mpi_steps::fold_as_they_come(std::span<operand const> operands) {
  element const& of = data_->of();
  bool one_by_one = false;
  for (fragment const p : fragments(operands)) one_by_one |= of.bytes(p.elements.size()) > longest_segment;
  if (one_by_one) return list(operands, list_kind::plain);
  room received(data_->memory().received, of, scratch_sizes(operands).received);
  std::byte* free = received.data();
  auto& sources = data_->memory().sources;
  sources.clear();
  small_vector<fragment>& arriving = data_->memory().arriving;
  arriving.clear();
  for (fragment const p : fragments(operands)) {
    arriving.push_back(p);
    sources.push_back(free);
    messages_.recv(free, of.bytes(p.elements.size()), p.peer);
    free += of.bytes(p.elements.size());
  }
  messages_.finish_as_they_come([&](std::size_t i) {
    data_->combine(arriving[i].elements, sources[i], arriving[i].peer < rank(), arriving[i].which);
  });
}

COLLIGO_BODY bool mpi_steps::all_on_host(std::span<operand const> operands) const {
  return !is_any(operands, [&](operand const& o) { return !o.vanishes() && !host_->has(o.peer); });
}

// Handles the current exception. Whether this rank goes on to the end of the algorithm as a rank that has failed, over
// MPI alone: ranks of other hosts wait for its messages, or until it receives theirs.
[[gnu::cold]] COLLIGO_BODY bool mpi_steps::goes_on() {
  try {
    throw;
  } catch (failed_elsewhere const&) {   // a rank of this host has abandoned the call
    data_->fail(std::current_exception());
  } catch (error const&) {   // MPI has failed, or ranks make different calls
    return false;
  } catch (...) {
    data_->fail(std::current_exception());
  }
  abandon_on_host();
  return true;
}

[[gnu::cold]] COLLIGO_BODY void mpi_steps::abandon_on_host() {
  if (!host_ || std::exchange(abandoned_on_host_, true)) return;
  try {
    std::rethrow_exception(data_->failure());
  } catch (...) {
    host_->calls.abandon(number_, handled_reason());
  }
  leave_memory();
  memory_in_progress_ = false;
}

// Performs a step of a rank that has failed. Ranks of its host get nothing: they see that it has abandoned the call.
[[gnu::cold]] COLLIGO_BODY void mpi_steps::perform_failed(std::span<operand const> operands) {
  abandon_on_host();
  for (bool const sends : {true, false})
    for (fragment const p : fragments(operands)) {
      if (p.sends() != sends || shares_memory_with(p.peer)) continue;
      std::size_t const bytes = messages_.are_encoded() ? 1 : data_->of().bytes(p.elements.size());
      sends ? messages_.send_nothing(bytes, p.peer) : messages_.drop(bytes, p.peer);
    }
}
#endif

}  // namespace colligo
