// SPDX-License-Identifier: BSL-1.0
/// @file
/// Turns the last argument of a call into a choice: resolves names and automatic, and refuses at run time what can not
/// be refused at compile time.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <type_traits>

#include "../algorithm/catalogue.hpp"
#include "../core/choice.hpp"
#include "../engine/call.hpp"
#include "named.hpp"

namespace colligo::inline COLLIGO_MODE {
struct situation;   // choose.hpp
}

namespace colligo::inline COLLIGO_MODE::detail {

/// The policies of a collective in the order of the catalogue, null if an algorithm has no form for it.
struct policy_table : std::array<erased_policy const*, catalogue_size> {
  /// The choice of `automatic` among them.
  choice (*choose)(situation const& s);
};

template <collective C>
choice choose_for(situation const& s);   // choose_body.hpp

/// The algorithm of a name, "ring", "pipelined_ring:block=64k", "ring@messages" or "ring@shared_memory". `where` begins
/// an error ("all_reduce on rank 0: "). Throws algorithm_error with the known names.
choice parse(policy_table const& policies, std::string_view whole, std::string const& where);   // named_body.hpp

template <collective C, class Tag>
constexpr erased_policy const* erased_policy_if_any() {
  if constexpr (offers<Tag, C, any_element, any_functor>) return &erased_policy_for<C, Tag>;
  else return nullptr;
}
template <collective C>
inline constexpr policy_table policies_for = []<class... Tags>(list_of_tags<Tags...>) {
  return policy_table{{erased_policy_if_any<C, Tags>()...}, &choose_for<C>};
}(catalogue_of_tags{});

enum class call_form { blocking, request, persistent };
class communicator_state;
struct kept_with_state;
struct file_setting;

#if defined(COLLIGO_COMPILED)
policy_table const& compiled_policies(collective what);   // compiled_algorithms.hpp
template <collective C>
policy_table const& policy_table_of() { return compiled_policies(C); }
#else
template <collective C>
policy_table const& policy_table_of() { return policies_for<C>; }
#endif
/// A function, because the table is needed only if the latest choice does not fit the call.
using policies_of_collective = policy_table const& (*)();
/// For a collective that is known at run time. A template, so that only units that need all policies compile them.
template <class Lazy = void>
policies_of_collective policies_of(collective what) {
  return for_collective(what, []<collective C>() -> policies_of_collective { return &policy_table_of<C>; });
}

/// Makes a call of which the library chooses the algorithm, by measuring, for COLLIGO_ADAPTIVE. Units that include
/// adaptive.hpp set it.
inline void (*run_adaptively)(endpoint& state, call const& its, policies_of_collective policies) = nullptr;

/// The tree of a file that the environment names, or of the ranks' hosts. Throws argument_error.
inline tree (*make_tree)(communicator_state const& state, collective c, file_setting const& setting) = nullptr;
template <class Lazy>
tree tree_for_state(communicator_state const& state, collective c, file_setting const& setting);   // trees.hpp
/// Sets make_tree: in units that include ../trees.hpp, name trees, or take algorithms by name.
template <class Lazy = void>
inline bool const trees_can_be_made = (make_tree = &tree_for_state<Lazy>, true);

/// Reads tables of measurements, for COLLIGO_TABLE. Units that include table.hpp set it.
struct table_reader {
  /// The rows that may hold for such elements; null: none.
  owner<kept_with_state> (*read)(communicator_state& state, call const& its, policy_table const& policies);
  /// The choice of these rows, and its line; null: no row holds.
  choice const* (*find)(kept_with_state const& rows, collective what, situation const& s, std::size_t& line);
};
inline table_reader read_tables{};

/// The choice of automatic, valid until the next choice for the same collective over the same state.
choice const& by_rules(endpoint& state, call const& its, policies_of_collective policies);
/// The choice of a name, valid as long. A template, because units that compile it also compile trees.
template <class Lazy = void>
choice const& by_name(endpoint& state, call const& its, std::string_view name, policies_of_collective policies);
/// An algorithm of the catalogue, for the call's collective.
choice as_chosen(endpoint& state, call const& its, choice const& chosen, policies_of_collective policies);

/// Runs the call. If the choice is impossible, throws on all ranks before anything is written.
void run_call(endpoint& state, call const& its, choice const& by);
/// by_rules() and run_call() at once.
void run_by_rules(endpoint& state, call const& its, policies_of_collective policies);
/// Makes a request for the call, not yet started.
owned_running prepare_call(endpoint& state, call const& its, choice const& by, owner<owned_by_request> owned,
                           bool persistent);

/// A tag that decides in the call, `decide<C, T, Op>(state, its, policies)`, and checks at compile time,
/// `check<C, T, Op, Comm>()`.
template <class Tag>
concept decides_itself = requires { requires Tag::decides_itself; };

/// The algorithm is not known at compile time.
template <class Tag>
inline constexpr bool is_decided_at_run_time = std::is_same_v<Tag, automatic> || std::is_same_v<Tag, named> ||
                                               std::is_same_v<Tag, choice> || decides_itself<Tag>;

/// The algorithm is the MPI library's own, or not known at compile time.
template <class Tag>
inline constexpr bool may_be_vendor = !in_catalogue<Tag> || std::is_same_v<Tag, vendor>;
template <class Tag>
  requires requires { typename Tag::base_tag; }
inline constexpr bool may_be_vendor<Tag> = may_be_vendor<typename Tag::base_tag>;

/// A tag that is known at compile time; the library's own are compiled for any element.
template <collective C, class Tag, class T, class Op>
choice pinned(Tag const& tag) {
#if COLLIGO_HAS_BODIES
  if constexpr (completed_by_trees<Tag>) static_cast<void>(&trees_can_be_made<>);
#endif
  if constexpr (requires { typename Tag::base_tag; }) {
    choice inner = pinned<C, typename Tag::base_tag, T, Op>(tag);
    inner.over = Tag::over;
    return inner;
  } else if constexpr (in_catalogue<Tag>) {
#if defined(COLLIGO_COMPILED)
    return {*compiled_policies(C)[place_in_catalogue<Tag>::value], tag, transport_of(tag)};
#else
    return {erased_policy_for<C, Tag>, tag, transport_of(tag)};
#endif
  } else {
    return {erased_policy_for<C, Tag, T, Op>, tag, transport_of(tag)};
  }
}

/// The choice of an algorithm for a call. accepted::decide() in call_arguments.hpp has checked it.
template <collective C, class T, class Op, class Algorithm>
decltype(auto) decide(endpoint& state, call const& its, Algorithm const& algorithm) {
  if constexpr (std::is_same_v<Algorithm, automatic>) return by_rules(state, its, &policy_table_of<C>);
  else if constexpr (std::is_same_v<Algorithm, named>)
    return by_name(state, its, algorithm.text(), &policy_table_of<C>);
  else if constexpr (std::is_same_v<Algorithm, choice>) return as_chosen(state, its, algorithm, &policy_table_of<C>);
  else if constexpr (decides_itself<Algorithm>)
    return algorithm.template decide<C, T, Op>(state, its, &policy_table_of<C>);
  else return pinned<C, Algorithm, T, Op>(algorithm);
}

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "decide_body.hpp"
#endif
