// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of decide.hpp.
#pragma once

#include <new>
#include <utility>

#include "../core/error.hpp"
#include "../core/strings.hpp"
#include "../engine/port_body.hpp"
#include "../engine/requests.hpp"
#include "../memory/shared_host.hpp"
#include "../shape/host_map.hpp"
#include "choose.hpp"
#include "decide.hpp"
#include "kept_choices.hpp"
#include "named_body.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Returns on all ranks if they make the same call, by the same algorithm over the same transport; otherwise throws
/// mismatch_error on all ranks. Nothing of the call has been sent by then. Collective over the port.
void agree_on(port_base& port, call const& its, choice const& by, call_form form);

/// Reports to the other ranks, which may wait for this one, that this rank's call is refused for this reason. In
/// checked mode, where it is collective over the port, the rank takes part in their comparison, so that they throw
/// mismatch_error. Returns.
void report_refusal(port_base& port, bool checked, std::string_view why);

// A small internal collective. It goes over messages, which always work.
template <collective C, class Tag, class T, class Op>
void exchange_among_ranks(port_base& port, Op op, blocks const& vector, T const* in, range in_covers, T* out) {
  port.execute({C, &element_of<T, Op>, port.wire_of_bytes(), &op, vector,
                {reinterpret_cast<std::byte const*>(in), in_covers}, {reinterpret_cast<std::byte*>(out), vector.whole}},
               {erased_policy_for<C, Tag>, Tag{}, transport::messages});
}
/// The ranks combine these values, element by element.
template <class T, class Op>
void combine_among_ranks(port_base& port, Op op, std::span<T> values) {
  blocks const all{{0, values.size()}, port.size()};
  exchange_among_ranks<collective::all_reduce, recursive_doubling>(port, op, all, values.data(), all.whole,
                                                                   values.data());
}

/// Calls f() and reports its errors to the other ranks, which may wait for this one.
template <class F>
decltype(auto) announcing_refusal(port_base& port, call const& its, F const& f) {
  try {
    return f();
  } catch (argument_error const& e) {
    report_refusal(port, its.checked(), e.what());
    throw;
  } catch (algorithm_error const& e) {
    report_refusal(port, its.checked(), e.what());
    throw;
  } catch (std::bad_alloc const& e) {
    report_refusal(port, its.checked(), e.what());
    throw;
  }
}

constexpr bool walks_up(collective c) { return c == collective::reduce || c == collective::all_reduce; }
constexpr bool walks_down(collective c) { return c == collective::broadcast || c == collective::all_reduce; }

// The tree of a file that the environment names, otherwise trees::by_host; null if all ranks are on one host.
[[gnu::cold]] inline tree const* tree_of_setting(port_base& port, collective c, file_setting const& setting,
                                                 tree& kept) {
  if (!setting.is_set() && port.hosts.empty()) return nullptr;
  if (kept.size() == 0) {
    if (!make_tree)
      throw argument_error(concat(
          {where(port, c), not_included(setting.is_set() ? setting.where : "trees::by_host", "trees.hpp")}));
    kept = make_tree(port, c, setting);
  }
  return &kept;
}

template <left_open What>
[[gnu::cold]] void find_out(port_base& port, collective c, topology& known) {
  if constexpr (What == left_open::levels) {
    known.levels = &kept_choices::levels_of(port);
  } else if constexpr (What == left_open::hosts) {
    known.by_host = kept_choices::hosts_of(port);
  } else {
    auto& kept = kept_choices::of(port);
    if (walks_up(c)) known.reduce_tree = tree_of_setting(port, c, port.reduce_tree_setting(), kept.reduce_tree);
    if (walks_down(c))
      known.broadcast_tree = tree_of_setting(port, c, port.broadcast_tree_setting(), kept.broadcast_tree);
  }
}

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse(port_base const& port, collective c, std::string_view name,
                                                          std::string const& why) {
  throw algorithm_error(concat({where(port, c), name, why}));
}

struct refusal {
  std::string why;                ///< empty: there is none
  bool is_of_arguments = false;   ///< an argument_error
};

