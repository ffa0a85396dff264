// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of threads.hpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "../core/error.hpp"
#include "shared_memory.hpp"
#include "../request.hpp"
#include "thread_port.hpp"
#include "threads.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

// A message on offer: it stands in its sender's step until the receiver has taken it.
struct parcel {
  std::byte const* data;
  std::size_t n;
  element const* of;
  int to;
  std::uint32_t number;    // of the request, 0 for blocking calls
  bool accepted = false;   // guarded by the receiver's desk
  bool taken = false;      // guarded by the sender's desk
  parcel* next = nullptr;
};

// Thrown in ranks that wait when another rank has failed.
struct abandoned {};

class thread_group {
 public:
  explicit thread_group(int p) : ranks_(static_cast<std::size_t>(p)) {
    for (auto& rank : ranks_) rank.offered.resize(static_cast<std::size_t>(p));
  }

  void offer(int from, parcel& p) {
    desk& d = at(p.to);
    std::lock_guard const lock(d.mutex);
    parcel** last = &d.offered[static_cast<std::size_t>(from)];
    while (*last) last = &(*last)->next;
    *last = &p;
    d.changed.notify_all();
  }

  /// The first message of this number; waits for it, or gives null.
  parcel* accept(int from, int to, std::uint32_t number, bool waits) {
    desk& d = at(to);
    parcel** place = nullptr;
    auto const there = [&] {
      place = &d.offered[static_cast<std::size_t>(from)];
      while (*place && (*place)->number != number) place = &(*place)->next;
      return *place != nullptr;
    };
    std::unique_lock lock(d.mutex);
    if (!await(lock, to, from, there, "waits for a message of", waits)) return nullptr;
    parcel* const p = *place;
    *place = p->next;
    p->accepted = true;
    return p;
  }

  void took(int from, parcel& p) {
    desk& d = at(from);
    std::lock_guard const lock(d.mutex);
    p.taken = true;
    d.changed.notify_all();
  }

  bool is_taken(int from, parcel const& p, bool waits) {
    std::unique_lock lock(at(from).mutex);
    return await(lock, from, p.to, [&] { return p.taken; }, "has a message for", waits);
  }

  // For a sender that fails: afterwards nobody looks at its offer any more.
  void withdraw(int from, parcel const& p) {
    {
      desk& d = at(p.to);
      std::lock_guard const lock(d.mutex);
      if (!p.accepted) {
        for (parcel** place = &d.offered[static_cast<std::size_t>(from)]; *place; place = &(*place)->next)
          if (*place == &p) {
            *place = p.next;
            return;
          }
        return;
      }
    }
    desk& d = at(from);
    std::unique_lock lock(d.mutex);
    d.changed.wait(lock, [&] { return p.taken; });   // being copied at this moment
  }

  void leave(int rank, std::exception_ptr error) {
    std::lock_guard const lock(state_);
    at(rank).gone = true;
    if (error && !first_) first_ = error, failed_ = true;
    for (auto& d : ranks_) {
      std::lock_guard const wake(d.mutex);
      d.changed.notify_all();
    }
  }

  std::exception_ptr first_error() const { return first_; }
  bool failed() const { return failed_; }

  /// One per rank, for shared_host; made when the first rank asks.
  std::vector<std::byte*> segments() {
    std::lock_guard const lock(state_);
    std::size_t const bytes = segment_layout(static_cast<int>(ranks_.size())).bytes();
    std::vector<std::byte*> begins;
    segments_.resize(ranks_.size());
    for (buffer& segment : segments_) {
      bool const fresh = segment.empty();
      begins.push_back(segment.of_size(bytes));
      if (fresh) std::memset(begins.back(), 0, bytes);
    }
    return begins;
  }
  static void wait_in_memory(void* self) {
    if (static_cast<thread_group*>(self)->failed_) throw abandoned{};
    std::this_thread::yield();
  }
  static void read(void*, int, std::byte* into, std::byte const* address, std::size_t bytes) { std::memcpy(into, address, bytes); }

 private:
  struct desk {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<parcel*> offered;   // by sender
    std::atomic<bool> gone = false;
  };

  desk& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

