// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of decide.hpp.
#pragma once

#include <new>
#include <optional>
#include <string>
#include <vector>

#include "../core/error.hpp"
#include "../core/strings.hpp"
#include "../engine/requests.hpp"
#include "../memory/shared_host.hpp"
#include "../shape/host_map.hpp"
#include "agree.hpp"
#include "choose.hpp"
#include "decide.hpp"
#include "named_body.hpp"
#include "nest_of_domains.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// What is decided is kept with the port: programs make the same call again and again.
template <class Lazy>
struct deciding<Lazy>::latest {
  // What it was decided for.
  std::size_t n = 0;
  element const* of = nullptr;
  void const* wire = nullptr;
  bool automatic = false, rules = false;
  std::string name;
  situation known{};
  // What was decided.
  chosen_algorithm chosen{binary_tree{}};
  decision by{};
  // The environment's override; it is read once.
  bool override_is_read = false;
  std::optional<chosen_algorithm> overriding;
  std::string override_text;   ///< "COLLIGO_ALL_REDUCE=ring"
  std::string why_not_taken;         ///< why it can never be taken, or could not be the last time; empty: it was
  // What COLLIGO_TABLE says of these elements.
  element const* measured_of = nullptr;
  std::unique_ptr<kept_with_port> measured;
  std::size_t measured_line = 0;   ///< of the row that was taken last

  /// By automatic, and for such a call of any length.
  bool is_like(call const& its) const { return automatic && of == its.of && wire == its.wire; }
};
template <class Lazy>
struct deciding<Lazy>::kept_decisions final : kept_with_port {
  struct told { collective what; element const* of; int size_class; bool operator==(told const&) const = default; };

  std::array<std::unique_ptr<latest>, collectives.size()> of_collective;   // of those that have been called
  tree reduce_tree, broadcast_tree;
  std::vector<told> explained;   ///< on stderr
  host_tables tables;
  std::optional<nest> levels;
  std::unique_ptr<kept_with_port> required, adapted, measured;   ///< what require, adaptive and predict keep

  /// Of the port's hosts; null where all are on one.
  static host_tables const* tables_of(port_base& port) {
    if (port.hosts.empty()) return nullptr;
    host_tables& kept = of(port).tables;
    if (kept.host.empty()) kept = host_tables(port.hosts);
    return &kept;
  }
  /// Of the port's ranks.
  static nest const& levels_of(port_base& port) {
    std::optional<nest>& kept = of(port).levels;
    if (!kept)
      kept.emplace(!port.levels_asked().empty() ? nest::of_sizes(port.size(), port.levels_asked())
                   : port.levels_off()          ? nest(port.size())
                                                : nest_of_domains(port.size(), port.domains, port.hosts));
    return *kept;
  }
  static kept_decisions& of(port_base& port) {
    if (!port.selection) port.selection = std::make_unique<kept_decisions>();
    return static_cast<kept_decisions&>(*port.selection);
  }
  // Where there is no memory to keep it the rank decides all the same, for others wait for it.
  static latest& of(port_base& port, collective c) {
    try {
      auto& its = of(port).of_collective[static_cast<std::size_t>(c)];
      if (!its) [[unlikely]] its = std::make_unique<latest>();
      return *its;
    } catch (std::bad_alloc const&) {
      static thread_local latest spare;
      return spare = latest{};
    }
  }
  /// What automatic took for the latest call, if this one is the same; null otherwise.
  static decision const* same(port_base& port, call const& its) {
    if (!port.selection) [[unlikely]] return nullptr;
    latest const* const kept =
        static_cast<kept_decisions&>(*port.selection).of_collective[static_cast<std::size_t>(its.what)].get();
    return kept && kept->is_like(its) && kept->n == its.vector.whole.size() ? &kept->by : nullptr;
  }
};

constexpr bool walks_up(collective c) { return c == collective::reduce || c == collective::all_reduce; }
constexpr bool walks_down(collective c) { return c == collective::broadcast || c == collective::all_reduce; }