/// Why a choice is impossible, the same on all ranks. Fills in the port's topology for the policy.
inline refusal why_not(port_base& port, call const& its, choice const& by) {
  erased_policy const& what = *by.policy;
  port.known.hosts = port.hosts.kept();
  if (what.is_vendor) {
    if (port.has_vendor(its)) return {};
    if (its.of->by_index)
      return {" is the MPI library's own collective, which does not know the index of the elements that it combines"};
    return {" is the MPI library's own collective: it needs a communicator over MPI and elements that travel as bytes"};
  }
  if (by.over == transport::shared_memory)
    if (std::string const why = port.why_no_memory(*its.of); !why.empty())
      return {concat({" needs shared memory, which can not be used: ", why})};
  if (what.find_out) what.find_out(port, its.what, port.known);
  bool in_order = what.ordered;
  if (what.fits) {
    fitness const its_fitness = what.fits(by.tag(), port.known, port.size());
    in_order = its_fitness.in_order;
    if (its_fitness.made_for != port.size())
      return {concat({" is made for ", its_fitness.made_for, " ranks, the communicator has ", port.size()}), true};
  }
  if (in_order || its.of->commutes) return {};
  return {" reorders operands and the functor is not known to commute: wrap it, colligo::as_commutative(op), "
          "specialise colligo::commutative<Op, T>, or choose an algorithm that keeps order"};
}

