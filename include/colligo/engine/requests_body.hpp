// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of requests.hpp.
#pragma once

#include <algorithm>
#include <utility>

#include "../core/error.hpp"
#include "../plan/extent.hpp"
#include "all_requests_body.hpp"
#include "handles.hpp"
#include "requests.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

inline constexpr std::size_t most_bytes_of_spares = 4 << 20;   // for each communicator

COLLIGO_BODY running::running(communicator_state& state, call const& asked, choice const& by,
                              owner<owned_by_request> owned, bool persistent)
    : state_life_(state.life), state_(state), all_(state.requests()), call_(asked), by_(by), owned_(std::move(owned)) {
  erased_policy const& what = *by.policy;
  all_.make_room(1);
  if (asked.vector.offsets) {
    offsets_.append(asked.vector.offsets, asked.vector.offsets + offsets_of(asked.what, asked.vector.parts));
    call_.vector.offsets = offsets_.data();
  }
  if (what.is_vendor) {
    plan_.steps.push_back({0, 0, list_kind::plain});
    steps_ = state.vendor_request(call_, persistent);
    if (!steps_)
      throw algorithm_error(where(state, asked.what) + "vendor: the MPI library has no such collective as a request");
    return;
  }
  uses_memory_ = state.uses_memory(call_, by.over);
  element const& of = *asked.of;
  memory_.operands.reserve(64);
  planner plan(state.rank(), state.size(), of.size, plan_, memory_.operands);
  kept_plan const* const kept = plan_of(state, {call_, by_, state.known, 0});
  policy_run{call_, by_, state.known, 0, kept && kept->play ? kept : nullptr}(plan);
  place_ = working_place(call_, holds());
  call_.vector.lengths = nullptr, call_.vector.edges = nullptr;   // the state owns them, and changes them
  copies_input_ = what.keeps_input && call_.in.data == call_.out.data;
  result_.emplace(memory_.result, of, place_.beside.size());
  input_.emplace(memory_.input, of, copies_input_ ? call_.in.covers.size() : 0);
  work_on_arguments();
  steps_ = state.steps_for_request(*data_, call_, by.over);
  make_room();
  if (of.objects) return;
  reusable_ = !persistent && bytes_ <= most_bytes_of_spares && what.equals_by_bytes(by.tag());
  if (reusable_) signature_ = call_signature(asked, by.is_by_rules() ? nullptr : &by, state.distribution_of(asked));
  if (persistent) prepare();
}

// The stretch of the vector that its steps need.
COLLIGO_BODY range running::holds() {
  range const out = call_.out.covers;
  if ((out == call_.vector.whole || call_.vector.edges) && !by_.policy->scratch) return out;
  extent needed(state_.rank(), state_.size(), call_.of->size, memory_.operands);
  for (auto const& s : plan_.steps)
    for (operand const& o : plan_.operands_of(s))
      s.kind == list_kind::moves ? needed.move(o) : needed.sees(o);
  return has_two_vectors(call_.what) ? joined(out, needed.holds()) : needed.holds();
}

// Reserves memory for every step, so that no start allocates.
COLLIGO_BODY void running::make_room() {
  element const& of = *call_.of;
  std::size_t received = 0, combined = 0, grouped = 0;
  for (auto const& s : plan_.steps) {
    scratch_sizes const sizes(plan_.operands_of(s));
    received = std::max(received, sizes.received);
    combined = std::max(combined, sizes.combined);
    if (s.count > 2) grouped = std::max(grouped, sizes.received);
    memory_.sources.reserve(2 * s.count);
    steps_->make_room(plan_.operands_of(s), s.kind);
  }
  if (of.objects) return;
  memory_.received.of_size(of.bytes(received));
  memory_.combined.of_size(of.bytes(combined));
  memory_.kept.of_size(std::min(of.bytes(grouped), cached_stretch + of.size));
  std::size_t const beside = place_.beside.size() + (copies_input_ ? call_.in.covers.size() : 0);
  bytes_ = of.bytes(beside + received + combined) + plan_.operands.size() * sizeof(operand);
}

COLLIGO_BODY running::running(communicator_state& state, call const& call, choice const& by, owner<moving_step> steps,
                              owner<owned_by_request> owned)
    : state_life_(state.life), state_(state), all_(state.requests()), call_(call), by_(by), owned_(std::move(owned)),
      steps_(std::move(steps)) {
  all_.make_room(1);
  plan_.steps.push_back({0, 0, list_kind::plain});
}

