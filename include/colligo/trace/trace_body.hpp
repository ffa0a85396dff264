// SPDX-License-Identifier: BSL-1.0
/// @file
/// How a tracer logs a call and its steps.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "trace.hpp"

namespace colligo::inline COLLIGO_MODE {

struct tracer::ending {
  tracer& its;
  std::size_t began;
  ~ending() { its.end(began); }
};

/// The steps of a call over any transport, logged. A step that throws is logged too: its messages may have left.
class tracer::traced final : public any_step {
 public:
  traced(any_step& step, tracer& to)
      : any_step(step.rank(), step.size(), step.element_size(), operands_), step_(step), to_(to) {}

  void exchange(range out, range in, pair_of peers, pair_kind kind) override {
    operand const received = kind.folds ? operand(fold{peers.from, in, kind.with}) : operand(recv{peers.from, in});
    std::array const both{operand(send{peers.to, out, kind.sent}), received};
    perform(both, [&] { step_.exchange(out, in, peers, kind); });
  }
  void list(std::span<operand const> operands, list_kind kind) override {
    perform(operands, [&] { step_.list(operands, kind); });
  }
  void move(operand const& alone) override { step_.move(alone); }
  bool shares_memory_with(int peer) const override { return step_.shares_memory_with(peer); }

 private:
  template <class Run>
  void perform(std::span<operand const> operands, Run run) {
    auto const begin = trace_log::now();
    try {
      run();
    } catch (...) {
      add(operands, begin);
      throw;
    }
    add(operands, begin);
  }
  void add(std::span<operand const> operands, std::int64_t begin) {
    trace_event e{.what = trace_event::kind::step,
                  .number = steps_,
                  .communicator = to_.communicator_,
                  .begin = begin,
                  .end = trace_log::now()};
    said_.assign(1, e);
    for (operand const& o : operands) {
      if (o.vanishes()) continue;
      e.what = o.sends() ? trace_event::kind::send : o.folds() ? trace_event::kind::fold : trace_event::kind::recv;
      e.shared_memory = step_.shares_memory_with(o.peer);
      e.peer = to_.rows_.empty() ? o.peer : to_.rows_[static_cast<std::size_t>(o.peer)];
      e.elements = o.elements.size();
      e.bytes = e.elements * element_size();
      said_.push_back(e);
    }
    if (said_.size() == 1) return;
    ++steps_;
    to_.log_.add_step(said_);
  }

  any_step& step_;
  tracer& to_;
  std::uint32_t steps_ = 0;
  detail::row<operand> operands_;
  std::vector<trace_event> said_;
};

COLLIGO_BODY void tracer::watch(detail::call const& its, detail::text_run const& run, any_step& step) {
  ending const end{*this, begin(its, run.what.name)};
  traced each(step, *this);
  run(each);
}
COLLIGO_BODY std::size_t tracer::begin(detail::call const& its, std::string_view algorithm) {
  std::size_t const n = its.vector.whole.size();
  trace_event e{.what = trace_event::kind::call, .call_of = its.what, .communicator = communicator_, .elements = n,
                .bytes = its.of->bytes(n)};
  std::copy_n(algorithm.data(), std::min(algorithm.size(), e.algorithm.size()), e.algorithm.data());
  return log_.begin_call(e);
}

}  // namespace colligo
