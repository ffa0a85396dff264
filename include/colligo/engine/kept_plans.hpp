// SPDX-License-Identifier: BSL-1.0
/// @file
/// The counts and plans of irregular calls, kept with their state, so that the library decides on the algorithm and
/// computes its steps once for the same counts.
#pragma once

#include <algorithm>
#include <new>

#include "../core/latest_used.hpp"
#include "../plan/extent.hpp"
#include "../plan/walk.hpp"
#include "communicator_state.hpp"
#include "signature.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

inline constexpr std::size_t most_bytes_of_distributions = std::size_t{1} << 18;                  ///< of a communicator
inline constexpr std::size_t most_bytes_of_plans = 3 * most_bytes_of_distributions;   ///< 1 MiB together

/// The distributions that a state's calls used last, compared by value.
class distributions_of_state final : public kept_with_state {
 public:
  /// Sets the number of the state's offsets, which are new, and the lengths of their blocks.
  static void number(communicator_state& state, blocks const& vector) {
    auto* all = static_cast<distributions_of_state*>(state.distributions.get());
    auto const* known = all ? all->latest_.find([&](distribution const& of) { return of.is_of(state); }) : nullptr;
    if (known) {
      state.distribution = known->number, state.lengths = known->lengths;
      return;
    }
    state.lengths = {0, vector.whole.size()};
    for (int i = 0; i < vector.parts; ++i) {
      std::size_t const n = vector.offsets[i + 1] - vector.offsets[i];
      state.lengths = {std::max(state.lengths.longest, n), std::min(state.lengths.shortest, n)};
    }
    state.distribution = ++state.newest_distribution;
    if (state.offsets.size() * sizeof(std::size_t) > most_bytes_of_distributions) return;
    try {
      if (!all) state.distributions = owner<kept_with_state>(all = new distributions_of_state);
      all->latest_.add(make_owner<distribution>(state));
    } catch (std::bad_alloc const&) {   // it is only a cache
    }
  }

 private:
  struct distribution {
    explicit distribution(communicator_state const& state)
        : number(state.distribution), lengths(state.lengths), ends(state.offsets.begin(), state.offsets.end()) {}
    bool is_of(communicator_state const& state) const {
      return ends.size() == state.offsets.size() && std::equal(ends.begin(), ends.end(), state.offsets.begin());
    }
    /// At least a sixteenth of the cache, because a search compares all entries.
    std::size_t bytes() const { return std::max(ends.size() * sizeof(std::size_t), most_bytes_of_distributions / 16); }

    std::uint64_t number;
    block_lengths lengths;
    small_vector<std::size_t> ends;
    distribution* next = nullptr;
  };

  latest_used<distribution> latest_{most_bytes_of_distributions};
};

/// A plan and its call.
struct plan_of_call final : kept_plan {
  plan_of_call* next = nullptr;
  call_signature signature;
  rank_plan plan;

  plan_of_call(policy_run const& run, std::uint64_t distribution) : signature(run.call, &run.by, distribution) {}

  std::size_t bytes() const {
    return sizeof *this + plan.operands.capacity() * sizeof(operand) + plan.steps.capacity() * sizeof(rank_plan::step);
  }
};

/// Records an algorithm's steps so that playing them does exactly the same: other ranks may run the algorithm instead.
/// A plan that becomes too long is not kept, but holds() is still right.
class plan_keeper final : public any_step {
 public:
  plan_keeper(int rank, int size, std::size_t element_size, rank_plan& plan, small_vector<operand>& memory)
      : any_step(rank, size, element_size, memory), plan_(plan), needed_(rank, size, element_size, memory) {}

  void exchange(range out, range in, pair_of peers, pair_kind kind) override {
    needed_.exchange(out, in, peers, kind);
    keep(operands_of(out, in, peers, kind), list_kind::plain, true);
  }
  void list(std::span<operand const> operands, list_kind kind) override {
    needed_.list(operands, kind);
    keep(operands, kind, false);
  }
  void move(operand const& alone) override {
    needed_.move(alone);
    keep(std::span(&alone, 1), list_kind::moves, false);
  }

  range holds() const { return needed_.holds(); }
  bool has_all() const { return has_all_; }

 private:
  void keep(std::span<operand const> operands, list_kind kind, bool pair) {
    std::size_t const bytes = plan_.operands.size() * sizeof(operand) + plan_.steps.size() * sizeof(rank_plan::step);
    has_all_ = has_all_ && bytes + operands.size() * sizeof(operand) < most_bytes_of_plans;
    if (!has_all_) return;
    plan_.steps.push_back({plan_.operands.size(), operands.size(), kind, pair});
    plan_.operands.append(operands.data(), operands.data() + operands.size());
  }

  rank_plan& plan_;
  extent needed_;
  bool has_all_ = true;
};

inline void play_plan(kept_plan const& kept, any_step& step) {
  rank_plan const& plan = static_cast<plan_of_call const&>(kept).plan;
  for (rank_plan::step const& s : plan.steps) {
    auto const operands = plan.operands_of(s);
    if (s.pair) {
      operand const &out = operands[0], &in = operands[1];
      step.exchange(out.elements.head, in.elements.head, {out.peer, in.peer}, {out.which, in.folds(), in.which});
    } else if (s.kind == list_kind::moves) {
      step.move(operands[0]);
    } else {
      step.list(operands, s.kind);
    }
  }
}

class plans_of_state final : public kept_with_state {
 public:
  static kept_plan const* take(communicator_state& state, policy_run const& run) try {
    if (!run.by.policy->equals_by_bytes(run.by.tag())) return nullptr;
    if (!state.plans) state.plans = make_owner<plans_of_state>();
    auto& all = static_cast<plans_of_state&>(*state.plans);
    auto const is_wanted = [&](plan_of_call const& of) {
      return of.signature.is_of(run.call, run.by, state.distribution);
    };
    if (auto const* known = all.latest_.find(is_wanted)) {
      all.unused_ = 0;
      return known;
    }
    // If no kept plan is used again, plans are kept ever more rarely.
    if (++all.unused_ > few_unused && all.unused_ % few_unused != 0) return nullptr;
    return &all.add(state, run);
  } catch (std::bad_alloc const&) {   // the call runs its algorithm
    return nullptr;
  }

 private:
  plan_of_call& add(communicator_state& state, policy_run const& run) {
    auto made = make_owner<plan_of_call>(run, state.distribution);
    plan_keeper keeper(state.rank(), state.size(), run.call.of->size, made->plan, state.memory.operands);
    run(keeper);
    made->holds = keeper.holds();
    rank_plan const recorded = std::move(made->plan);   // has spare capacity, its copy has none
    if (keeper.has_all()) {
      made->play = &play_plan;
      made->plan.operands.append(recorded.operands.begin(), recorded.operands.end());
      made->plan.steps.append(recorded.steps.begin(), recorded.steps.end());
    }
    return latest_.add(std::move(made));
  }

  static constexpr std::size_t few_unused = 16;

  latest_used<plan_of_call> latest_{most_bytes_of_plans};
  std::size_t unused_ = 0;   // calls since a plan was used again
};

/// Sets keep_plan in units that use it: those that make irregular calls.
template <class Lazy = void>
inline bool const plans_are_kept = (keep_plan = &plans_of_state::take, true);

}  // namespace colligo