// Makes room for the record of its next run but one.
COLLIGO_BODY void running::prepare() {
  if (prepared_ || !uses_memory_ || !prepared_call::is_possible(call_, nullptr)) return;   // its record needs no key
  prepared_ = make_owner<prepared_call>();
  prepared_->make_room(call_);
}

COLLIGO_BODY void running::work_on_arguments() {
  std::byte* const memory = result_->data();
  in_ = call_.in, out_ = place_.out(call_, memory), beyond_ = place_.beyond(call_, memory);
  if (copies_input_) in_.data = input_->data();
  data_.emplace(call_, in_, out_, beyond_, memory_);
}

COLLIGO_BODY bool running::matches(call const& call, choice const* by) const {
  return call.wire == call_.wire && (call.beyond.data == nullptr) == (call_.beyond.data == nullptr) &&
         (!by || by->policy->equals_by_bytes(by->tag())) &&
         signature_.is_of(call, by, state_.distribution_of(call), in_behind_out(call));
}

COLLIGO_BODY owned_running running::kept(communicator_state& state, call const& call, choice const* by,
                                         owner<owned_by_request>& owned) {
  auto const turn = state.requests().lock();
  for (auto& spare : state.spare_requests) {
    auto* const one = static_cast<running*>(spare.get());
    if (!one || !one->matches(call, by) || one->uses_memory_ != state.uses_memory(call, one->by_.over)) continue;
    spare.release();
    one->state_life_ = state.life_of_request ? std::move(state.life_of_request) : state.life;
    one->owned_ = std::move(owned);
    auto& now = one->call_;   // what a signature leaves open: a wide copy would stall
    now.op = call.op, now.in.data = call.in.data, now.out.data = call.out.data, now.beyond.data = call.beyond.data;
    now.init = call.init, now.before = call.before, now.output_is_free = call.output_is_free;
    return owned_running(one);
  }
  return {};
}

COLLIGO_BODY void running::end_silently() noexcept try {
  while (active_) wait();
} catch (...) {   // there is no one to report it to
  if (in_progress()) std::terminate();   // a functor destroys its own request while it runs
}

COLLIGO_BODY void running::leave(owner<running> request) {
  request->end_silently();
  request->owned_.reset();
  if (!request->reusable_ || !request->state_.life) return;
  try {
    request->prepare();
  } catch (std::bad_alloc const&) {   // its steps are performed
    request->prepared_.reset();
  }
  // A kept request must not own the state that keeps it. The next one takes the reference, quicker than a new one.
  communicator_state& state = request->state_;
  auto const turn = request->all_.lock();
  std::swap(state.life_of_request, request->state_life_);
  auto const life = std::move(request->state_life_);
  auto& spares = state.spare_requests;   // the latest comes first
  std::size_t free = 0;
  while (free < spares.size() - 1 && spares[free]) ++free;
  for (; free > 0; --free) spares[free] = std::move(spares[free - 1]);
  spares.front() = std::move(request);
  std::size_t all = 0;
  for (auto& spare : spares)
    if (spare && (all += static_cast<running const&>(*spare).bytes_) > most_bytes_of_spares) spare.reset();
}

COLLIGO_BODY void end_running::operator()(running* request) const { running::leave(owner<running>(request)); }

COLLIGO_BODY running::~running() {
  end_silently();
  all_.make_room(-1);
}

COLLIGO_BODY void running::start() {
  if (all_.ended_) throw error(where(state_, call_.what) + ended_with_mpi);
  if (active_)
    throw error(where(state_, call_.what) + "this request is active: wait for it before it is started again");
  all_.refuse_inside(state_);
  try {
    if (owned_) owned_->is_active = &active_, owned_->begin();
  } catch (...) {   // what packs elements copies them: the others wait for this rank
    state_.refuse(handled_reason());
    throw;
  }
  bool const told = (state_.before() & hooked) != 0;
  if (told) hooked_ = hook_of_calls->begin(as_hooked(state_, call_, by_, true));
  all_.add(*this, state_.next_call());
  is_told_ = told;
}
COLLIGO_BODY void running::start_as(std::uint32_t number) { all_.add(*this, number); }