  template <class Ready>
  bool await(std::unique_lock<std::mutex>& lock, int rank, int peer, Ready ready, char const* what, bool waits) {
    if (waits) at(rank).changed.wait(lock, [&] { return ready() || at(peer).gone; });
    if (ready()) return true;
    if (!waits && !at(peer).gone) return false;
    lock.unlock();
    std::lock_guard const state(state_);
    if (first_) throw abandoned{};
    throw error("rank " + std::to_string(rank) + ' ' + what + " rank " + std::to_string(peer) +
                ", which has left: not all ranks made this call");
  }

  std::vector<desk> ranks_;
  std::mutex state_;
  std::exception_ptr first_;
  std::atomic<bool> failed_ = false;
  std::vector<buffer> segments_;
};

struct thread_steps_memory {
  std::vector<parcel> outgoing;
  shared_traffic traffic;
};
struct thread_port::steps_memory : thread_steps_memory {};

class thread_steps : public any_step, public moving_step {
 public:
  thread_steps(thread_port& port, working_vector& data, shared_host* host, thread_steps_memory& memory)
      : any_step(port.rank(), port.size(), data.of().size, data.memory().operands), port_(port), data_(data), memory_(memory) {
    if (!host) return;
    here_.emplace(*host, memory.traffic, port.rank());
    here_->work_on(data);
  }

  void exchange(range out, range in, pair_of peers, pair_kind kind) override {
    operand const received = kind.folds ? operand(fold{peers.from, in, kind.with}) : operand(recv{peers.from, in});
    list(std::array{operand(send{peers.to, out, kind.sent}), received}, list_kind::plain);
  }
  void list(std::span<operand const> operands, list_kind kind) override {
    if (here_) return here_->perform(operands, kind == list_kind::published);
    begin(operands, kind);
    advance_messages(true);
  }

  void number(std::uint32_t n) override { number_ = n; }
  COLLIGO_BODY void begin(std::span<operand const> operands, list_kind kind) override;
  bool advance() override {
    if (port_.group.failed()) throw abandoned{};
    if (!here_) return advance_messages(false);
    auto now = here_->advance();
    while (now == shared_steps::state::moved) now = here_->advance();
    return now == shared_steps::state::done;
  }
  void abandon() override { withdraw(); }

 private:
  bool advance_messages(bool waits);
  bool take(piece const& wanted, std::byte* into, bool waits);
  void withdraw() {
    for (parcel const& p : memory_.outgoing) port_.group.withdraw(rank(), p);
    memory_.outgoing.clear();
  }

  thread_port& port_;
  working_vector& data_;
  thread_steps_memory& memory_;
  std::optional<shared_steps> here_;
  std::uint32_t number_ = 0;
  // The step that is under way.
  std::span<operand const> operands_;
  std::optional<room> received_, combined_;
  std::byte* free_ = nullptr;
  std::size_t taken_ = 0;   // pieces
};

COLLIGO_BODY void thread_steps::begin(std::span<operand const> operands, list_kind kind) {
  if (here_) return here_->begin(operands, kind == list_kind::published);
  operands_ = operands;
  element const& of = data_.of();
  scratch_sizes const sizes(operands);
  received_.emplace(data_.memory().received, of, sizes.received);
  combined_.emplace(data_.memory().combined, of, sizes.combined);
  std::byte* free = combined_->data();
  auto& outgoing = memory_.outgoing;
  outgoing.clear();
  for_each_piece(operands, [&](piece const& p) {
    if (!p.sends()) return;
    outgoing.push_back({data_.read(p.elements, p.which, free), p.elements.size(), &of, p.peer, number_});
    if (p.combines_first()) free += of.bytes(p.elements.size());
  });
  for (parcel& p : outgoing) port_.group.offer(rank(), p);   // from now on they do not move
  free_ = received_->data();
  taken_ = 0;
}

COLLIGO_BODY bool thread_steps::advance_messages(bool waits) {
  try {
    std::size_t number = 0;
    bool all = true;
    for_each_piece(operands_, [&](piece const& p) {
      if (p.sends() || number++ < taken_ || !all) return;
      std::byte* const into = p.folds() ? free_ : data_.write(p.elements);
      all = take(p, into, waits);
      if (!all) return;
      ++taken_;
      if (p.folds()) free_ += data_.of().bytes(p.elements.size());
    });
    for (parcel const& p : memory_.outgoing) all = all && port_.group.is_taken(rank(), p, waits);
    if (!all) return false;
  } catch (...) {
    withdraw();
    throw;
  }
  memory_.outgoing.clear();
  combine_received(operands_, received_->data(), rank(), data_);
  return true;
}

