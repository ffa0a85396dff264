// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of requiring.hpp.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "association.hpp"
#include "candidates_body.hpp"
#include "requiring.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

template <class Lazy>
struct requiring<Lazy>::entry {
  // The calls that the decision is for.
  element const* of;
  collective what;
  property asks;
  std::size_t n;
  int root;
  std::vector<std::size_t> offsets;
  erased_policy const* like;
  std::vector<std::size_t> knobs;   // of like
  // The decision; none: `like` itself.
  std::optional<choice> by;
  entry* next = nullptr;

  static constexpr std::size_t bytes() { return 1; }   // they are alike
  entry(call const& call, requirement const& asked, std::optional<choice> const& takes)
      : of(call.of), what(call.what), asks(asked.what), n(call.vector.whole.size()), root(call.root),
        like(asked.like ? asked.like->policy : nullptr), by(takes) {
    if (auto const* const from = call.vector.offsets) offsets.assign(from, from + call.vector.parts + 1);
    if (like) for_each_knob(*asked.like, [this](std::string_view, std::size_t value) { knobs.push_back(value); });
  }
  bool is_for(call const& call, requirement const& asked) const {
    return of->is_like(*call.of) && what == call.what && n == call.vector.whole.size() &&
           asks == asked.what && root == call.root && like == (asked.like ? asked.like->policy : nullptr) &&
           (like == nullptr || has_knobs_of(*asked.like)) &&
           std::equal(offsets.begin(), offsets.end(), call.vector.offsets,
                      call.vector.offsets ? call.vector.offsets + call.vector.parts + 1 : call.vector.offsets);
  }

 private:
  bool has_knobs_of(choice const& other) const {
    std::size_t count = 0;
    bool same = true;
    for_each_knob(other, [&](std::string_view, std::size_t value) {
      same = same && count < knobs.size() && knobs[count] == value;
      ++count;
    });
    return same && count == knobs.size();
  }
};

/// Looks for the best algorithm that has the property.
template <class Lazy>
struct requiring<Lazy>::search {
  static constexpr std::size_t most_operands = std::size_t{1} << 19, most_kept = 64;

  communicator_state& state;
  detail::call const& call;
  policy_table const& policies;
  requirement const& asks;
  std::optional<bracketing> wanted;   ///< of like()

  std::optional<bracketing> form_of(choice const& by) const {
    auto const recorded = recorded_call(call, by, state.known, most_operands);
    if (!recorded || recorded->by_arrival()) return std::nullopt;
    return association(*recorded, call.of->commutes ? operands::commute : operands::ordered, call.vector, call.root);
  }

  // Whether its results are known to have the property. All ranks find the same.
  bool has(choice const& by) const {
    bool const alike = !asks.what.has(same_bits) || call.what != collective::all_reduce || by.policy->same_bits;
    bool const in_turn = !asks.what.has(as_sequential) || by.policy->sequential;
    bool const proven_by_card = alike && in_turn && asks.like == nullptr;
    if (proven_by_card && by.policy->open != left_open::trees) return true;   // only trees combine in order of arrival
    auto const form = form_of(by);
    return form && (alike || form->same_on_all_ranks()) && (in_turn || form->sequential()) &&
           (asks.like == nullptr || (wanted && *form == *wanted));
  }

  std::optional<choice> best(situation const& s) const {
    choice const first = bound(policies.choose(s), policies, decided_by::required);
    bool const is_possible = first.policy->over == transport::best && why_not(state, call, first).why.empty();
    if (is_possible && first.policy->run && has(first)) return first;
    for (candidate one : candidates_for<>(state, call, policies, s.network)) {
      one.by.who = decided_by::required;
      if (one.by.policy->run && has(one.by)) return one.by;
    }
    return std::nullopt;
  }

  std::string property_text() const {
    std::string words;
    auto const add = [&](property p, char const* name) {
      if (asks.what.has(p)) (words += words.empty() ? "" : " | ") += name;
    };
    add(same_bits, "same_bits");
    add(run_to_run, "run_to_run");
    add(as_sequential, "as_sequential");
    return words;
  }
};

template <class Lazy>
choice requiring<Lazy>::decide(endpoint& at, call const& call, policies_of_collective policies,
                               requirement const& asks) {
  communicator_state& state = state_at(at);
  return announcing_refusal(state, call, [&]() -> choice {
    if (asks.what.has(any_p))
      refuse(state, call.what, "require{any_p}",
             concat({": the result of ", call.of->functor_name(), " on ", call.of->name(),
                     " depends on the number of ranks; take elements of colligo::exact_sum<double> and std::plus<>{}, "
                     "or colligo::sum(comm, range), or colligo::accumulate(comm, range, op)"}));
    auto& kept = kept_decisions<entry>::of(kept_choices::of(state).required, search::most_kept);
    auto const is_for_this = [&](entry const& one) { return one.is_for(call, asks); };
    if (auto const* const found = asks.keeps ? kept.find(is_for_this) : nullptr) [[likely]]
      return found->by ? *found->by : *asks.like;
    situation s = situation_of(state, call);
    s.stable = false;
    search look{state, call, policies(), asks, std::nullopt};
    if (asks.like) {
      if (auto const refused = why_not(state, call, *asks.like).why; !refused.empty())
        refuse(state, call.what, asks.like->policy->name, refused);
      look.wanted = look.form_of(*asks.like);
    }
    auto const found = look.best(s);
    if (!found && !asks.like)
      refuse(state, call.what, "require{" + look.property_text() + "}",
             ": no algorithm is known to have this property");
    if (asks.keeps) kept.add(make_owner<entry>(call, asks, found));
    return found ? *found : *asks.like;
  });
}

}  // namespace colligo
