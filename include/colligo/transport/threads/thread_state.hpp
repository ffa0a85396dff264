// SPDX-License-Identifier: BSL-1.0
/// @file
/// Ranks that are threads: their state, steps and messages. A template, so that only units that run threads compile it.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/owner.hpp"
#include "../../core/strings.hpp"
#include "../../core/thread.hpp"
#include "../../engine/handles.hpp"
#include "../../engine/communicator_state.hpp"
#include "../../engine/requests.hpp"
#include "../../environment/cache_line.hpp"
#include "../memory/memory_steps.hpp"
#include "thread_group.hpp"
#include "threads.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Traces the ranks of a group if COLLIGO_TRACE is set. Units that include trace.hpp set it.
class trace_of_threads {
 public:
  virtual ~trace_of_threads() = default;
  virtual owner<observer> of(int rank) = 0;
  virtual void write() = 0;
};
inline owner<trace_of_threads> (*follow_threads)(int p) = nullptr;

template <class Lazy = void>
struct over_threads {
  using parcel = typename group_of_threads<Lazy>::parcel;
  using abandoned = typename group_of_threads<Lazy>::abandoned;
  using group = typename group_of_threads<Lazy>::group;

  // What a step sends. Kept with the state or the request, so that a call allocates nothing.
  struct kept_parcels {
    std::vector<parcel> outgoing;
  };

  class state;

  class steps : public any_step, public moving_step {
   public:
    steps(state& state, working_vector& data, kept_parcels& parcels)
        : any_step(state.rank(), state.size(), data.of().size, data.memory().operands), state_(state), data_(data),
          parcels_(parcels) {}

    void move(operand const& alone) override { data_.move(alone); }
    void list(std::span<operand const> operands, list_kind kind) override {
      begin(operands, kind);
      advance_messages(true);
    }

    void enter(call const&, erased_policy const&, std::uint32_t number) override { number_ = number; }
    void begin(std::span<operand const> operands, list_kind) override {
      operands_ = operands;
      element const& of = data_.of();
      scratch_sizes const sizes(operands);
      received_.emplace(data_.memory().received, of, sizes.received);
      combined_.emplace(data_.memory().combined, of, sizes.combined);
      std::byte* free = combined_->data();
      auto& outgoing = parcels_.outgoing;
      outgoing.clear();
      for (fragment const p : fragments(operands)) {
        if (!p.sends()) continue;
        outgoing.push_back({data_.read(p.elements, p.which, free), p.elements.size(), &of, p.peer, number_,
                            data_.has_failed()});
        if (p.combines_first()) free += of.bytes(p.elements.size());
      }
      for (parcel& p : outgoing) state_.ranks.offer(rank(), p);   // `outgoing` no longer grows: receivers have pointers
      free_ = received_->data();
      taken_ = 0;
    }
    bool advance() override {
      if (state_.ranks.failed()) throw abandoned{};
      return advance_messages(false);
    }
    void abandon() override { withdraw(); }

   private:
    bool advance_messages(bool waits) {
      try {
        std::size_t number = 0;
        bool all = true;
        for (fragment const p : fragments(operands_)) {
          if (p.sends() || number++ < taken_) continue;
          std::byte* const into = p.folds() ? free_ : data_.write(p.elements);
          if (!take(p, into, waits)) return false;
          ++taken_;
          if (p.folds()) free_ += data_.of().bytes(p.elements.size());
        }
        for (parcel const& p : parcels_.outgoing) all = all && state_.ranks.is_taken(rank(), p, waits);
        if (!all) return false;
      } catch (...) {
        withdraw();
        throw;
      }
      parcels_.outgoing.clear();
      combine_received(operands_, received_->data(), rank(), data_);
      return true;
    }

    bool take(fragment const& wanted, std::byte* into, bool waits) {
      parcel* const p = state_.ranks.accept(wanted.peer, rank(), number_, waits);
      if (!p) return false;
      std::size_t const n = p->n;
      std::string_view const type = p->of->name(), mine = data_.of().name();
      bool const expected = n == wanted.elements.size() && type == mine;
      try {
        if (p->failed)
          throw failed_elsewhere(failed_there(at_call(rank(), number_, name_of(data_.what())), wanted.peer));
        if (expected) data_.of().copy(p->data, n, into);
      } catch (...) {
        data_.fail(std::current_exception());
      }
      state_.ranks.took(wanted.peer, *p);   // the sender may reuse the parcel
      if (!expected)
        throw mismatch_error(other_elements(at_call(rank(), number_, name_of(data_.what())), wanted.peer,
                                            concat({wanted.elements.size(), " ", mine}), concat({n, " ", type})));
      return true;
    }

    void withdraw() {
      for (parcel const& p : parcels_.outgoing) state_.ranks.withdraw(rank(), p);
      parcels_.outgoing.clear();
    }

    state& state_;
    working_vector& data_;
    kept_parcels& parcels_;
    std::uint32_t number_ = 0;
    // The step that is in progress.
    std::span<operand const> operands_;
    std::optional<room> received_, combined_;
    std::byte* free_ = nullptr;
    std::size_t taken_ = 0;   // fragments that have been received
  };

  // Steps with parcels of their own.
  class request_steps final : private kept_parcels, public steps {
   public:
    request_steps(state& own, working_vector& data) : steps(own, data, static_cast<kept_parcels&>(*this)) {}
  };

  // Around steps over memory, of which all ranks have the same.
  struct among_threads {
    group const& ranks;

    void before_call() {}
    void before_look() {
      if (ranks.failed()) throw abandoned{};
    }
    bool says_memory() const { return true; }
  };
  using memory_steps = detail::memory_steps<among_threads>;

