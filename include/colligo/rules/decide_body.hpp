// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of decide.hpp.
#pragma once

#include <new>
#include <utility>

#include "../core/error.hpp"
#include "../core/strings.hpp"
#include "../engine/communicator_state_body.hpp"
#include "../engine/requests.hpp"
#include "../transport/memory/shared_host.hpp"
#include "../topology/host_map.hpp"
#include "choose.hpp"
#include "decide.hpp"
#include "kept_choices.hpp"
#include "named_body.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Returns on all ranks if they make the same call, by the same algorithm over the same transport; otherwise throws
/// mismatch_error on all ranks. Nothing of the call has been sent by then. Collective over the state.
void agree_on(communicator_state& state, call const& its, choice const& by, call_form form);

/// Reports to the other ranks, which may wait for this one, that this rank's call is refused for this reason. In
/// checked mode, where it is collective over the state, the rank takes part in their comparison, so that they throw
/// mismatch_error. Returns.
void report_refusal(communicator_state& state, bool checked, std::string_view why);

// A small internal collective. It goes over messages, which always work.
template <collective C, class Tag, class T, class Op>
void exchange_among_ranks(communicator_state& state, Op op, blocks const& vector, T const* in, range in_covers,
                          T* out) {
  state.execute({C, &element_of<T, Op>, state.wire_of_bytes(), &op, vector,
                {reinterpret_cast<std::byte const*>(in), in_covers}, {reinterpret_cast<std::byte*>(out), vector.whole}},
               {erased_policy_for<C, Tag>, Tag{}, transport::messages});
}
/// The ranks combine these values, element by element.
template <class T, class Op>
void combine_among_ranks(communicator_state& state, Op op, std::span<T> values) {
  blocks const all{{0, values.size()}, state.size()};
  exchange_among_ranks<collective::all_reduce, recursive_doubling>(state, op, all, values.data(), all.whole,
                                                                   values.data());
}

/// Calls f() and reports its errors to the other ranks, which may wait for this one.
template <class F>
decltype(auto) announcing_refusal(communicator_state& state, call const& its, F const& f) {
  try {
    return f();
  } catch (argument_error const& e) {
    report_refusal(state, its.checked(), e.what());
    throw;
  } catch (algorithm_error const& e) {
    report_refusal(state, its.checked(), e.what());
    throw;
  } catch (std::bad_alloc const& e) {
    report_refusal(state, its.checked(), e.what());
    throw;
  }
}

constexpr bool walks_up(collective c) { return c == collective::reduce || c == collective::all_reduce; }
constexpr bool walks_down(collective c) { return c == collective::broadcast || c == collective::all_reduce; }

// The tree of a file that the environment names, otherwise trees::by_host; null if all ranks are on one host.
[[gnu::cold]] inline tree const* tree_of_setting(communicator_state& state, collective c, file_setting const& setting,
                                                 tree& kept) {
  if (!setting.is_set() && state.hosts.empty()) return nullptr;
  if (kept.size() == 0) {
    if (!make_tree)
      throw argument_error(concat(
          {where(state, c), not_included(setting.is_set() ? setting.where : "trees::by_host", "trees.hpp")}));
    kept = make_tree(state, c, setting);
  }
  return &kept;
}

template <left_open What>
[[gnu::cold]] void find_out(communicator_state& state, collective c, topology& known) {
  if constexpr (What == left_open::levels) {
    known.levels = &kept_choices::levels_of(state);
  } else if constexpr (What == left_open::hosts) {
    known.by_host = kept_choices::hosts_of(state);
  } else {
    auto& kept = kept_choices::of(state);
    if (walks_up(c)) known.reduce_tree = tree_of_setting(state, c, state.reduce_tree_setting(), kept.reduce_tree);
    if (walks_down(c))
      known.broadcast_tree = tree_of_setting(state, c, state.broadcast_tree_setting(), kept.broadcast_tree);
  }
}

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse(communicator_state const& state, collective c,
                                                          std::string_view name, std::string const& why) {
  throw algorithm_error(concat({where(state, c), name, why}));
}

