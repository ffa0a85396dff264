// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of policies.hpp, and what decide.hpp says of automatic.
#pragma once

#include <array>

#include "../core/error.hpp"
#include "../core/strings.hpp"
#include "../transport/memory/shared_host.hpp"
#include "choose.hpp"
#include "kept_choices.hpp"
#include "named_body.hpp"
#include "policies.hpp"
#include "run_body.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// An algorithm of the catalogue with its policy for this collective; null if it has none.
inline choice bound(choice chosen, policy_table const& policies, decided_by who) {
  chosen.policy = policies[chosen.index()];
  chosen.who = who;
  if (chosen.over == transport::best && chosen.policy)
    chosen.over = chosen.policy->needs ? chosen.policy->needs(chosen.tag()) : chosen.policy->over;
  return chosen;
}

/// The situation of this call.
inline situation situation_of(communicator_state& state, call const& call) {
  shared_host* const memory = state.automatic_memory(*call.of);
  element const& of = *call.of;
  bool const cores = memory && memory->whole() && memory->spins();
  bool const uses_levels = (cores || !state.levels_asked().empty()) && state.size() > situation::few_without_cache;
  hierarchy const* const hosts = kept_hierarchies<>::hosts_of(state);
  bool const apart = hosts && hosts->level_within(distance::network) >= 0;
  return {.vector = call.vector, .element_size = of.size, .commutes = of.commutes, .exact = of.exact,
          .stable = state.stable_bits(), .shared = memory && memory->whole(),
          .cores = cores, .hosts = apart ? hosts : nullptr,
          .levels = apart || uses_levels ? &kept_hierarchies<>::levels_of(state) : nullptr,
          .latencies = state.latencies(), .network = state.network(), .root = call.root};
}

}  // namespace colligo

#include "override_body.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

// The choice for a situation: by the user's table, the library's, or the rules.
inline void choose_now(communicator_state const& state, call const& call, policy_table const& policies,
                       kept_choice& kept) {
  situation const& s = kept.known;
  choice const* take =
      kept.measured && !s.stable ? read_tables.find(*kept.measured, call.what, s, kept.measured_line) : nullptr;
  if (take && take->as<vendor>() && !state.has_vendor(call)) take = nullptr;   // more than MPI's int counts
  kept.by = bound(take ? *take : policies.choose(s), policies,
                  take ? decided_by::measured_table : s.on_many_cores() ? decided_by::many_cores
                  : s.shared ? decided_by::table : decided_by::rules);
}

// Takes the environment's override, or else chooses by the rules or a table, and sets `rules` accordingly.
inline void choose_first(communicator_state& state, call const& call, policy_table const& policies, kept_choice& kept) {
  kept.rules = false;
  if (!kept.override_is_read) read_override(state, call.what, policies, kept);
  if (!kept.override_text.empty() && takes_override(state, call, policies, kept)) return;
  kept.known = situation_of(state, call);
  kept.rules = true;
  if (state.table_setting().is_set() && kept.measured_of != call.of) {
    kept.measured = read_user_table(state, call, policies);
    kept.measured_of = call.of;
  }
  choose_now(state, call, policies, kept);
}

inline choice const& latest_by_rules(communicator_state& state, call const& call, policies_of_collective policies) {
  auto& kept = kept_choices::of(state, call.what);
  decided_for const wanted(state, call);
  if (kept.automatic && kept.latest == wanted) [[likely]] return kept.by;
  if (!kept.automatic || !kept.take_earlier(wanted)) {
    bool const asks_length = kept.overriding && kept.overriding->as<vendor>();   // MPI counts with int
    if (!kept.is_like(call) || asks_length) {
      kept.automatic = false;   // while it may throw
      kept.name.clear();
      bool const sums = (state.before() & exactness) != 0;
      choose_first(state, sums ? sum_exactly->as_exact(state, call) : call, policies(), kept);
      kept.of = call.of, kept.wire = call.wire;
      kept.automatic = true;
      kept.overridden = kept.by;
    } else if (kept.rules) {   // only the vector has changed
      kept.known.vector = call.vector, kept.known.root = call.root;
      choose_now(state, call, policies(), kept);
    } else {
      kept.by = kept.overridden;
    }
    kept.keep(wanted);
  }
  kept.latest = wanted;
  return kept.by;
}

COLLIGO_BODY choice const& by_rules(endpoint& at, call const& call, policies_of_collective policies) {
  communicator_state& state = state_at(at);
  return announcing_refusal(state, call, [&]() -> choice const& { return latest_by_rules(state, call, policies); });
}