  class state final : public communicator_state {
   public:
    state(group& all, int rank, int size, std::shared_ptr<settings const> const& environment)
        : communicator_state(own_requests_), ranks(all), parcels_(make_owner<kept_parcels>()) {
      rank_ = rank;
      size_ = size;
      take(environment);
      set_line(cache_line_of_machine());
      prepare_calls();
      if (!watches_waits() || size == 1) return;
      lose_patience(shared(), "run_threads");
      ranks.report_waits(rank, on_wait.get());
    }
    ~state() override { spare_requests = {}; }   // their steps use this state

    /// The shared memory of all ranks: the same protocol as between processes, in memory of this process.
    shared_host* shared() {
      if (shared_) return shared_.get();
      auto const segments = ranks.segments();
      shared_ = make_owner<shared_host>(rank_, segments.size(), ranks.memory_of(rank_), std::vector<int>{},
                                         latencies().line);
      shared_->open([&](std::size_t r) { return segments[r]; },
                    {.context = &ranks, .spin = size_ <= cores_of_process(), .wait = &group::wait_in_memory,
                     .read = &group::read, .gone = &group::is_gone, .ranks_may_leave = true, .tells_types = true});
      shared_->limit(limits());
      return shared_.get();
    }
    shared_host* shared_for(element const& of) { return !of.objects && shared()->fits(of.size) ? shared() : nullptr; }
    shared_host* shared_for(call const& call, transport over) {
      return over == transport::messages ? nullptr : shared_for(*call.of);
    }

    void yield_core(unsigned& polls) const override {
      if (++polls < 16) relax();
      else sched_yield();
    }
    std::string why_no_memory(element const& of) override {
      if (of.objects) return "elements that do not travel as bytes do not go through it";
      return shared()->fits(of.size) ? std::string() : too_large_for_memory(of.size);
    }
    bool are_threads() const override { return true; }
    bool uses_memory(call const& call, transport over) override { return shared_for(call, over) != nullptr; }
    owner<moving_step> steps_for_request(working_vector& data, call const& call, transport over) override {
      if (shared_host* const host = shared_for(call, over)) {
        auto made = make_owner<memory_steps>(rank_, size_, *host, data.memory(),
                                             among_threads{ranks});
        made->work_on(data);
        return made;
      }
      return make_owner<request_steps>(*this, data);
    }
    void abandon_call(std::uint32_t number, std::string_view why, bool) noexcept override {
      ranks.abandon_call(rank_, number, why);
      try {
        shared()->calls.abandon(number, why);   // others may wait there, even if this rank has not used it yet
      } catch (std::bad_alloc const&) {
      }
    }
    void forget_calls() noexcept override {
      ranks.forget_calls(rank_, calls);
      if (shared_) shared_->calls.forget(calls);
    }

    group& ranks;

   private:
    void perform(working_vector& data, policy_run const& run) override {
      if (shared_host* const host = shared_for(run.call, run.by.over)) return perform_in_memory(data, run, *host);
      steps each(*this, data, *parcels_);
      this->run_on(each, each, data, run, [&] { each.abandon(); });
    }

    void perform_in_memory(working_vector& data, policy_run const& run, shared_host& host) {
      if (!over_memory_) [[unlikely]]
        over_memory_ = make_owner<memory_steps>(rank_, size_, host, memory, among_threads{ranks});
      over_memory_->work_on(data);
      this->run_on(*over_memory_, *over_memory_, data, run, [&] { over_memory_->abandon(); });
    }

    owner<kept_parcels> parcels_;
    owner<shared_host> shared_;
    owner<memory_steps> over_memory_;   // of blocking calls
    requests_of_rank own_requests_;
  };
};

using thread_state = over_threads<>::state;

template <class Lazy>
void run_ranks(int p, void (*f)(void* context, thread_communicator& comm), void* context) {
  if (p < 1)
    throw argument_error("colligo: run_threads: " + std::to_string(p) + " ranks asked for, at least 1 is needed");
  using engine = over_threads<Lazy>;
  typename engine::group group(p);
  auto const environment = settings_of_environment();
  if (!follow_threads) warn_that_nothing_is_traced();
  auto const trace = follow_threads ? follow_threads(p) : nullptr;
  auto const run = [&](int rank) {
    std::exception_ptr error;
    try {
      auto const state = std::make_shared<typename engine::state>(group, rank, p, environment);
      struct end_of_life {
        communicator_state& state;
        ~end_of_life() { state.life_of_request = state.life = nullptr; }
      } const end{*(state->life = state)};
      if (trace) state->trace = trace->of(rank);
      thread_communicator comm(*state);
      f(context, comm);
    } catch (typename engine::abandoned const&) {   // the group has the cause
    } catch (...) {
      error = std::current_exception();
    }
    group.leave(rank, error);
  };
  {
    struct other_rank {
      other_rank(decltype(run) const& f, int number) : run_rank(f), rank(number) {}
      decltype(run) const& run_rank;
      int rank;
      thread running{[](void* of) {
                       auto& other = *static_cast<other_rank*>(of);
                       other.run_rank(other.rank);
                     }, this};
    };
    std::vector<owner<other_rank>> others;
    int next = 1;
    try {
      others.reserve(static_cast<std::size_t>(p));
      for (; next < p; ++next) others.push_back(make_owner<other_rank>(run, next));
      run(0);
    } catch (...) {   // the system starts no further thread: those that run would wait for the others
      for (; next <= p; ++next) group.leave(next % p, std::current_exception());
    }
  }
  if (trace) trace->write();
  if (auto const error = group.first_error()) std::rethrow_exception(error);
}

}  // namespace colligo
