// SPDX-License-Identifier: BSL-1.0
/// @file
/// require: the best algorithm among those whose results have a required property.
///
///   colligo::all_reduce(world, in, out, std::plus<>{}, colligo::require{colligo::same_bits});
///   colligo::all_reduce(world, in, out, std::plus<>{}, colligo::require{colligo::as_sequential});
///   colligo::reduce(world, in, out, std::plus<>{}, 0, colligo::require{colligo::like(colligo::halving_doubling{})});
///
/// The card of an algorithm promises the property, or the first such call proves it on the recorded schedule
/// (tools/association.hpp) and keeps the result. Calls that combine nothing, or have the same bits in any order (sums
/// of integers), use `automatic`, which the compiler decides.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "../arguments/call_arguments.hpp"
#include "../rules/policies.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Properties of a result's bits. They can be combined: same_bits | as_sequential.
struct property {
  std::uint8_t which;

  constexpr bool has(property other) const { return (which & other.which) != 0; }
  friend constexpr property operator|(property a, property b) {
    return {static_cast<std::uint8_t>(a.which | b.which)};
  }
  friend constexpr bool operator==(property const&, property const&) = default;
};

/// All ranks get the same bits. For all_reduce; in other collectives no two ranks get the same element.
inline constexpr property same_bits{1};
/// The same program on as many ranks of the same hosts gives the same bits again: nothing depends on the order of
/// arrival, on a clock, or on a library without that promise.
inline constexpr property run_to_run{2};
/// Element by element as one process would combine them from the lowest rank on, ((a0 op a1) op a2) ...; by
/// exclusive_scan, init op that.
inline constexpr property as_sequential{4};

/// The same bits on any number of ranks. Exact operations have it by any algorithm (integers, exact_sum, maxloc,
/// minloc, each() of those); all others are refused.
inline constexpr property any_p{8};

/// See like().
template <class Tag>
struct bits_of {
  Tag tag;
};
namespace by_name {

/// For require{like(tag)}: the bits that the algorithm of this tag gives.
template <algorithm Tag>
constexpr bits_of<Tag> like(Tag const& tag) {
  static_assert(!std::is_same_v<Tag, vendor> && !std::is_same_v<Tag, automatic> && !std::is_same_v<Tag, named>,
                "colligo: like() takes the tag of an algorithm that consists of steps, so that its bits are known");
  return {tag};
}

}  // namespace by_name

namespace detail {

struct requirement {
  property what;
  choice const* like = nullptr;
  bool keeps = true;   ///< `like` is defined by its knobs, by which a kept decision is found again
};

/// Decides for a call and keeps the decision. A template, so only units that use it compile it.
template <class Lazy = void>
struct requiring {
  /// Throws algorithm_error on all ranks if no algorithm is known to have the property.
  static choice decide(endpoint& at, call const& call, policies_of_collective policies, requirement const& asks);

 private:
  struct entry;
  struct search;
};

/// The tag holds nothing but knobs: no other tag, no hosts or levels of the user's.
template <class Tag>
constexpr bool is_defined_by_knobs(Tag const& tag) {
  if constexpr (requires { tag.fingerprint(); }) return true;
  else if constexpr (requires { tag.hosts.empty(); }) return is_knobs_and_hosts<Tag> && tag.hosts.empty();
  else if constexpr (completed_by_levels<Tag>) return tag.levels == nullptr;
  else return std::is_empty_v<Tag> || is_knobs_alone<Tag>;
}

}  // namespace detail

/// Stands as the last argument of a collective: require{same_bits}, require{like(ring{})}. Chooses as `automatic` does,
/// among the algorithms that have the property; ignores the environment's overrides. Throws algorithm_error if no
/// algorithm is known to have it; like() always finds that algorithm itself. Cost: once for each (collective, length,
/// root, type) of a communicator some recorded schedules, microseconds to milliseconds (schedules of more than half a
/// million operands are not recorded; only cards count there). Later calls look the decision up, except for like() of a
/// tag of your own that contains more than knobs.
template <class What>
struct require {
  static constexpr std::string_view name = "require";
  static constexpr bool decides_itself = true;

  What what;

  template <collective C, class T, class Op, class Comm>
  static constexpr void check() {
    if constexpr (combines(C) && !is_property) detail::check_laws<C, decltype(What::tag), T, Op, Comm>();
  }

  template <collective C, class T, class Op>
  detail::choice decide(detail::endpoint& state, detail::call const& call,
                        detail::policies_of_collective policies) const {
    if constexpr (!combines(C) || exact<Op, T>) {
      return detail::by_rules(state, call, policies);
    } else if constexpr (is_property) {
      return detail::requiring<>::decide(state, call, policies, {what});
    } else if constexpr (offers<decltype(What::tag), C, T, Op>) {
      detail::choice const as = detail::pinned<C, decltype(What::tag), T, Op>(what.tag);
      return detail::requiring<>::decide(state, call, policies, {{}, &as, detail::is_defined_by_knobs(what.tag)});
    } else {
      throw algorithm_error(std::string(name_of(C)) + ": " + std::string(what.tag.name) +
                            " has no form for this collective");
    }
  }

 private:
  static constexpr bool is_property = std::is_same_v<What, property>;
};
template <class What>
require(What) -> require<What>;

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include <algorithm>
#include <optional>
#include <vector>

#include "association.hpp"
#include "candidates_body.hpp"

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
#endif
