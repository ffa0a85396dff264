// SPDX-License-Identifier: BSL-1.0
/// @file
/// Logs what a rank does, over any transport: each call, each step with its operands, and when. trace_file.hpp writes
/// the logs as a picture. COLLIGO_TRACE=file.json or file.svg traces a whole program; untraced, a call pays for looking
/// at a null pointer.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/any_step.hpp"
#include "../core/clock.hpp"
#include "../core/mutex.hpp"
#include "../engine/communicator_state.hpp"

namespace colligo::inline COLLIGO_MODE {

/// An event on a rank. Trivially copyable, so that logs can be sent.
struct trace_event {
  enum class kind : std::uint8_t { call, step, send, recv, fold };   ///< the operands of a step come right behind it

  kind what{};
  collective call_of{};
  bool shared_memory = false;          ///< of an operand that uses it
  int peer = nobody;                   ///< of an operand, as a row of the trace
  std::uint32_t number = 0;            ///< of a call on this rank; of a step within its call
  std::uint32_t call = 0;              ///< of the call on its communicator, the same on all ranks
  std::uint64_t communicator = 0;      ///< messages match within a call of one
  std::uint64_t elements = 0, bytes = 0;
  /// Nanoseconds of the steady clock; an operand has the times of its step.
  std::int64_t begin = 0, end = 0;
  std::int64_t combining = 0;          ///< of a call or a step: nanoseconds in which operands were combined
  std::array<char, 32> algorithm{};    ///< of a call; cut if it is longer

  bool is_operand() const { return what > kind::step; }
  std::string_view algorithm_name() const {
    return {algorithm.data(), static_cast<std::size_t>(std::ranges::find(algorithm, '\0') - algorithm.begin())};
  }
};

/// The events of one rank, in order. Bounded: when it is full, later events are counted and dropped, so the log has no
/// gaps.
class trace_log {
 public:
  /// Room for `most` events, 104 bytes each, allocated here. Precondition: the row is this rank's number among all that
  /// are traced together.
  explicit trace_log(int row, std::size_t most) : row_(row), most_(most) { events_.reserve(most); }
  trace_log(int row, std::vector<trace_event> events, std::uint64_t dropped)
      : row_(row), most_(events.size()), dropped_(dropped), events_(std::move(events)) {}
  trace_log(trace_log&& other) noexcept
      : row_(other.row_), most_(other.most_), dropped_(other.dropped_), events_(std::move(other.events_)) {}

  int row() const { return row_; }
  std::vector<trace_event> const& events() const { return events_; }
  std::uint64_t dropped() const { return dropped_; }
  /// For clocks that differ: adds nanoseconds to all events.
  void shift(std::int64_t by) {
    for (trace_event& e : events_) e.begin += by, e.end += by;
  }

  static std::int64_t now() { return detail::now_in_ns(); }

  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  /// A call that begins now; end_call() gets what this returns.
  std::size_t begin_call(trace_event e) {
    detail::locked const lock(mutex_);   // threads of one rank may work over different communicators
    e.number = calls_++;
    e.begin = e.end = now();
    return has_room(1) ? (events_.push_back(e), events_.size() - 1) : npos;
  }
  void end_call(std::size_t which, std::int64_t combining) {
    detail::locked const lock(mutex_);
    if (which != npos) events_[which].end = now(), events_[which].combining = combining;
  }
  /// A step, then its operands.
  void add_step(std::vector<trace_event> const& step) {
    detail::locked const lock(mutex_);
    if (has_room(step.size())) events_.insert(events_.end(), step.begin(), step.end());
  }

 private:
  // Counts events that do not fit as dropped.
  bool has_room(std::size_t count) {
    bool const fits = dropped_ == 0 && events_.size() + count <= most_;
    if (!fits) dropped_ += count;
    return fits;
  }

  int row_;
  std::size_t most_;
  std::uint64_t dropped_ = 0;
  std::uint32_t calls_ = 0;
  std::vector<trace_event> events_;
  detail::mutex mutex_;
};

/// Logs one communicator's calls; a traced state keeps one.
class tracer final : public detail::observer {
 public:
  /// `communicator`: a unique number, the same on all its ranks. `rows`: of its ranks; empty: each rank is its row.
  explicit tracer(trace_log& log, std::uint64_t communicator = 0, std::vector<int> rows = {})
      : log_(log), communicator_(communicator), rows_(std::move(rows)) {}

  COLLIGO_BODY void watch(detail::policy_run const& run, any_step& step, detail::working_vector& data) override;
  COLLIGO_BODY std::size_t begin(detail::call const& call, std::string_view algorithm, std::uint32_t number) override;
  void end(std::size_t began, std::int64_t combining) override { log_.end_call(began, combining); }
  std::int64_t now() const override { return trace_log::now(); }
  COLLIGO_BODY void step(detail::call const& call, std::uint32_t number_of_call, std::size_t number,
                         std::span<operand const> operands, detail::moving_step const& over, std::int64_t began,
                         std::int64_t combining) override;