// The tree of a file that the environment names, otherwise trees::by_host; null where all ranks are on one host.
template <class Lazy>
[[gnu::cold]] tree const* deciding<Lazy>::tree_of_setting(port_base& port, collective c, file_setting const& setting,
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

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse(port_base const& port, collective c, std::string_view name,
                                                          std::string const& why) {
  throw algorithm_error(concat({where(port, c), name, why}));
}

template <class Lazy>
struct deciding<Lazy>::refusal {
  std::string why;                ///< empty: it can
  bool is_of_arguments = false;   ///< an argument_error
};

template <class Lazy>
auto deciding<Lazy>::why_not(port_base& port, call const& its, decision const& by, topology& known) -> refusal {
  erased_policy const& what = *by.what;
  if (what.asks_for_levels) known.levels = &kept_decisions::levels_of(port);
  if (what.fits) known.tables = kept_decisions::tables_of(port);
  if (what.is_vendor) {
    if (port.has_vendor(its)) return {};
    return {" is the MPI library's own collective: it needs a communicator over MPI and elements that travel as bytes"};
  }
  if (by.over == transport::shared_memory)
    if (std::string const why = port.why_no_memory(*its.of); !why.empty())
      return {concat({" is asked to go over shared memory, which can not be used: ", why})};
  if (what.asks_for_trees) {
    auto& kept = kept_decisions::of(port);
    if (walks_up(its.what))
      known.reduce_tree = tree_of_setting(port, its.what, port.reduce_tree_setting(), kept.reduce_tree);
    if (walks_down(its.what))
      known.broadcast_tree = tree_of_setting(port, its.what, port.broadcast_tree_setting(), kept.broadcast_tree);
  }
  bool in_order = what.ordered;
  if (what.fits) {
    fitness const its_fitness = what.fits(by.tag, known, port.size());
    in_order = its_fitness.in_order;
    if (its_fitness.made_for != port.size())
      return {concat({" is made for ", its_fitness.made_for, " ranks, the communicator has ", port.size()}), true};
  }
  if (in_order || its.of->commutes) return {};
  return {" reorders operands and the functor is not known to commute: wrap it, colligo::as_commutative(op), "
          "specialise colligo::commutative<Op, T>, or choose an algorithm that keeps order"};
}

template <class Lazy>
topology deciding<Lazy>::checked(port_base& port, call const& its, decision const& by) {
  topology known{port.hosts};
  refusal const refused = why_not(port, its, by, known);
  if (refused.why.empty()) return known;
  if (refused.is_of_arguments)
    throw argument_error(concat({where(port, its.what), by.what->name, refused.why}));
  refuse(port, its.what, by.what->name, refused.why);
}

inline decided_by by_table_or_rules(situation const& s) {
  return s.on_many_cores() ? decided_by::many_cores : s.shared ? decided_by::table : decided_by::rules;
}

inline transport transport_of_choice(chosen_algorithm const& chosen) {
  if (chosen.over != transport::best) return chosen.over;
  return with_tag(chosen.algorithm, [](auto const& tag) { return transport_of(tag); });
}

// Null where the algorithm has no form for the collective.
inline decision decision_for(chosen_algorithm const& chosen, policy_table const& texts, decided_by who) {
  void const* const tag = chosen.algorithm.tag();
  return {texts[chosen.algorithm.index()], tag, transport_of_choice(chosen), who};
}

template <class Lazy>
decision deciding<Lazy>::decision_of(port_base const& port, collective c, chosen_algorithm const& chosen,
                                     policy_table const& texts, decided_by who) {
  decision const by = decision_for(chosen, texts, who);
  if (!by.what) refuse(port, c, name_of(chosen.algorithm), " has no form for this collective");
  return by;
}

template <class Lazy>
situation deciding<Lazy>::situation_of(port_base& port, call const& its) {
  shared_host* const memory = port.automatic_memory(*its.of);
  element const& of = *its.of;
  bool const cores = memory && memory->whole() && memory->spins();
  bool const counts = (cores || !port.levels_asked().empty()) && port.size() > situation::few_without_cache;
  return {.vector = its.vector, .element_size = of.size, .commutes = of.commutes, .exact = of.exact,
          .stable = port.stable_bits(), .shared = memory && memory->whole(),
          .cores = cores, .hosts = port.hosts, .tables = kept_decisions::tables_of(port),
          .levels = counts ? &kept_decisions::levels_of(port) : nullptr, .network = port.network()};
}

// The environment's override; otherwise `rules` is true and what is chosen for the latest decision's situation.
template <class Lazy>
void deciding<Lazy>::first_choice(port_base& port, call const& its, policy_table const& texts, latest& kept) {
  collective const c = its.what;
  kept.rules = false;
  if (!kept.override_is_read) read_override(port, c, texts, kept);
  if (!kept.override_text.empty() && takes_override(port, its, texts, kept)) return;
  kept.known = situation_of(port, its);
  kept.rules = true;
  if (port.table_setting().is_set() && kept.measured_of != its.of) {
    kept.measured = read_user_table(port, its, texts);
    kept.measured_of = its.of;
  }
  decided_by const who = choose_now(c, texts, kept);
  kept.by = decision_of(port, c, kept.chosen, texts, who);
}

// Sets what is chosen for the latest decision's situation.
template <class Lazy>
decided_by deciding<Lazy>::choose_now(collective c, policy_table const& texts, latest& kept) {
  if (kept.measured && !kept.known.stable) [[unlikely]]
    if (auto const* const take = read_tables.find(*kept.measured, c, kept.known, kept.measured_line)) {
      kept.chosen = *take;
      return decided_by::measured_table;
    }
  kept.chosen = texts.choose(kept.known);
  return by_table_or_rules(kept.known);
}

// A vector of another length: nothing else has changed.
template <class Lazy>
void deciding<Lazy>::choose_again(port_base& port, call const& its, policies_of_collective texts, latest& kept) {
  if (!kept.rules) return;
  kept.known.vector = its.vector;
  std::size_t const before = kept.chosen.algorithm.index();
  decided_by const who = choose_now(its.what, texts(), kept);
  if (kept.chosen.algorithm.index() == before) {   // the same algorithm, and its tag at the same place
    kept.by.over = transport_of_choice(kept.chosen), kept.by.who = who;
    return;
  }
  kept.automatic = false;
  kept.by = decision_of(port, its.what, kept.chosen, texts(), who);
  kept.automatic = true;
}

template <class Lazy>
decision const& deciding<Lazy>::latest_by_rules(port_base& port, call const& its, policies_of_collective texts) {
  auto& kept = kept_decisions::of(port, its.what);
  std::size_t const n = its.vector.whole.size();
  if (kept.is_like(its)) [[likely]] {
    if (kept.n != n) choose_again(port, its, texts, kept);
  } else {
    kept.automatic = false;   // as long as it may throw
    kept.name.clear();
    first_choice(port, its, texts(), kept);
    kept.of = its.of, kept.wire = its.wire;
    kept.automatic = true;
  }
  kept.n = n;
  return kept.by;
}

// A rank that can not make its call reports it to the others, which may wait for it.
template <class Lazy>
template <class F>
decltype(auto) deciding<Lazy>::announcing_refusal(port_base& port, call const& its, F const& f) {
  auto const tell = [&](std::exception const& e) {
    its.checked() ? agree_on_nothing(port, e.what()) : port.refuse(e.what());
  };
  try {
    return f();
  } catch (argument_error const& e) {
    tell(e);
    throw;
  } catch (algorithm_error const& e) {
    tell(e);
    throw;
  } catch (std::bad_alloc const& e) {
    tell(e);
    throw;
  }
}

template <class Lazy>
decision deciding<Lazy>::by_rules(endpoint& at, call const& its, policies_of_collective texts) {
  port_base& port = port_at(at);
  return announcing_refusal(port, its, [&]() -> decision { return latest_by_rules(port, its, texts); });
}

template <class Lazy>
decision deciding<Lazy>::by_name(endpoint& at, call const& its, std::string_view name, policies_of_collective texts) {
  static_cast<void>(&trees_can_be_made<Lazy>);
  port_base& port = port_at(at);
  return announcing_refusal(port, its, [&] { return named_decision(port, its, name, texts); });
}

template <class Lazy>
decision deciding<Lazy>::named_decision(port_base& port, call const& its, std::string_view name,
                                        policies_of_collective texts) {
  if (name == automatic::name) return latest_by_rules(port, its, texts);
  auto& kept = kept_decisions::of(port, its.what);
  if (!kept.automatic && !name.empty() && kept.name == name) [[likely]] return kept.by;
  kept.automatic = false;
  kept.name.clear();
  kept.chosen = parse(texts(), name, where(port, its.what));
  kept.by = decision_of(port, its.what, kept.chosen, texts(), decided_by::named);
  kept.name = name;
  return kept.by;
}

template <class Lazy>
decision deciding<Lazy>::as_chosen(endpoint& at, call const& its, chosen_algorithm const& chosen,
                                   policies_of_collective texts) {
  port_base& port = port_at(at);
  return announcing_refusal(port, its,
                         [&] { return decision_of(port, its.what, chosen, texts(), decided_by::pinned); });
}

// Only then the call begins.
template <class Lazy>
[[gnu::cold]] void deciding<Lazy>::before(port_base& port, call const& its, decision const& by, call_form form) {
  announcing_refusal(port, its, [&] { checked(port, its, by); });
  if ((its.before & explanation) != 0 && explain_call) explain_call(port, its, by);
  if (its.checked()) agree_on(port, its, by, form);
}

// Most algorithms can not be wrong, and ask for nothing.
template <class Lazy>
inline void deciding<Lazy>::run_checked(port_base& port, call const& its, decision const& by) {
  erased_policy const& what = *by.what;
  bool const plain =
      !what.is_vendor && !what.asks_for_trees && what.fits == nullptr && (what.ordered || its.of->commutes) &&
      by.over != transport::shared_memory;
  topology known{port.hosts};
  if (!plain) [[unlikely]] {
    known = announcing_refusal(port, its, [&] { return checked(port, its, by); });
    if (what.is_vendor) return port.execute_vendor(its, what, by.who == decided_by::pinned);
  }
  port.execute(its, what, by.tag, known, by.over);
}

// Out of line, so that other calls need no stack for it.
template <class Lazy>
[[gnu::cold, gnu::noinline]] void deciding<Lazy>::run_after(port_base& port, call const& its, decision const& by) {
  before(port, its, by, call_form::blocking);
  run_checked(port, its, by);
}
template <class Lazy>
[[gnu::cold, gnu::noinline]] void deciding<Lazy>::run_after_by_rules(port_base& port, call const& its,
                                                                     policies_of_collective texts) {
  if ((its.before & adaptation) != 0) {
    if (run_adaptively) return run_adaptively(port, its, texts);
    if (port.rank() == 0) warn_once(not_included("COLLIGO_ADAPTIVE", "adaptive.hpp"));
  }
  run_after(port, its, by_rules(port, its, texts));
}

template <class Lazy>
void deciding<Lazy>::run(endpoint& at, call const& its, decision const& by) {
  port_base& port = port_at(at);
  if (its.before) [[unlikely]] return run_after(port, its, by);
  run_checked(port, its, by);
}
template <class Lazy>
void deciding<Lazy>::run_by_rules(endpoint& at, call const& its, policies_of_collective texts) {
  port_base& port = port_at(at);
  if (its.before) [[unlikely]] return run_after_by_rules(port, its, texts);
  decision const* by = kept_decisions::same(port, its);
  if (!by)
    by = &announcing_refusal(port, its, [&]() -> decision const& { return latest_by_rules(port, its, texts); });
  run_checked(port, its, *by);
}

template <class Lazy>
owned_running deciding<Lazy>::prepare(endpoint& at, call const& its, decision const& by,
                                      std::unique_ptr<owned_by_request> owned, bool persistent) {
  port_base& port = port_at(at);
  if (its.before) [[unlikely]] before(port, its, by, persistent ? call_form::persistent : call_form::request);
  topology const known = announcing_refusal(port, its, [&] { return checked(port, its, by); });
  try {
    if (!persistent)
      if (auto again = running::kept(port, its, *by.what, by.tag, by.over, owned)) return again;
    return owned_running(new running(port, its, *by.what, by.tag, known, by.over, std::move(owned), persistent));
  } catch (std::bad_alloc const& e) {   // the others start theirs
    if (!persistent) port.refuse(e.what());
    throw;
  }
}

}  // namespace colligo

#include "agree_body.hpp"
#include "trees_of_hosts.hpp"
#include "override_body.hpp"
