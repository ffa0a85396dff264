// SPDX-License-Identifier: BSL-1.0
/// @file
/// From the last argument of a call to the algorithm that runs: what is named or automatic is resolved here, and what
/// is wrong, but not known when the call is compiled, is refused here.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "../algorithm/catalogue.hpp"
#include "../core/erased_policy.hpp"
#include "../engine/call.hpp"
#include "named.hpp"

namespace colligo::inline COLLIGO_MODE {
struct situation;   // choose.hpp
}

namespace colligo::inline COLLIGO_MODE::detail {

/// The algorithms of a collective in the order of the catalogue, null where an algorithm has no form for it, and what
/// `automatic` takes among them.
struct policy_table : std::array<erased_policy const*, catalogue_size> {
  chosen_algorithm (*choose)(situation const& s);
};

template <collective C>
chosen_algorithm choose_for(situation const& s);   // choose_body.hpp

template <collective C, class Tag>
constexpr erased_policy const* erased_policy_if_any() {
  if constexpr (offers<Tag, C, any_element, any_functor>) return &erased_policy_for<C, Tag>;
  else return nullptr;
}
template <collective C>
inline constexpr policy_table policies_for = []<class... Tags>(list_of_tags<Tags...>) {
  return policy_table{{erased_policy_if_any<C, Tags>()...}, &choose_for<C>};
}(catalogue_of_tags{});

enum class call_form;
class port_base;
struct kept_with_port;
struct file_setting;

/// Who decided.
enum class decided_by : std::uint8_t {
  pinned, named, environment, tree_file, table, many_cores, rules, measured_table, required, tried, measured
};

/// A compiled algorithm, its tag, and its transport. Valid until the next decision for the same collective over the
/// same port.
struct decision {
  erased_policy const* what;
  void const* tag;
  transport over;
  decided_by who;
};

#if COLLIGO_HAS_BODIES
template <collective C>
policy_table const& texts() { return policies_for<C>; }
#else
policy_table const& compiled_policies(collective what);
template <collective C>
policy_table const& texts() { return compiled_policies(C); }
#endif
/// Of a collective that is known at run time. A template, so that only units that ask for all algorithms compile them.
template <class Lazy = void>
policy_table const& policies_of(collective what) {
  return for_collective(what, []<collective C>() -> policy_table const& { return texts<C>(); });
}

/// Makes a call that is left to the library by the algorithm that was measured to be best: set by those who include
/// adaptive.hpp, for COLLIGO_ADAPTIVE.
inline void (*run_adaptively)(endpoint& port, call const& its, policy_table const& (*texts)()) = nullptr;

/// The tree of a file that the environment names, or of the hosts that the ranks are on. Throws argument_error.
inline tree (*make_tree)(port_base const& port, collective c, file_setting const& setting) = nullptr;
template <class Lazy>
tree tree_for_port(port_base const& port, collective c, file_setting const& setting);   // trees.hpp
/// Sets make_tree: in units that include ../trees.hpp, name trees, or take algorithms by name.
template <class Lazy = void>
inline bool const trees_can_be_made = (make_tree = &tree_for_port<Lazy>, true);

/// Reads tables of measurements: set by those who include table.hpp, for COLLIGO_TABLE.
struct table_reader {
  /// The rows that may hold for such elements; null: none.
  std::unique_ptr<kept_with_port> (*read)(port_base& port, call const& its, policy_table const& texts);
  /// What they take, and the line that says so; null: none holds.
  chosen_algorithm const* (*find)(kept_with_port const& rows, collective what, situation const& s, std::size_t& line);
};
inline table_reader read_tables{};

/// What is decided at run time. A template, so that only units that ask for it compile it. The algorithms are asked for
/// only where the latest decision can not be used again.
template <class Lazy = void>
struct deciding {
  using policies_of_collective = policy_table const& (*)();

  static decision by_rules(endpoint& port, call const& its, policies_of_collective texts);
  static decision by_name(endpoint& port, call const& its, std::string_view name, policies_of_collective texts);
  static decision as_chosen(endpoint& port, call const& its, chosen_algorithm const& chosen,
                            policies_of_collective texts);
  /// by_rules() and run() at once.
  static void run_by_rules(endpoint& port, call const& its, policies_of_collective texts);

