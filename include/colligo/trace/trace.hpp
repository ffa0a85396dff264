// SPDX-License-Identifier: BSL-1.0
/// @file
/// Decorator: logs what a rank does, over any model: each call, each step with its operands, and when. trace_file.hpp writes the logs as a
/// picture. COLLIGO_TRACE=file.json or file.svg traces a whole program; untraced, a call pays for looking at a null pointer.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/policy.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Something that a rank did. Plain bytes, so that logs travel.
struct trace_event {
  enum class kind : std::uint8_t { call, step, send, recv, fold };   ///< the operands of a step come right behind it

  kind what{};
  collective call_of{};
  int peer = nobody;                   ///< of an operand, as a row of the trace
  std::uint32_t number = 0;            ///< of the call on this rank; of a step within its call
  std::uint64_t communicator = 0;      ///< messages match within one
  std::uint64_t elements = 0, bytes = 0;
  std::int64_t begin = 0, end = 0;     ///< nanoseconds of the steady clock; an operand has its step's, for nobody has measured more
  std::array<char, 32> algorithm{};    ///< of a call; cut if it is longer

  bool is_operand() const { return what > kind::step; }
  std::string_view algorithm_name() const { return {algorithm.data(), static_cast<std::size_t>(std::ranges::find(algorithm, '\0') - algorithm.begin())}; }
};

/// What one rank did, in order. Bounded: when it is full, later events are counted and dropped, so that what there is has no gaps.
class trace_log {
 public:
  /// Precondition: the row is this rank's number among all that are traced together. Cost: 96 bytes an event, at once.
  explicit trace_log(int row, std::size_t most) : row_(row), most_(most) { events_.reserve(most); }
  trace_log(int row, std::vector<trace_event> events, std::uint64_t dropped) : row_(row), most_(events.size()), dropped_(dropped), events_(std::move(events)) {}
  trace_log(trace_log&& other) noexcept : row_(other.row_), most_(other.most_), dropped_(other.dropped_), events_(std::move(other.events_)) {}

  int row() const { return row_; }
  std::vector<trace_event> const& events() const { return events_; }
  std::uint64_t dropped() const { return dropped_; }
  /// For clocks that do not agree: adds so many nanoseconds to all that is logged.
  void shift(std::int64_t by) {
    for (trace_event& e : events_) e.begin += by, e.end += by;
  }

  static std::int64_t now() { return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  /// A call that begins now; end_call() gets what this returns.
  std::size_t begin_call(trace_event e) {
    std::lock_guard const lock(mutex_);   // threads of one rank may work over different communicators
    e.number = calls_++;
    e.begin = e.end = now();
    return add(1) ? (events_.push_back(e), events_.size() - 1) : npos;
  }
  void end_call(std::size_t which) {
    std::lock_guard const lock(mutex_);
    if (which != npos) events_[which].end = now();
  }
  /// A step, then its operands.
  void add_step(std::vector<trace_event> const& step) {
    std::lock_guard const lock(mutex_);
    if (add(step.size())) events_.insert(events_.end(), step.begin(), step.end());
  }

 private:
  bool add(std::size_t count) {
    bool const fits = dropped_ == 0 && events_.size() + count <= most_;
    if (!fits) dropped_ += count;
    return fits;
  }

  int row_;
  std::size_t most_;
  std::uint64_t dropped_ = 0;
  std::uint32_t calls_ = 0;
  std::vector<trace_event> events_;
  std::mutex mutex_;
};

/// Where one communicator's calls are logged: what a port keeps if it is traced.
struct tracer {
  trace_log& log;
  std::uint64_t communicator = 0;   ///< the same on all its ranks, no other's
  std::vector<int> rows{};          ///< of its ranks; empty: each rank is its row