COLLIGO_BODY void running::begin(std::uint32_t number) {
  number_ = number;
  current_ = 0;
  begun_ = false;
  bool const records = data_ && prepared_ && !state_.trace && !state_.on_wait;
  plays_ = records && !prepared_->actions.empty();
  if (!plays_) begin_performing(records);
  is_started_ = active_ = true;
  in_progress_.store(true, std::memory_order_release);
}

COLLIGO_BODY void running::begin_performing(bool records) {
  if (data_) {
    work_on_arguments();
    record_.reset();
    if (records && runs_ == 1) record_.emplace(call_, prepared_->actions);
    if (runs_ < 2) ++runs_;
    data_->record(record_ ? &*record_ : nullptr);
  }
  if (state_.trace) {
    traced_ = {state_.trace->begin(call_, by_.policy->name, number_), 0, 0, 0};
    if (data_) data_->watch_combining(&traced_.combining);
  }
  if (state_.on_wait) state_.on_wait->starts(number_);
}

// True when it is complete.
COLLIGO_BODY bool running::advance_played(bool waits) {
  if (current_ == 0) {
    steps_->begin_playing(*prepared_, call_, number_);
    work_on_arguments();   // behind the first messages, for which other ranks wait
    current_ = 1;
    begun_ = true;
  }
  if (!steps_->play_on(waits)) return false;
  begun_ = false;
  current_ = plan_.steps.size();
  return true;
}

// True when it is complete.
COLLIGO_BODY bool running::advance(bool waits) {
  bool const is_out_of_patience = stalled_ != nullptr;
  try {
    if (is_out_of_patience) std::rethrow_exception(std::exchange(stalled_, nullptr));
    if (plays_ && !advance_played(waits)) return false;
    while (!plays_) {
      if (begun_) {
        if (!end_step()) return false;
        begun_ = false;
        ++current_;
      }
      if (current_ == 0) {   // earlier requests are complete
        steps_->enter(call_, *by_.policy, number_);
        if (record_) steps_->record(*record_);
        if (data_ && copies_input_)   // here, because the others are told of what a copy throws
          copy_values(*call_.of, call_.in.data, call_.in.covers.size(), input_->data(), data_->record());
        if (data_ && has_two_vectors(call_.what))
          copy_own_block(call_, state_.rank(), place_.out(call_, result_->data()).data, data_->record());
      }
      if (current_ == plan_.steps.size()) break;
      auto const& next = plan_.steps[current_];
      begun_ = next.kind != list_kind::moves;
      if (begun_) {
        begin_step(plan_.operands_of(next), next.kind);
      } else {
        for (operand const& o : plan_.operands_of(next)) data_->move(o);
        ++current_;
      }
    }
    finish();
  } catch (...) {
    if (begun_ || current_ != plan_.steps.size() || is_out_of_patience)   // it may have no steps
      state_.abandon_call_now(number_);   // first, because other ranks abandon the call when they see that
    if (begun_) steps_->abandon();
    begun_ = reusable_ = false;
    failed_ = std::current_exception();
  }
  if (state_.trace) state_.trace->end(traced_.call, traced_.combining);
  if (state_.on_wait) state_.on_wait->completes(number_);
  return true;
}

COLLIGO_BODY void running::begin_step(std::span<operand const> operands, list_kind kind) {
  if (state_.trace) traced_.began = state_.trace->now(), traced_.combined_before = traced_.combining;
  steps_->begin(operands, kind);
}
COLLIGO_BODY bool running::end_step() {
  if (!steps_->advance()) return false;
  if (!state_.trace) return true;
  if (auto const operands = plan_.operands_of(plan_.steps[current_]); !operands.empty())
    state_.trace->step(call_, number_, current_, operands, *steps_, traced_.began,
                      traced_.combining - traced_.combined_before);
  return true;
}

COLLIGO_BODY void running::finish() {
  if (data_) {
    run_record* const record = data_->record();
    if (plays_) {
    } else if (place_.direct) {
      data_->complete();
    } else {
      copy_values(*call_.of, data_->read(call_.out.covers), call_.out.covers.size(), call_.out.data, record);
    }
    if (record) prepared_->take(*record, identity_of(call_, *by_.policy));
    data_->rethrow();
  }
  if (owned_) owned_->finish();
}