struct refusal {
  std::string why;                ///< empty: there is none
  bool is_of_arguments = false;   ///< an argument_error
};

/// Why a choice is impossible, the same on all ranks. Fills in the state's topology for the policy.
inline refusal why_not(communicator_state& state, call const& its, choice const& by) {
  erased_policy const& what = *by.policy;
  state.known.hosts = state.hosts.kept();
  if (what.is_vendor) {
    if (state.has_vendor(its)) return {};
    if (its.of->by_index)
      return {" is the MPI library's own collective, which does not know the index of the elements that it combines"};
    return {" is the MPI library's own collective: it needs a communicator over MPI and elements that travel as bytes"};
  }
  if (by.over == transport::shared_memory)
    if (std::string const why = state.why_no_memory(*its.of); !why.empty())
      return {concat({" needs shared memory, which can not be used: ", why})};
  if (what.find_out) what.find_out(state, its.what, state.known);
  bool in_order = what.ordered;
  if (what.fits) {
    fitness const its_fitness = what.fits(by.tag(), state.known, state.size());
    in_order = its_fitness.in_order;
    if (its_fitness.made_for != state.size())
      return {concat({" is made for ", its_fitness.made_for, " ranks, the communicator has ", state.size()}), true};
  }
  if (in_order || its.of->commutes) return {};
  return {" reorders operands and the functor is not known to commute: wrap it, colligo::as_commutative(op), "
          "specialise colligo::commutative<Op, T>, or choose an algorithm that keeps order"};
}

// Reports to the other ranks if it is impossible.
inline void require_possible(communicator_state& state, call const& its, choice const& by) {
  announcing_refusal(state, its, [&] {
    refusal const refused = why_not(state, its, by);
    if (refused.why.empty()) return;
    if (!refused.is_of_arguments) refuse(state, its.what, by.policy->name, refused.why);
    throw argument_error(concat({where(state, its.what), by.policy->name, refused.why}));
  });
}

/// An algorithm of the catalogue with its policy for this collective; null if it has none.
inline choice bound(choice its, policy_table const& policies, decided_by who) {
  its.policy = policies[its.index()];
  its.who = who;
  if (its.over == transport::best && its.policy)
    its.over = its.policy->needs ? its.policy->needs(its.tag()) : its.policy->over;
  return its;
}

/// The situation of this call.
inline situation situation_of(communicator_state& state, call const& its) {
  shared_host* const memory = state.automatic_memory(*its.of);
  element const& of = *its.of;
  bool const cores = memory && memory->whole() && memory->spins();
  bool const uses_levels = (cores || !state.levels_asked().empty()) && state.size() > situation::few_without_cache;
  hierarchy const* const hosts = kept_choices::hosts_of(state);
  bool const apart = hosts && hosts->level_within(distance::network) >= 0;
  return {.vector = its.vector, .element_size = of.size, .commutes = of.commutes, .exact = of.exact,
          .stable = state.stable_bits(), .shared = memory && memory->whole(),
          .cores = cores, .hosts = apart ? hosts : nullptr,
          .levels = apart || uses_levels ? &kept_choices::levels_of(state) : nullptr, .latencies = state.latencies(),
          .network = state.network(), .root = its.root};
}

}  // namespace colligo

#include "override_body.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

// The choice for a situation: by the user's table, the library's, or the rules.
inline void choose_now(collective c, policy_table const& policies, kept_choice& kept) {
  situation const& s = kept.known;
  choice const* const take =
      kept.measured && !s.stable ? read_tables.find(*kept.measured, c, s, kept.measured_line) : nullptr;
  kept.by = bound(take ? *take : policies.choose(s), policies,
                  take ? decided_by::measured_table : s.on_many_cores() ? decided_by::many_cores
                  : s.shared ? decided_by::table : decided_by::rules);
}

