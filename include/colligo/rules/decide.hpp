// SPDX-License-Identifier: BSL-1.0
/// @file
/// Turns the last argument of a call into a choice, and runs the call. A tag needs no more than this header; names and
/// automatic need policies.hpp.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <type_traits>

#include "../core/tags.hpp"
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

/// A call is blocking, started as a request, or made as a persistent request.
enum class made { at_once, started, ready };
class communicator_state;
struct kept_with_state;
struct file_setting;

/// The table of each collective, `of<C>()`. Complete in units that include policies.hpp: only these may leave the
/// choice to the library, or to a name. The compiled library has all tables.
template <class Lazy>
struct all_policies;
/// Complete in units that include trees_of_hosts.hpp: only these may leave a tag's tree open.
template <class Lazy>
struct trees_by_setting;

#if defined(COLLIGO_COMPILED)
policy_table const& compiled_policies(collective what);   // compiled_algorithms.hpp
template <class Lazy>
struct all_policies {
  template <collective C>
  static policy_table const& of() { return compiled_policies(C); }
};
#endif
template <collective C, class Lazy = void>
policy_table const& policy_table_of() { return all_policies<Lazy>::template of<C>(); }
/// A function, because the table is needed only if the latest choice does not fit the call.
using policies_of_collective = policy_table const& (*)();

/// Makes the tree of a file that the environment names, or of the ranks' hosts. Throws argument_error. Units that
/// include trees.hpp, or may need it, set it.
inline void (*make_tree)(communicator_state const& state, collective c, file_setting const& setting,
                         tree& made) = nullptr;

/// The choice of automatic, valid until the next choice for the same collective over the same state.
choice const& by_rules(endpoint& state, call const& call, policies_of_collective policies);
/// The choice of a name, valid as long. A template, because units that compile it also compile trees.
template <class Lazy = void>
choice const& by_name(endpoint& state, call const& call, std::string_view name, policies_of_collective policies);
/// An algorithm of the catalogue, for the call's collective.
choice as_chosen(endpoint& state, call const& call, choice const& chosen, policies_of_collective policies);

/// Runs the call. If the choice is impossible, throws on all ranks before anything is written.
void run_call(endpoint& state, call const& call, choice const& by);
/// by_rules() and run_call() at once.
void run_by_rules(endpoint& state, call const& call, policies_of_collective policies);
/// Makes a request for the call, not yet started.
owned_running prepare_call(endpoint& state, call const& asked, choice const& by, owner<owned_by_request> owned,
                           bool persistent);
/// by_rules() and prepare_call() at once.
owned_running prepare_by_rules(endpoint& state, call const& call, policies_of_collective policies,
                               owner<owned_by_request> owned, bool persistent);

/// A tag that decides in the call, `decide<C, T, Op>(state, call, policies)`, and checks at compile time,
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
  if constexpr (completed_by_trees<Tag>) {
    static_assert(requires { sizeof(trees_by_setting<Tag>); },
                  "colligo: this algorithm takes the tree of the environment: include <colligo/trees.hpp>");
    static_cast<void>(&trees_by_setting<Tag>::can_be_made);
  }
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

/// The choice of an algorithm for a call. accepted::decide() in accepted.hpp has checked it.
template <collective C, class T, class Op, class Algorithm>
decltype(auto) decide(endpoint& state, call const& call, Algorithm const& algorithm) {
  if constexpr (std::is_same_v<Algorithm, automatic>) return by_rules(state, call, &policy_table_of<C>);
  else if constexpr (std::is_same_v<Algorithm, named>)
    return by_name(state, call, algorithm.text(), &policy_table_of<C>);
  else if constexpr (std::is_same_v<Algorithm, choice>) return as_chosen(state, call, algorithm, &policy_table_of<C>);
  else if constexpr (decides_itself<Algorithm>)
    return algorithm.template decide<C, T, Op>(state, call, &policy_table_of<C>);
  else return pinned<C, Algorithm, T, Op>(algorithm);
}

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "run_body.hpp"
#endif
