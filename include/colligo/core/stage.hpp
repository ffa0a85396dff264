// SPDX-License-Identifier: BSL-1.0
/// @file
/// The stages of composed algorithms (hierarchical, multi_leader, pipelines_by_level): other algorithms, each run on
/// some of the ranks.
#pragma once

#include <algorithm>
#include <string>

#include "any_step.hpp"
#include "error.hpp"
#include "policy.hpp"
#include "renumbered.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// An any_step with other rank numbers: stages of composed algorithms run on it, so a unit compiles each algorithm for
/// one kind of step. Costs one more virtual call for each step.
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

/// Tag's algorithm for C; if Tag has none, or one that uses memory beyond the vector, Other's.
template <collective C, class Tag, class Other, class T, class Op>
class stage {
  static constexpr bool is_offered = [] {
    if constexpr (offers<Tag, C, T, Op>) return !packs<policy_t<C, Tag, T, Op>>;
    else return false;
  }();
  static_assert(is_offered || !std::is_void_v<Other>,
                "colligo: a stage of a composed algorithm needs a form for its collective, and must not use memory "
                "beyond the vector");
  static constexpr auto make(Tag const& tag) {
    if constexpr (is_offered) return make_policy<C, Tag, T, Op>(tag);
    else return make_policy<C, Other, T, Op>(Other{});
  }
  using policy = decltype(make(std::declval<Tag const&>()));
  static_assert(is_made_of_steps<policy>(),
                "colligo: vendor is not made of steps, so it can be no stage of another algorithm");

 public:
  static constexpr bool ordered = keeps_order<policy>();
  static constexpr bool same_bits = gives_same_bits<policy>();
  static constexpr bool keeps_input = colligo::keeps_input<policy>();

  constexpr stage(Tag const& tag) : policy_(make(tag)) {}

  constexpr bool in_order(int p) const { return keeps_order_over(policy_, p); }
  constexpr double cost(machine const& m, int p, std::size_t n) const
    requires requires(policy const& one) { one.cost(m, p, n); }
  {
    return policy_.cost(m, p, n);
  }
  constexpr formula exact_for(machine const& m, int p, std::size_t n) const { return formula_of(policy_, m, p, n); }

  template <steps Step>
  constexpr void operator()(Step& step, blocks const& vector, int root = 0) const {
    if (int const p = made_for(policy_, step.size()); p != step.size())
      throw argument_error("colligo: a stage of a composed " + std::string(name_of(C)) + " is made for " +
                           std::to_string(p) + " ranks, but has " + std::to_string(step.size()) + " to run on");
    with_erased(step, [&](auto& erased) { apply<C>(policy_, erased, vector, root); });
  }
  template <steps Step>
  constexpr void operator()(Step& step, range all, int root = 0) const {
    (*this)(step, blocks{all, step.size()}, root);
  }

 private:
  policy policy_;
};

/// A stage that is left out.
struct no_stage {
  static constexpr bool ordered = true, keeps_input = false;
  constexpr no_stage(auto const&) {}
  static constexpr bool in_order(int) { return true; }
  static constexpr double cost(machine const&, int, std::size_t) { return 0; }
  static constexpr formula exact_for(machine const&, int, std::size_t) { return formula::exact; }
  constexpr void operator()(auto&, range, int) const {}
};
template <bool Is, collective C, class Tag, class Other, class T, class Op>
using stage_if = std::conditional_t<Is, stage<C, Tag, Other, T, Op>, no_stage>;

/// All stages have a formula.
template <class... Stages>
concept priced = requires(machine const& m, Stages const&... stages) { (stages.cost(m, 1, std::size_t{}), ...); };

/// A stage whose input is the result of an earlier stage.
template <collective C, class Tag, class Other, class T, class Op>
struct later_stage : stage<C, Tag, Other, T, Op> {
  using stage<C, Tag, Other, T, Op>::stage;
  static_assert(!later_stage::keeps_input,
                "colligo: rotating_ring and census use a rank's own contribution to the end, so they can not combine "
                "the results of an earlier stage");
};

}  // namespace colligo