COLLIGO_BODY bool thread_steps::take(piece const& wanted, std::byte* into, bool waits) {
  parcel* const p = port_.group.accept(wanted.peer, rank(), number_, waits);
  if (!p) return false;
  std::size_t const n = p->n;
  std::string_view const type = p->of->name(), mine = data_.of().name();
  bool const expected = n == wanted.elements.size() && type == mine;
  try {
    if (expected) data_.of().copy(p->data, n, into);
  } catch (...) {
    data_.fail(std::current_exception());
  }
  port_.group.took(wanted.peer, *p);   // it is its sender's again
  if (!expected)
    throw error("rank " + std::to_string(rank()) + " expects " + std::to_string(wanted.elements.size()) + " elements of type " +
                std::string(mine) + " from rank " + std::to_string(wanted.peer) + ", which sends " + std::to_string(n) + " of type " +
                std::string(type) + ": the ranks made different calls");
  return true;
}

// Steps that bring along all that they need.
struct thread_request_steps final : private thread_steps_memory, public thread_steps {
  thread_request_steps(thread_port& port, working_vector& data, shared_host* host)
      : thread_steps(port, data, host, static_cast<thread_steps_memory&>(*this)) {}
};

COLLIGO_BODY thread_port::thread_port(thread_group& all, int rank, int size, settings const& environment)
    : port_base(own_requests_), group(all), steps_memory_(std::make_unique<steps_memory>()) {
  rank_ = rank;
  size_ = size;
  settings_ = environment;
}
COLLIGO_BODY thread_port::~thread_port() = default;

COLLIGO_BODY shared_host* thread_port::shared() {
  if (!shared_)
    shared_ = std::make_unique<shared_host>(rank_, group.segments(), std::vector<int>{},
                                            surroundings{&group, false, &thread_group::wait_in_memory, &thread_group::read});
  return shared_.get();
}
COLLIGO_BODY shared_host* thread_port::shared_for(element const& of) {
  return !of.objects && shared()->fits(of.size) ? shared() : nullptr;
}
COLLIGO_BODY bool thread_port::uses_memory(call const& its, transport over) {
  return over == transport::shared_memory && shared_for(*its.of) != nullptr;
}
COLLIGO_BODY std::unique_ptr<moving_step> thread_port::steps_for_request(working_vector& data, call const& its, transport over) {
  return std::make_unique<thread_request_steps>(*this, data, over == transport::shared_memory ? shared_for(*its.of) : nullptr);
}
COLLIGO_BODY void thread_port::perform(working_vector& data, call const& its, text_run const& run, transport over) {
  thread_steps steps(*this, data, over == transport::shared_memory ? shared_for(*its.of) : nullptr, *steps_memory_);
  run_on(steps, its, run);
}

COLLIGO_BODY void run_ranks(int p, void (*f)(void* context, thread_communicator& comm), void* context) {
  if (p < 1) throw argument_error("run_threads: " + std::to_string(p) + " ranks asked for, at least 1 is needed");
  thread_group group(p);
  auto const environment = settings_of_environment();
  if (!follow_threads) tell_that_nothing_is_traced();
  auto const trace = follow_threads ? follow_threads(p) : nullptr;
  auto const run = [&](int rank) {
    std::exception_ptr error;
    try {
      thread_port port(group, rank, p, environment);
      if (trace) port.trace = trace->of(rank);
      thread_communicator comm(port);
      f(context, comm);
    } catch (abandoned const&) {   // the cause is kept already
    } catch (...) {
      error = std::current_exception();
    }
    group.leave(rank, error);
  };
  {
    std::vector<std::jthread> others;
    for (int rank = 1; rank < p; ++rank) others.emplace_back(run, rank);
    run(0);
  }
  if (trace) trace->write();
  if (auto const error = group.first_error()) std::rethrow_exception(error);
}

}  // namespace colligo