  int row_of(int rank) const { return rows.empty() || rank < 0 ? rank : rows[static_cast<std::size_t>(rank)]; }
};

/// One call, from here to the end of the scope.
class traced_call {
 public:
  traced_call(tracer& t, collective c, std::string_view algorithm, std::size_t elements, std::size_t bytes_per_element) : tracer_(t), bytes_per_element_(bytes_per_element) {
    trace_event e{.what = trace_event::kind::call, .call_of = c, .communicator = t.communicator, .elements = elements, .bytes = elements * bytes_per_element};
    std::copy_n(algorithm.data(), std::min(algorithm.size(), e.algorithm.size()), e.algorithm.data());
    which_ = t.log.begin_call(e);
  }
  ~traced_call() { tracer_.log.end_call(which_); }
  traced_call(traced_call const&) = delete;
  traced_call& operator=(traced_call const&) = delete;

  tracer& to() const { return tracer_; }
  std::size_t bytes_per_element() const { return bytes_per_element_; }

 private:
  tracer& tracer_;
  std::size_t bytes_per_element_, which_ = 0;
};

/// The steps of a call over any model, logged. A step that throws is logged too: its messages may have left. The model's type is left behind,
/// so that compilers see few of its steps twice: a pair as it was, everything else as a list.
class traced {
 public:
  template <class Step>
  traced(Step& step, traced_call const& call)
      : step_(&step), rank_(step.rank()), size_(step.size()), to_(call.to()), bytes_per_element_(call.bytes_per_element()),
        send_recv_([](void* its, send const& s, recv const& r) { (*static_cast<Step*>(its))(s, r); }),
        send_fold_([](void* its, send const& s, fold const& f) { (*static_cast<Step*>(its))(s, f); }),
        list_([](void* its, std::span<operand const> list) { (*static_cast<Step*>(its))(list); }),
        published_([](void* its, std::span<operand const> list) { (*static_cast<Step*>(its))(published{list}); }) {}

  int rank() const { return rank_; }
  int size() const { return size_; }

  void operator()(send s) { (*this)(s, recv{nobody, {}}); }
  void operator()(recv r) { (*this)(send{nobody, {}}, r); }
  void operator()(fold f) { (*this)(send{nobody, {}}, f); }
  void operator()(send const& s, recv const& r) {
    operands_.assign({operand(s), operand(r)});
    perform([&] { send_recv_(step_, s, r); });
  }
  void operator()(send const& s, fold const& f) {
    operands_.assign({operand(s), operand(f)});
    perform([&] { send_fold_(step_, s, f); });
  }
  template <class... Operands>
  void operator()(Operands... operands) { (*this)(std::array{operand(operands)...}); }
  template <operand_list List>
  void operator()(List const& list) {
    operands_.clear();
    for (std::size_t i = 0; i < list.size(); ++i) operands_.push_back(list[i]);
    perform([this] { (published_list<List> ? published_ : list_)(step_, operands_); });
  }

 private:
  template <class Run>
  void perform(Run run) {
    auto const begin = trace_log::now();
    try {
      run();
    } catch (...) {
      add(begin);
      throw;
    }
    add(begin);
  }
  void add(std::int64_t begin) {
    trace_event e{.what = trace_event::kind::step, .number = steps_, .communicator = to_.communicator, .begin = begin, .end = trace_log::now()};
    said_.assign(1, e);
    for (operand const& o : operands_) {
      if (o.vanishes()) continue;
      e.what = o.sends() ? trace_event::kind::send : o.folds() ? trace_event::kind::fold : trace_event::kind::recv;
      e.peer = to_.row_of(o.peer);
      e.elements = o.elements.size(), e.bytes = e.elements * bytes_per_element_;
      said_.push_back(e);
    }
    if (said_.size() == 1) return;
    ++steps_;
    to_.log.add_step(said_);
  }

  void* step_;
  int rank_, size_;
  tracer& to_;
  std::size_t bytes_per_element_;
  void (*send_recv_)(void*, send const&, recv const&);
  void (*send_fold_)(void*, send const&, fold const&);
  void (*list_)(void*, std::span<operand const>);
  void (*published_)(void*, std::span<operand const>);
  std::uint32_t steps_ = 0;
  std::vector<operand> operands_;
  std::vector<trace_event> said_;
};

static_assert(steps<traced>);

}  // namespace colligo
