// SPDX-License-Identifier: BSL-1.0
/// @file
/// The counts and plans of irregular calls, kept with their port, so that the library decides on the algorithm and
/// computes its steps once for the same counts.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "../core/latest_used.hpp"
#include "../plan/extent.hpp"
#include "../plan/walk.hpp"
#include "port.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

inline constexpr std::size_t most_bytes_of_distributions = std::size_t{1} << 18;                  ///< of a communicator
inline constexpr std::size_t most_bytes_of_plans = 3 * most_bytes_of_distributions;   ///< 1 MiB together

/// The distributions that a port's calls used last, compared by value.
class distributions_of_port final : public kept_with_port {
 public:
  /// Sets the number of the port's offsets, which are new, and the lengths of their blocks.
  static void number(port_base& port, blocks const& its) {
    auto* all = static_cast<distributions_of_port*>(port.distributions.get());
    auto const* known = all ? all->latest_.find([&](distribution const& of) { return of.is_of(port); }) : nullptr;
    if (known) {
      port.distribution = known->number, port.lengths = known->lengths;
      return;
    }
    port.lengths = {0, its.whole.size()};
    for (int i = 0; i < its.parts; ++i) {
      std::size_t const n = its.offsets[i + 1] - its.offsets[i];
      port.lengths = {std::max(port.lengths.longest, n), std::min(port.lengths.shortest, n)};
    }
    port.distribution = ++port.newest_distribution;
    if (port.offsets.size() * sizeof(std::size_t) > most_bytes_of_distributions) return;
    try {
      if (!all) port.distributions = owner<kept_with_port>(all = new distributions_of_port);
      all->latest_.add(make_owner<distribution>(port));
    } catch (std::bad_alloc const&) {   // it is only a cache
    }
  }

 private:
  struct distribution {
    explicit distribution(port_base const& port)
        : number(port.distribution), lengths(port.lengths), ends(port.offsets.begin(), port.offsets.end()) {}
    bool is_of(port_base const& port) const {
      return ends.size() == port.offsets.size() && std::equal(ends.begin(), ends.end(), port.offsets.begin());
    }
    /// At least a sixteenth of the cache, because a search compares all entries.
    std::size_t bytes() const { return std::max(ends.size() * sizeof(std::size_t), most_bytes_of_distributions / 16); }

    std::uint64_t number;
    block_lengths lengths;
    row<std::size_t> ends;
    distribution* next = nullptr;
  };

  latest_used<distribution> latest_{most_bytes_of_distributions};
};

/// A plan and its call.
struct plan_of_call final : kept_plan {
  plan_of_call* next = nullptr;
  erased_policy const* policy;
  std::array<std::byte, most_held> tag{};
  std::size_t element_size;
  int root;
  range out;
  std::uint64_t distribution;
  rank_plan plan;

  plan_of_call(policy_run const& run, std::uint64_t of)
      : policy(run.by.policy), element_size(run.its.of->size), root(run.its.root), out(run.its.out.covers),
        distribution(of) {
    std::memcpy(tag.data(), run.by.tag(), policy->tag_bytes);
  }

  bool is_for(policy_run const& run, std::uint64_t of) const {
    return policy == run.by.policy && distribution == of && element_size == run.its.of->size && root == run.its.root &&
           out == run.its.out.covers && std::memcmp(tag.data(), run.by.tag(), policy->tag_bytes) == 0;
  }
  std::size_t bytes() const {
    return sizeof *this + plan.operands.capacity() * sizeof(operand) + plan.steps.capacity() * sizeof(rank_plan::step);
  }
};

/// Records an algorithm's steps so that playing them does exactly the same: other ranks may run the algorithm instead.
/// A plan that becomes too long is not kept, but holds() is still right.
class plan_keeper final : public any_step {
 public:
  plan_keeper(int rank, int size, std::size_t element_size, rank_plan& plan, row<operand>& memory)
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

inline void play_plan(kept_plan const& its, any_step& step) {
  rank_plan const& plan = static_cast<plan_of_call const&>(its).plan;
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

class plans_of_port final : public kept_with_port {
 public:
  static kept_plan const* take(port_base& port, policy_run const& run) try {
    if (!run.by.policy->equals_by_bytes(run.by.tag())) return nullptr;
    if (!port.plans) port.plans = make_owner<plans_of_port>();
    auto& all = static_cast<plans_of_port&>(*port.plans);
    if (auto const* its = all.latest_.find([&](plan_of_call const& of) { return of.is_for(run, port.distribution); })) {
      all.unused_ = 0;
      return its;
    }
    // If no kept plan is used again, plans are kept ever more rarely.
    if (++all.unused_ > few_unused && all.unused_ % few_unused != 0) return nullptr;
    return &all.add(port, run);
  } catch (std::bad_alloc const&) {   // the call runs its algorithm
    return nullptr;
  }

 private:
  plan_of_call& add(port_base& port, policy_run const& run) {
    auto made = make_owner<plan_of_call>(run, port.distribution);
    plan_keeper keeper(port.rank(), port.size(), run.its.of->size, made->plan, port.memory.operands);
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
inline bool const plans_are_kept = (keep_plan = &plans_of_port::take, true);

}  // namespace colligo