// Takes the environment's override, or else chooses by the rules or a table, and sets `rules` accordingly.
inline void choose_first(communicator_state& state, call const& its, policy_table const& policies, kept_choice& kept) {
  kept.rules = false;
  if (!kept.override_is_read) read_override(state, its.what, policies, kept);
  if (!kept.override_text.empty() && takes_override(state, its, policies, kept)) return;
  kept.known = situation_of(state, its);
  kept.rules = true;
  if (state.table_setting().is_set() && kept.measured_of != its.of) {
    kept.measured = read_user_table(state, its, policies);
    kept.measured_of = its.of;
  }
  choose_now(its.what, policies, kept);
}

inline choice const& latest_by_rules(communicator_state& state, call const& its, policies_of_collective policies) {
  auto& kept = kept_choices::of(state, its.what);
  decided_for const wanted(state, its);
  if (kept.is_like(its)) [[likely]] {
    if (kept.latest != wanted && kept.rules && !kept.take_earlier(wanted)) {   // nothing else has changed
      kept.known.vector = its.vector, kept.known.root = its.root;
      choose_now(its.what, policies(), kept);
      kept.keep(wanted);
    }
  } else {
    kept.earlier.clear();
    kept.automatic = false;   // while it may throw
    kept.name.clear();
    bool const sums = (state.before() & exactness) != 0;
    choose_first(state, sums ? sum_exactly->as_exact(state, its) : its, policies(), kept);
    kept.of = its.of, kept.wire = its.wire;
    kept.automatic = true;
    kept.keep(wanted);
  }
  kept.latest = wanted;
  return kept.by;
}

COLLIGO_BODY choice const& by_rules(endpoint& at, call const& its, policies_of_collective policies) {
  communicator_state& state = state_at(at);
  return announcing_refusal(state, its, [&]() -> choice const& { return latest_by_rules(state, its, policies); });
}

template <class Lazy>
choice const& by_name(endpoint& at, call const& its, std::string_view name, policies_of_collective policies) {
  static_cast<void>(&trees_can_be_made<Lazy>);
  if (name == automatic::name) return by_rules(at, its, policies);
  communicator_state& state = state_at(at);
  return announcing_refusal(state, its, [&]() -> choice const& {
    auto& kept = kept_choices::of(state, its.what);
    if (!kept.automatic && !name.empty() && kept.name == name) [[likely]] return kept.by;
    kept.automatic = false;
    kept.name.clear();
    kept.by = bound(parse(policies(), name, where(state, its.what)), policies(), decided_by::named);
    kept.name = name;
    return kept.by;
  });
}

COLLIGO_BODY choice as_chosen(endpoint& at, call const& its, choice const& chosen, policies_of_collective policies) {
  communicator_state& state = state_at(at);
  return announcing_refusal(state, its, [&] {
    choice const by = bound(chosen, policies(), decided_by::pinned);
    if (!by.policy) refuse(state, its.what, name_of(chosen), " has no form for this collective");
    return by;
  });
}

// The steps before a call that call::before asks for.
[[gnu::cold]] inline void before_call_begins(communicator_state& state, call const& its, choice const& by,
                                             call_form form) {
  if ((its.before & in_functor) != 0) throw_in_functor(state);
  require_possible(state, its, by);
  if ((its.before & explanation) != 0 && explain_call) explain_call(state, its, by);
  if (its.checked()) agree_on(state, its, by, form);
}

// Checks only algorithms that may be impossible or need the topology: most are always possible.
inline void run_checked(communicator_state& state, call const& its, choice const& by, bool records) {
  erased_policy const& what = *by.policy;
  bool const plain = !what.is_vendor && what.open == left_open::nothing && what.fits == nullptr &&
                     (what.ordered || its.of->commutes) && by.over != transport::shared_memory;
  if (!plain) [[unlikely]] {
    require_possible(state, its, by);
    if (what.is_vendor) return state.execute_vendor(its, by);
  }
  state.execute(its, by, records);
}
inline void run_checked(communicator_state& state, call const& its, choice const& by) {
  run_checked(state, its, by, false);
}