COLLIGO_BODY void running::rethrow() {
  active_ = false;
  if (is_told_) is_told_ = false, hook_of_calls->end(as_hooked(state_, call_, by_, true), hooked_);
  if (failed_) std::rethrow_exception(std::exchange(failed_, nullptr));
}

[[gnu::cold]] COLLIGO_BODY void running::fail(std::exception_ptr why) {
  stalled_ = std::move(why), state_.hopeless = number_;
  while (in_progress()) all_.progress();
}

COLLIGO_BODY bool running::test() {
  if (!complete()) return false;
  rethrow();
  return true;
}

COLLIGO_BODY bool running::complete() {
  if (in_progress()) state_.requests().progress();
  if (!in_progress()) return true;
  if (state_.on_wait) note_wait();
  return false;
}

COLLIGO_BODY void running::yield_core(unsigned& polls) {
  constexpr unsigned polls_between_notes = 16;   // where ranks share cores each may take milliseconds
  state_.yield_core(polls);
  if (state_.on_wait && polls % polls_between_notes == 0) note_wait();
}

// Requests over one state's shared memory run one after the other: what waits is the first. The exception `stalled` is
// kept for it, and its next advance() fails with it.
[[gnu::cold]] COLLIGO_BODY void running::note_wait() {
  auto const turn = all_.lock();
  if (!in_progress()) return;
  running& first = uses_memory_ ? **std::ranges::find_if(all_.in_progress_, [&](running const* r) {
    return r && r->uses_memory_ && &r->state_ == &state_;
  }) : *this;
  rank_plan const& plan = first.plan_;
  std::size_t const step = first.current_;
  try {
    bool const in_memory = first.steps_->shares_memory_with(state_.rank());
    auto now = step < plan.steps.size() ? plan.operands_of(plan.steps[step]) : std::span<operand const>();
    state_.on_wait->waits_for(first.call_, *first.by_.policy, first.number_, in_memory, step, now);
  } catch (stalled const&) {
    first.stalled_ = std::current_exception();
  }
}

COLLIGO_BODY void running::wait() {
  if (!is_started_) throw error(where(state_, call_.what) + "wait() of a persistent call that was never started");
  if (in_progress()) all_.refuse_inside(state_);
  if (in_progress()) all_.advance_alone(*this, true);
  for (unsigned polls = 0; in_progress();)
    if (!state_.requests().progress()) yield_core(polls);
  rethrow();
}

COLLIGO_BODY void running::run_among(communicator_state& state, policy_run const& run) {
  std::optional<running> now;
  try {
    state.requests().refuse_inside(state);
  } catch (...) {
    --state.calls;   // this call does not count: other ranks do not make it
    throw;
  }
  try {
    auto const turn = state.requests().lock();
    now.emplace(state, run.call, run.by, nullptr, false);
  } catch (...) {
    state.abandon_call_now(run.number);
    throw;
  }
  state.requests().add(*now, run.number);
  now->wait();
}

COLLIGO_BODY handle::handle() = default;
COLLIGO_BODY handle::handle(owned_running made) : running_(std::move(made)) {}
COLLIGO_BODY handle::handle(handle&&) noexcept = default;
COLLIGO_BODY handle& handle::operator=(handle&&) noexcept = default;
COLLIGO_BODY handle::~handle() = default;
COLLIGO_BODY bool handle::test() { return !running_ || running_->test(); }
COLLIGO_BODY void handle::wait() {
  if (!running_) throw error("colligo: wait() of an empty request: it has been moved from, or was never made");
  running_->wait();
}
COLLIGO_BODY bool handle::active() const { return running_ && running_->active(); }
COLLIGO_BODY bool handle::in_progress() const { return running_ && running_->in_progress(); }
COLLIGO_BODY void handle::yield_core(unsigned& polls) const { running_->yield_core(polls); }
COLLIGO_BODY bool handle::complete() { return !running_ || running_->complete(); }

}  // namespace colligo

namespace colligo::inline COLLIGO_MODE {

COLLIGO_BODY request::request(detail::owned_running made) : handle(std::move(made)) { running_->start(); }
COLLIGO_BODY persistent::persistent(detail::owned_running made) : handle(std::move(made)) {}
COLLIGO_BODY void persistent::start() {
  if (!running_) throw error("colligo: start() of a persistent collective that is empty");
  running_->start();
}

}  // namespace colligo