 private:
  struct ending;
  class traced;
  template <class Over>
  bool log_step(trace_event event, std::span<operand const> operands, std::size_t element_size, Over const& over,
                std::vector<trace_event>& room);

  trace_log& log_;
  std::uint64_t communicator_;
  std::vector<int> rows_;
};

#if COLLIGO_HAS_BODIES
struct tracer::ending {
  tracer& to;
  std::size_t began;
  std::int64_t const& combining;
  detail::working_vector& data;
  ~ending() {
    data.watch_combining(nullptr);
    to.end(began, combining);
  }
};

/// The steps of a call over any transport, logged. A step that throws is logged too: its messages may have left.
class tracer::traced final : public any_step {
 public:
  traced(any_step& step, tracer& to, std::uint32_t call, std::int64_t const& combining)
      : any_step(step.rank(), step.size(), step.element_size(), operands_), step_(step), to_(to), call_(call),
        combining_(combining) {}

  void exchange(range out, range in, pair_of peers, pair_kind kind) override {
    perform(operands_of(out, in, peers, kind), [&] { step_.exchange(out, in, peers, kind); });
  }
  void list(std::span<operand const> operands, list_kind kind) override {
    perform(operands, [&] { step_.list(operands, kind); });
  }
  void move(operand const& alone) override { step_.move(alone); }
  bool shares_memory_with(int peer) const override { return step_.shares_memory_with(peer); }

 private:
  template <class Run>
  void perform(std::span<operand const> operands, Run run) {
    auto const begin = trace_log::now(), before = combining_;
    try {
      run();
    } catch (...) {
      add(operands, begin, before);
      throw;
    }
    add(operands, begin, before);
  }
  void add(std::span<operand const> operands, std::int64_t begin, std::int64_t before) {
    trace_event const e{.number = steps_, .call = call_, .begin = begin, .combining = combining_ - before};
    steps_ += to_.log_step(e, operands, element_size(), step_, recorded_);
  }

  any_step& step_;
  tracer& to_;
  std::uint32_t call_, steps_ = 0;
  std::int64_t const& combining_;
  detail::small_vector<operand> operands_;
  std::vector<trace_event> recorded_;
};

// False if no operand is left.
template <class Over>
bool tracer::log_step(trace_event e, std::span<operand const> operands, std::size_t element_size, Over const& over,
                      std::vector<trace_event>& events) {
  e.what = trace_event::kind::step;
  e.communicator = communicator_;
  e.end = trace_log::now();
  events.assign(1, e);
  e.combining = 0;
  for (operand const& o : operands) {
    if (o.vanishes()) continue;
    e.what = o.sends() ? trace_event::kind::send : o.folds() ? trace_event::kind::fold : trace_event::kind::recv;
    e.shared_memory = over.shares_memory_with(o.peer);
    e.peer = rows_.empty() ? o.peer : rows_[static_cast<std::size_t>(o.peer)];
    e.elements = o.elements.size();
    e.bytes = e.elements * element_size;
    events.push_back(e);
  }
  if (events.size() == 1) return false;
  log_.add_step(events);
  return true;
}

COLLIGO_BODY void tracer::watch(detail::policy_run const& run, any_step& step, detail::working_vector& data) {
  std::int64_t combining = 0;
  ending const end{*this, begin(run.call, run.by.policy->name, run.number), combining, data};
  data.watch_combining(&combining);
  traced each(step, *this, run.number, combining);
  run(each);
}
COLLIGO_BODY std::size_t tracer::begin(detail::call const& call, std::string_view algorithm, std::uint32_t number) {
  std::size_t const n = call.vector.whole.size();
  trace_event e{.what = trace_event::kind::call, .call_of = call.what, .call = number, .communicator = communicator_,
                .elements = n, .bytes = call.of->bytes(n)};
  std::copy_n(algorithm.data(), std::min(algorithm.size(), e.algorithm.size()), e.algorithm.data());
  return log_.begin_call(e);
}
COLLIGO_BODY void tracer::step(detail::call const& call, std::uint32_t number_of_call, std::size_t number,
                               std::span<operand const> operands, detail::moving_step const& over, std::int64_t began,
                               std::int64_t combining) {
  trace_event const e{.number = static_cast<std::uint32_t>(number), .call = number_of_call, .begin = began,
                      .combining = combining};
  std::vector<trace_event> events;
  log_step(e, operands, call.of->size, over, events);
}
#endif

}  // namespace colligo