template <class Lazy>
choice const& by_name(endpoint& at, call const& call, std::string_view name, policies_of_collective policies) {
  static_cast<void>(&trees_by_setting<Lazy>::can_be_made);
  if (name == automatic::name) return by_rules(at, call, policies);
  communicator_state& state = state_at(at);
  return announcing_refusal(state, call, [&]() -> choice const& {
    auto& kept = kept_choices::of(state, call.what);
    if (!kept.automatic && !name.empty() && kept.name == name) [[likely]] return kept.by;
    kept.automatic = false;
    kept.name.clear();
    kept.by = bound(parse(policies(), name, where(state, call.what)), policies(), decided_by::named);
    kept.name = name;
    return kept.by;
  });
}

COLLIGO_BODY choice as_chosen(endpoint& at, call const& call, choice const& chosen, policies_of_collective policies) {
  communicator_state& state = state_at(at);
  return announcing_refusal(state, call, [&] {
    choice const by = bound(chosen, policies(), decided_by::pinned);
    if (!by.policy) refuse(state, call.what, name_of(chosen), " has no form for this collective");
    return by;
  });
}

// all_to_all_v by the rules: where padding may pay, the ranks first agree on lengths and on the number of messages; and
// where a variable names the MPI library's own, which counts with int, on the longest vector.
[[gnu::noinline]] inline void run_exchange(communicator_state& state, call const& call, choice const& by,
                                           policies_of_collective policies) {
  bool const may_not_count = by.who == decided_by::environment && by.policy->is_vendor;
  bool const may_pad = by.who == decided_by::rules && by.as<padded_bruck>();
  if (!may_not_count && !may_pad) return run_checked(state, call, by);
  situation s = situation_of(state, call);
  auto const [in, out] = vectors_of(call.what, call.vector, state.rank());
  auto const mine = lengths_of(in, out, state.rank());
  std::array all{mine.longest, mine.usual, mine.longer, mine.messages, std::max(in.whole.size(), out.whole.size())};
  combine_among_ranks(state, maximum{}, view<std::size_t>(all));
  if (may_not_count && all[4] < std::size_t{1} << 31) return run_checked(state, call, by);
  s.exchanged = {all[0], all[1], all[2], all[3]};
  bool const keeps = all[0] == 0 && may_pad;
  run_checked(state, call, keeps ? by : bound(policies().choose(s), policies(), decided_by::rules));
}

[[gnu::cold, gnu::noinline]] inline void run_after_by_rules(communicator_state& state, call const& call,
                                                            policies_of_collective policies) {
  if ((call.before & in_functor) != 0) throw_in_functor(state);
  bool const sums = (call.before & exactness) != 0 && sum_exactly->as_exact(state, call).of != call.of;
  bool const has_candidates = call.what != collective::exchange;
  if ((call.before & adaptation) != 0 && !sums && has_candidates) {
    if (run_adaptively) return run_adaptively(state, call, policies);
    if (state.rank() == 0) warn_once(not_included("COLLIGO_ADAPTIVE", "adaptive.hpp"));
  }
  choice const& by = by_rules(state, call, policies);
  run_after(state, call, by, [&] {
    if (call.what == collective::all_to_all_v) run_exchange(state, call, by, policies);
    else run_checked(state, call, by);
  });
}

COLLIGO_BODY void run_by_rules(endpoint& at, call const& call, policies_of_collective policies) {
  communicator_state& state = state_at(at);
  if (call.before) [[unlikely]] return run_after_by_rules(state, call, policies);
  bool const agrees = call.what == collective::all_to_all_v;
  bool records = false;
  if (!agrees && state.play(call, nullptr, records)) return;
  choice const* const kept = kept_choices::same(state, call);
  choice const& by = kept ? *kept : by_rules(state, call, policies);
  if (agrees) [[unlikely]] return run_exchange(state, call, by, policies);
  run_checked(state, call, by, records);
}

COLLIGO_BODY owned_running prepare_by_rules(endpoint& at, call const& call, policies_of_collective policies,
                                            owner<owned_by_request> owned, bool persistent) {
  communicator_state& state = state_at(at);
  if (!persistent && !call.before && !state.around)
    if (auto again = running::kept(state, call, nullptr, owned)) return again;
  choice const& by = by_rules(state, call, policies);
  return prepare_call(state, call, by, std::move(owned), persistent);
}

}  // namespace colligo
