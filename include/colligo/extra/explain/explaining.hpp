// SPDX-License-Identifier: BSL-1.0
/// @file
/// explain: which algorithm a call would take, over what, who decided that, and why not another one. ../explain.hpp
/// has COLLIGO_EXPLAIN too.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>

#include "../../engine/port.hpp"
#include "../../plan/recorder.hpp"
#include "../../select/chosen.hpp"
#include "../../select/communicators.hpp"
#include "../../select/door.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// What is said of decisions.
template <class Lazy = void>
struct explaining {
  /// What explain() says; why there is no decision, if `trouble` says so.
  static std::string explained(endpoint& at, call const& its, decision const* by, std::string const& trouble,
                               policy_table const& texts);
  static std::string latest_choice(endpoint& at, collective what);
  /// A line on stderr, if there was none for such a call.
  static void explain_if_new(port_base& port, call const& its, decision const& by);
};

/// The decision for a tag that is no value of the catalogue.
template <class T, class Op, class Tag>
decision decide_pinned_for(collective what, Tag const& tag) {
  return for_collective(what, [&]<collective C>() -> decision {
    if constexpr (offers<Tag, C, T, Op>) return decide_pinned<C, Tag, T, Op>(tag);
    else throw algorithm_error(std::string(name_of(C)) + ": " + std::string(Tag::name) +
                               " has no form for this collective");
  });
}

template <class T, class Op, class Algorithm>
decision decide_explained(endpoint& at, call const& its, deciding<>::policies_of_collective texts,
                          Algorithm const& algorithm) {
  if constexpr (std::is_same_v<Algorithm, automatic>) return deciding<>::by_rules(at, its, texts);
  else if constexpr (std::is_same_v<Algorithm, named>) return deciding<>::by_name(at, its, algorithm.text(), texts);
  else if constexpr (std::is_same_v<Algorithm, chosen_algorithm>)
    return deciding<>::as_chosen(at, its, algorithm, texts);
  else if constexpr (decides_itself<Algorithm>)
    return for_collective(its.what, [&]<collective C>() -> decision {
      return algorithm.template decide<C, T, Op>(at, its, texts);
    });
  else return decide_pinned_for<T, Op>(its.what, algorithm);
}

}  // namespace detail

/// What a call of this collective with n elements of type T would do: the algorithm, its transport, who decided (the
/// program, the environment, the table of measurements, the papers' rules), its predicted time and the others', and why
/// the rest is excluded. Of collectives on blocks n is the length of one, the same for all ranks.
///   std::cout << colligo::explain<double>(world, colligo::collective::all_reduce, 1000, std::plus<>{});
/// Times are prices of recorded schedules on a `typical` machine of messages, in seconds (core/machine.hpp): they
/// compare algorithms, and are left out above 32 ranks and where schedules are long. Throws what the call would throw
/// for an unknown name; an algorithm that the call would refuse is explained. Cost: milliseconds. Collective over comm.
template <class T, communicator Comm, class Op, algorithm Algorithm = automatic>
  requires(!algorithm<Op>)
std::string explain(Comm const& comm, collective what, std::size_t n, Op const& op, Algorithm const& algorithm = {}) {
  detail::endpoint& at = port_of<Comm>::open(comm);
  std::size_t const blocks_of_n = has_blocks(what) ? static_cast<std::size_t>(at.size()) : 1;
  std::size_t const all = what == collective::barrier ? 2 : n * blocks_of_n;
  detail::call its{what, &detail::element_of<T, Op const>, port_of<Comm>::template wire<T, Op const, true>(), nullptr,
                   blocks{{0, all}, at.size()}, {}, {}};
  its.op = const_cast<Op*>(&op);
  auto const texts = detail::for_collective(
      what, []<collective C>() -> detail::deciding<>::policies_of_collective { return &detail::texts<C>; });
  try {
    auto const by = detail::decide_explained<T, Op>(at, its, texts, algorithm);
    return detail::explaining<>::explained(at, its, &by, "", texts());
  } catch (algorithm_error const& e) {
    if constexpr (std::is_same_v<Algorithm, named>) throw;
    return detail::explaining<>::explained(at, its, nullptr, e.what(), texts());
  }
}
/// The same for collectives without a functor.
template <class T, communicator Comm, algorithm Algorithm = automatic>
std::string explain(Comm const& comm, collective what, std::size_t n, Algorithm const& algorithm = {}) {
  return colligo::explain<T>(comm, what, n, detail::no_functor{}, algorithm);
}

/// What the latest call of this collective over comm has taken, as a name with its way, "direct@shared_memory"; empty
/// if it was not left to the library. Not collective.
template <communicator Comm>
std::string latest_choice(Comm const& comm, collective what) {
  return detail::explaining<>::latest_choice(port_of<Comm>::open(comm), what);
}

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "explaining_body.hpp"
#endif
