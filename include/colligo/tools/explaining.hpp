// SPDX-License-Identifier: BSL-1.0
/// @file
/// explain: the algorithm that a call would take, its transport, who decided that, and why not another one.
/// ../explain.hpp adds COLLIGO_EXPLAIN.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>

#include "../rules/chosen.hpp"
#include "../communicators/communicators.hpp"
#include "../arguments/call_arguments.hpp"
#include "../rules/policies.hpp"
#include "../rules/recorded.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// Descriptions of choices.
template <class Lazy = void>
struct explaining {
  /// The text of explain(); or why there is no choice, if `trouble` has a reason.
  static std::string explained(endpoint& at, call const& call, choice const* by, std::string const& trouble,
                               policy_table const& policies);
  static std::string latest_choice(endpoint& at, collective what);
  /// Prints a line on stderr, unless there was one for such a call with this algorithm, chosen in this way.
  static void explain_if_new(communicator_state& state, call const& call, choice const& by);
};

}  // namespace detail

namespace by_name {

/// Describes a call of this collective with n elements of type T: the algorithm, its transport, who decided (the
/// program, the environment, a table, the papers' rules), its predicted time and those of the others, and why the rest
/// is excluded. For collectives on blocks n is the length of one, the same for all ranks.
///   std::cout << colligo::explain<double>(world, colligo::collective::all_reduce, 1000, std::plus<>{});
/// Times are prices of recorded schedules on a `typical` machine of messages, in seconds (core/machine.hpp): they
/// compare algorithms, and are missing above 32 ranks and for long schedules. Throws for an unknown name, as the call
/// would; describes an algorithm that the call would refuse. Cost: milliseconds. Collective over comm.
template <class T, communicator Comm, class Op, algorithm Algorithm = automatic>
  requires(!algorithm<Op>)
std::string explain(Comm const& comm, collective what, std::size_t n, Op const& op, Algorithm const& algorithm = {}) {
  detail::endpoint& at = state_of<Comm>::open(comm);
  detail::call const call = detail::call_in_question<T>(comm, what, n, op);
  auto const policies = detail::policies_of(what);
  try {
    chosen_algorithm const by = detail::for_collective(what, [&]<collective C>() -> chosen_algorithm {
      if constexpr (detail::is_decided_at_run_time<Algorithm> || offers<Algorithm, C, T, Op>)
        return detail::decide<C, T, Op>(at, call, algorithm);
      else
        throw algorithm_error(std::string(name_of(C)) + ": " + std::string(Algorithm::name) +
                              " has no form for this collective");
    });
    return detail::explaining<>::explained(at, call, &by, "", policies());
  } catch (algorithm_error const& e) {
    if constexpr (std::is_same_v<Algorithm, named>) throw;
    return detail::explaining<>::explained(at, call, nullptr, e.what(), policies());
  } catch (argument_error const& e) {   // a setting
    return detail::explaining<>::explained(at, call, nullptr, e.what(), policies());
  }
}
/// The same for collectives without a functor.
template <class T, communicator Comm, algorithm Algorithm = automatic>
std::string explain(Comm const& comm, collective what, std::size_t n, Algorithm const& algorithm = {}) {
  return colligo::explain<T>(comm, what, n, detail::no_functor{}, algorithm);
}

/// The choice of the latest call of this collective over comm, as a name with its transport, "direct@shared_memory";
/// empty if the library did not choose. Not collective.
template <communicator Comm>
std::string latest_choice(Comm const& comm, collective what) {
  return detail::explaining<>::latest_choice(state_of<Comm>::open(comm), what);
}

}  // namespace by_name

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "explaining_body.hpp"
#endif
