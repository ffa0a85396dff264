// SPDX-License-Identifier: BSL-1.0
/// @file
/// All algorithms, and what chooses among them: automatic, names, the environment. Public headers include this, unless
/// COLLIGO_PINNED is defined (../automatic.hpp).
#pragma once

#define COLLIGO_HAS_POLICIES

#include "../algorithm/catalogue.hpp"
#include "decide.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

template <collective C, class Tag>
constexpr erased_policy const* erased_policy_if_any() {
  if constexpr (offers<Tag, C, any_element, any_functor>) return &erased_policy_for<C, Tag>;
  else return nullptr;
}
template <collective C>
inline constexpr policy_table policies_for = []<class... Tags>(list_of_tags<Tags...>) {
  return policy_table{{erased_policy_if_any<C, Tags>()...}, &choose_for<C>};
}(catalogue_of_tags{});

#if !defined(COLLIGO_COMPILED)
template <class Lazy>
struct all_policies {
  template <collective C>
  static policy_table const& of() { return policies_for<C>; }
};
#endif
/// For a collective that is known at run time. A template, so that only units that need all policies compile them.
template <class Lazy = void>
policies_of_collective policies_of(collective what) {
  return for_collective(what, []<collective C>() -> policies_of_collective { return &policy_table_of<C>; });
}

/// Makes a call of which the library chooses the algorithm, by measuring, for COLLIGO_ADAPTIVE. Units that include
/// adaptive.hpp set it.
inline void (*run_adaptively)(endpoint& state, call const& call, policies_of_collective policies) = nullptr;

/// Reads tables of measurements, for COLLIGO_TABLE. Units that include table.hpp set it.
struct table_reader {
  /// The rows that may hold for such elements; null: none.
  owner<kept_with_state> (*read)(communicator_state& state, call const& call, policy_table const& policies);
  /// The choice of these rows, and its line; null: no row holds.
  choice const* (*find)(kept_with_state const& rows, collective what, situation const& s, std::size_t& line);
};
inline table_reader read_tables{};

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "decide_body.hpp"
#include "trees_of_hosts.hpp"
#if defined(COLLIGO_OVER_MPI)   // else ../communicators/mpi.hpp has it
#include "../transport/messages/mpi_vendor_body.hpp"
#endif
#endif