  /// Runs the call. Throws, before anything is written, what the decision makes impossible on all ranks alike.
  static void run(endpoint& port, call const& its, decision const& by);
  /// The same as a request that has not been started.
  static owned_running prepare(endpoint& port, call const& its, decision const& by,
                               std::unique_ptr<owned_by_request> owned, bool persistent);

  /// What was decided for each collective over a port.
  struct kept_decisions;
  struct latest;
  /// Why a decision can not be carried out, the same on all ranks; fills in what algorithms ask their communicator for.
  struct refusal;
  static refusal why_not(port_base& port, call const& its, decision const& by, topology& known);
  /// What a choice for this call may depend on.
  static situation situation_of(port_base& port, call const& its);
  /// f(), of whose errors the other ranks hear.
  template <class F>
  static decltype(auto) announcing_refusal(port_base& port, call const& its, F const& f);

  /// The algorithm that a string names, "ring", "pipelined_ring:block=64k", "ring@messages" or "ring@shared_memory".
  /// `where` begins an error ("all_reduce on rank 0: "). Throws algorithm_error with the names that are known.
  static chosen_algorithm parse(policy_table const& texts, std::string_view whole, std::string const& where);

 private:
  struct catalogue_entry;
  static tree const* tree_of_setting(port_base& port, collective c, file_setting const& setting, tree& kept);
  static topology checked(port_base& port, call const& its, decision const& by);
  static void before(port_base& port, call const& its, decision const& by, call_form form);
  static void run_after(port_base& port, call const& its, decision const& by);
  static void run_after_by_rules(port_base& port, call const& its, policies_of_collective texts);
  static void run_checked(port_base& port, call const& its, decision const& by);
  static decision decision_of(port_base const& port, collective c, chosen_algorithm const& chosen,
                              policy_table const& texts, decided_by who);
  static void read_override(port_base& port, collective c, policy_table const& texts, latest& kept);
  static bool takes_override(port_base& port, call const& its, policy_table const& texts, latest& kept);
  static std::unique_ptr<kept_with_port> read_user_table(port_base& port, call const& its, policy_table const& texts);
  static void first_choice(port_base& port, call const& its, policy_table const& texts, latest& kept);
  static decided_by choose_now(collective c, policy_table const& texts, latest& kept);
  static void choose_again(port_base& port, call const& its, policies_of_collective texts, latest& kept);
  static decision named_decision(port_base& port, call const& its, std::string_view name, policies_of_collective texts);
  static decision const& latest_by_rules(port_base& port, call const& its, policies_of_collective texts);
};

/// A tag that decides for itself when it is called, `decide<C, T, Op>(port, its, texts)`, and says what can not
/// compile, `check<C, T, Op, Comm>()`.
template <class Tag>
concept decides_itself = requires { requires Tag::decides_itself; };

/// The vendor's collective runs, or what runs is not known when the call is compiled.
template <class Tag>
inline constexpr bool may_be_vendor = !in_catalogue<Tag> || std::is_same_v<Tag, vendor>;
template <class Tag>
  requires requires { typename Tag::base_tag; }
inline constexpr bool may_be_vendor<Tag> = may_be_vendor<typename Tag::base_tag>;

/// The algorithm of a tag that is known when the call is compiled; the library's own are compiled for any element.
template <collective C, class Tag, class T, class Op>
decision decide_pinned(Tag const& tag) {
#if COLLIGO_HAS_BODIES
  if constexpr (completed_by_trees<Tag>) static_cast<void>(&trees_can_be_made<>);
#endif
  if constexpr (requires { typename Tag::base_tag; }) {
    decision inner = decide_pinned<C, typename Tag::base_tag, T, Op>(tag);
    inner.over = Tag::over;
    return inner;
  } else if constexpr (in_catalogue<Tag>) {
#if COLLIGO_HAS_BODIES
    return {&erased_policy_for<C, Tag>, &tag, transport_of(tag), decided_by::pinned};
#else
    return {compiled_policies(C)[index_in_catalogue<Tag>()], &tag, transport_of(tag), decided_by::pinned};
#endif
  } else {
    return {&erased_policy_for<C, Tag, T, Op>, &tag, transport_of(tag), decided_by::pinned};
  }
}

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "decide_body.hpp"
#endif