// all_to_all_v by the rules: where padding may pay, the ranks first agree on the length of the longest block.
[[gnu::noinline]] inline void run_exchange(communicator_state& state, call const& its, choice const& by,
                                           policies_of_collective policies) {
  if (by.who != decided_by::rules || !by.as<padded_bruck>()) return run_checked(state, its, by);
  situation s = situation_of(state, its);
  s.longest = vectors_of(its.what, its.vector, state.rank()).in.longest();
  combine_among_ranks(state, maximum{}, std::span(&s.longest, 1));
  run_checked(state, its, s.longest == 0 ? by : bound(policies().choose(s), policies(), decided_by::rules));
}

// Out of line, so that other calls need no stack for it. Only some ranks may have steps before a call, such as
// explanation, so `run` is what follows without them.
template <class Run>
[[gnu::cold, gnu::noinline]] void run_after(communicator_state& state, call const& its, choice const& by, Run run) {
  before_call_begins(state, its, by, call_form::blocking);
  if ((its.before & exactness) != 0 && sum_exactly->holds_for(state, its, by))
    return sum_exactly->run(state, its, by, &run_checked);
  run();
}
[[gnu::cold, gnu::noinline]] inline void run_after_by_rules(communicator_state& state, call const& its,
                                                            policies_of_collective policies) {
  if ((its.before & in_functor) != 0) throw_in_functor(state);
  bool const sums = (its.before & exactness) != 0 && sum_exactly->as_exact(state, its).of != its.of;
  if ((its.before & adaptation) != 0 && !sums) {
    if (run_adaptively) return run_adaptively(state, its, policies);
    if (state.rank() == 0) warn_once(not_included("COLLIGO_ADAPTIVE", "adaptive.hpp"));
  }
  choice const& by = by_rules(state, its, policies);
  run_after(state, its, by, [&] {
    if (its.what == collective::all_to_all_v) run_exchange(state, its, by, policies);
    else run_checked(state, its, by);
  });
}

COLLIGO_BODY void run_call(endpoint& at, call const& its, choice const& by) {
  communicator_state& state = state_at(at);
  if (its.before) [[unlikely]] return run_after(state, its, by, [&] { run_checked(state, its, by); });
  bool records = false;
  if (!state.play(its, &by, records)) run_checked(state, its, by, records);
}
COLLIGO_BODY void run_by_rules(endpoint& at, call const& its, policies_of_collective policies) {
  communicator_state& state = state_at(at);
  if (its.before) [[unlikely]] return run_after_by_rules(state, its, policies);
  bool const agrees = its.what == collective::all_to_all_v;
  bool records = false;
  if (!agrees && state.play(its, nullptr, records)) return;
  choice const* const kept = kept_choices::same(state, its);
  choice const& by = kept ? *kept : by_rules(state, its, policies);
  if (agrees) [[unlikely]] return run_exchange(state, its, by, policies);
  run_checked(state, its, by, records);
}

COLLIGO_BODY owned_running prepare_call(endpoint& at, call const& its, choice const& by, owner<owned_by_request> owned,
                                        bool persistent) {
  communicator_state& state = state_at(at);
  if (its.before) [[unlikely]]
    before_call_begins(state, its, by, persistent ? call_form::persistent : call_form::request);
  require_possible(state, its, by);
  if ((its.before & exactness) != 0 && sum_exactly->holds_for(state, its, by)) [[unlikely]] {
    call const sums = announcing_refusal(state, its, [&] { return sum_exactly->own(state, its, owned); });
    return prepare_call(state, sums, by, std::move(owned), persistent);   // sums.before is 0
  }
  try {
    if (!persistent)
      if (auto again = running::kept(state, its, by, owned)) return again;
    return owned_running(new running(state, its, by, std::move(owned), persistent));
  } catch (std::bad_alloc const& e) {   // the other ranks start their requests
    if (!persistent) state.refuse(e.what());
    throw;
  }
}

}  // namespace colligo

#include "agree_body.hpp"
#include "trees_of_hosts.hpp"
