// SPDX-License-Identifier: BSL-1.0
/// @file
/// How a tracer logs a call and its steps.
#pragma once

#include "tracer.hpp"

namespace colligo::inline COLLIGO_MODE {

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

}  // namespace colligo
