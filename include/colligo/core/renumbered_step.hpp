// SPDX-License-Identifier: BSL-1.0
/// @file
/// An any_step with other rank numbers: stages of composed algorithms run on it, so a unit compiles each algorithm for
/// one kind of step. Costs one more virtual call for each step.
#pragma once

#include <algorithm>

#include "any_step.hpp"
#include "renumbered.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

class renumbered_step final : public any_step {
 public:
  template <class Real>
  explicit renumbered_step(renumbered<any_step, Real> const& view)
      : any_step(view.rank(), view.size(), view.inner()), inner_(view.inner()), view_(&view),
        real_([](void const* of, int v) { return static_cast<renumbered<any_step, Real> const*>(of)->real(v); }) {}

  void exchange(range out, range in, pair_of peers, pair_kind kind) override {
    inner_.exchange(out, in, {real_(view_, peers.to), real_(view_, peers.from)}, kind);
  }
  void list(std::span<operand const> operands, list_kind kind) override {
    small_vector<operand>& renamed = list_memory();   // the operands may be in it already
    if (operands.data() != renamed.data()) {
      renamed.resize(operands.size());
      std::copy(operands.begin(), operands.end(), renamed.begin());
    }
    for (std::size_t i = 0; i < operands.size(); ++i) renamed[i].peer = real_(view_, renamed[i].peer);
    // The view's ranks are a group of the inner step's ranks. A list lacks operands where a rank has nothing to send.
    bool const among = operands.size() == 2 * static_cast<std::size_t>(size() - 1);
    if (kind == list_kind::published) kind = among ? list_kind::published_among : list_kind::plain;
    inner_.list({renamed.data(), operands.size()}, kind);
  }
  void move(operand const& alone) override { inner_.move(alone); }
  bool shares_memory_with(int peer) const override { return inner_.shares_memory_with(real_(view_, peer)); }

 private:
  any_step& inner_;
  void const* view_;
  int (*real_)(void const* view, int v);
};

/// Calls f(step) with one of few types of steps: a renumbered any_step becomes an any_step.
template <class Step, class F>
constexpr void with_erased(Step& step, F const& f) { f(step); }
template <class Real, class F>
void with_erased(renumbered<any_step, Real>& step, F const& f) {
  renumbered_step erased(step);
  f(static_cast<any_step&>(erased));
}

}  // namespace colligo