// Reports to the other ranks if it is impossible.
inline void require_possible(port_base& port, call const& its, choice const& by) {
  announcing_refusal(port, its, [&] {
    refusal const refused = why_not(port, its, by);
    if (refused.why.empty()) return;
    if (!refused.is_of_arguments) refuse(port, its.what, by.policy->name, refused.why);
    throw argument_error(concat({where(port, its.what), by.policy->name, refused.why}));
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
inline situation situation_of(port_base& port, call const& its) {
  shared_host* const memory = port.automatic_memory(*its.of);
  element const& of = *its.of;
  bool const cores = memory && memory->whole() && memory->spins();
  bool const uses_levels = (cores || !port.levels_asked().empty()) && port.size() > situation::few_without_cache;
  nest const* const hosts = kept_choices::hosts_of(port);
  bool const apart = hosts && hosts->level_within(distance::network) >= 0;
  return {.vector = its.vector, .element_size = of.size, .commutes = of.commutes, .exact = of.exact,
          .stable = port.stable_bits(), .shared = memory && memory->whole(),
          .cores = cores, .hosts = apart ? hosts : nullptr,
          .levels = apart || uses_levels ? &kept_choices::levels_of(port) : nullptr, .latencies = port.latencies(),
          .network = port.network(), .root = its.root};
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
inline void choose_first(port_base& port, call const& its, policy_table const& policies, kept_choice& kept) {
  kept.rules = false;
  if (!kept.override_is_read) read_override(port, its.what, policies, kept);
  if (!kept.override_text.empty() && takes_override(port, its, policies, kept)) return;
  kept.known = situation_of(port, its);
  kept.rules = true;
  if (port.table_setting().is_set() && kept.measured_of != its.of) {
    kept.measured = read_user_table(port, its, policies);
    kept.measured_of = its.of;
  }
  choose_now(its.what, policies, kept);
}

inline choice const& latest_by_rules(port_base& port, call const& its, policies_of_collective policies) {
  auto& kept = kept_choices::of(port, its.what);
  decided_for const wanted(port, its);
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
    bool const sums = (port.before() & exactness) != 0;
    choose_first(port, sums ? sum_exactly->as_exact(port, its) : its, policies(), kept);
    kept.of = its.of, kept.wire = its.wire;
    kept.automatic = true;
    kept.keep(wanted);
  }
  kept.latest = wanted;
  return kept.by;
}

COLLIGO_BODY choice const& by_rules(endpoint& at, call const& its, policies_of_collective policies) {
  port_base& port = port_at(at);
  return announcing_refusal(port, its, [&]() -> choice const& { return latest_by_rules(port, its, policies); });
}

template <class Lazy>
choice const& by_name(endpoint& at, call const& its, std::string_view name, policies_of_collective policies) {
  static_cast<void>(&trees_can_be_made<Lazy>);
  if (name == automatic::name) return by_rules(at, its, policies);
  port_base& port = port_at(at);
  return announcing_refusal(port, its, [&]() -> choice const& {
    auto& kept = kept_choices::of(port, its.what);
    if (!kept.automatic && !name.empty() && kept.name == name) [[likely]] return kept.by;
    kept.automatic = false;
    kept.name.clear();
    kept.by = bound(parse(policies(), name, where(port, its.what)), policies(), decided_by::named);
    kept.name = name;
    return kept.by;
  });
}

COLLIGO_BODY choice as_chosen(endpoint& at, call const& its, choice const& chosen, policies_of_collective policies) {
  port_base& port = port_at(at);
  return announcing_refusal(port, its, [&] {
    choice const by = bound(chosen, policies(), decided_by::pinned);
    if (!by.policy) refuse(port, its.what, name_of(chosen), " has no form for this collective");
    return by;
  });
}

// The steps before a call that call::before asks for.
[[gnu::cold]] inline void before_call_begins(port_base& port, call const& its, choice const& by, call_form form) {
  if ((its.before & in_functor) != 0) throw_in_functor(port);
  require_possible(port, its, by);
  if ((its.before & explanation) != 0 && explain_call) explain_call(port, its, by);
  if (its.checked()) agree_on(port, its, by, form);
}

// Checks only algorithms that may be impossible or need the topology: most are always possible.
inline void run_checked(port_base& port, call const& its, choice const& by, bool records) {
  erased_policy const& what = *by.policy;
  bool const plain = !what.is_vendor && what.open == left_open::nothing && what.fits == nullptr &&
                     (what.ordered || its.of->commutes) && by.over != transport::shared_memory;
  if (!plain) [[unlikely]] {
    require_possible(port, its, by);
    if (what.is_vendor) return port.execute_vendor(its, by);
  }
  port.execute(its, by, records);
}
inline void run_checked(port_base& port, call const& its, choice const& by) { run_checked(port, its, by, false); }

// all_to_all_v by the rules: where padding may pay, the ranks first agree on the length of the longest block.
[[gnu::noinline]] inline void run_exchange(port_base& port, call const& its, choice const& by,
                                           policies_of_collective policies) {
  if (by.who != decided_by::rules || !by.as<padded_bruck>()) return run_checked(port, its, by);
  situation s = situation_of(port, its);
  s.longest = vectors_of(its.what, its.vector, port.rank()).in.longest();
  combine_among_ranks(port, maximum{}, std::span(&s.longest, 1));
  run_checked(port, its, s.longest == 0 ? by : bound(policies().choose(s), policies(), decided_by::rules));
}

// Out of line, so that other calls need no stack for it. Only some ranks may have steps before a call, such as
// explanation, so `run` is what follows without them.
template <class Run>
[[gnu::cold, gnu::noinline]] void run_after(port_base& port, call const& its, choice const& by, Run run) {
  before_call_begins(port, its, by, call_form::blocking);
  if ((its.before & exactness) != 0 && sum_exactly->holds_for(port, its, by))
    return sum_exactly->run(port, its, by, &run_checked);
  run();
}
[[gnu::cold, gnu::noinline]] inline void run_after_by_rules(port_base& port, call const& its,
                                                            policies_of_collective policies) {
  if ((its.before & in_functor) != 0) throw_in_functor(port);
  bool const sums = (its.before & exactness) != 0 && sum_exactly->as_exact(port, its).of != its.of;
  if ((its.before & adaptation) != 0 && !sums) {
    if (run_adaptively) return run_adaptively(port, its, policies);
    if (port.rank() == 0) warn_once(not_included("COLLIGO_ADAPTIVE", "adaptive.hpp"));
  }
  choice const& by = by_rules(port, its, policies);
  run_after(port, its, by, [&] {
    if (its.what == collective::all_to_all_v) run_exchange(port, its, by, policies);
    else run_checked(port, its, by);
  });
}

COLLIGO_BODY void run_call(endpoint& at, call const& its, choice const& by) {
  port_base& port = port_at(at);
  if (its.before) [[unlikely]] return run_after(port, its, by, [&] { run_checked(port, its, by); });
  bool records = false;
  if (!port.play(its, &by, records)) run_checked(port, its, by, records);
}
COLLIGO_BODY void run_by_rules(endpoint& at, call const& its, policies_of_collective policies) {
  port_base& port = port_at(at);
  if (its.before) [[unlikely]] return run_after_by_rules(port, its, policies);
  bool const agrees = its.what == collective::all_to_all_v;
  bool records = false;
  if (!agrees && port.play(its, nullptr, records)) return;
  choice const* const kept = kept_choices::same(port, its);
  choice const& by = kept ? *kept : by_rules(port, its, policies);
  if (agrees) [[unlikely]] return run_exchange(port, its, by, policies);
  run_checked(port, its, by, records);
}

COLLIGO_BODY owned_running prepare_call(endpoint& at, call const& its, choice const& by, owner<owned_by_request> owned,
                                        bool persistent) {
  port_base& port = port_at(at);
  if (its.before) [[unlikely]]
    before_call_begins(port, its, by, persistent ? call_form::persistent : call_form::request);
  require_possible(port, its, by);
  if ((its.before & exactness) != 0 && sum_exactly->holds_for(port, its, by)) [[unlikely]] {
    call const sums = announcing_refusal(port, its, [&] { return sum_exactly->own(port, its, owned); });
    return prepare_call(port, sums, by, std::move(owned), persistent);   // sums.before is 0
  }
  try {
    if (!persistent)
      if (auto again = running::kept(port, its, by, owned)) return again;
    return owned_running(new running(port, its, by, std::move(owned), persistent));
  } catch (std::bad_alloc const& e) {   // the other ranks start their requests
    if (!persistent) port.refuse(e.what());
    throw;
  }
}

}  // namespace colligo

#include "agree_body.hpp"
#include "trees_of_hosts.hpp"
