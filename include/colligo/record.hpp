// SPDX-License-Identifier: BSL-1.0
/// @file
/// record: returns the schedule of an algorithm, given by a tag (plan/recorder.hpp), a name, or a value
/// (chosen_algorithm). Needs no MPI.
#pragma once

#include "plan/price.hpp"
#include "plan/recorder.hpp"
#include "rules/chosen.hpp"
#include "rules/policies.hpp"
#include "rules/recorded.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// Records the steps of a rank by the library's compiled algorithms.
template <class T, class Algorithm>
auto steps_by_policy(Algorithm const& algorithm, collective what, int p, int root) {
  require_ranks_and_root(what, p, root);
  auto const by = [&]() -> choice {
    if constexpr (std::is_same_v<Algorithm, named>)
      return parse(policies_of(what)(), algorithm.text(), std::string(name_of(what)) + ": ");
    else return algorithm;
  }();
  return [by, what, p, root](int rank, blocks const& vector) {
    return recorded_rank(by, what, policies_of(what)(), sizeof(T), rank, p, vector, root);
  };
}

/// One of the library's algorithms, as a tag, a name or a value.
template <class Algorithm>
concept library_algorithm =
    in_catalogue<Algorithm> || std::is_same_v<Algorithm, named> || std::is_same_v<Algorithm, choice>;

}  // namespace detail

namespace by_name {

/// As record() in plan/recorder.hpp, for the library's algorithms, also by name, with knobs:
/// record(named("pipelined_ring:block=65536"), ...), or as a value. It runs the code of calls, which is compiled once
/// and not for each algorithm, except in constant expressions. Throws algorithm_error also for an unknown name.
template <class T = std::byte, algorithm Algorithm, detail::elements_or_counts N>
  requires detail::library_algorithm<Algorithm>
COLLIGO_CONSTEXPR schedule record(Algorithm const& algorithm, collective what, int p, N const& n, int root = 0) {
#if COLLIGO_HAS_CONSTEXPR_VECTORS
  if constexpr (detail::in_catalogue<Algorithm>)
    if (std::is_constant_evaluated())
      return detail::record_elements(what, p, n, detail::steps_by<T>(algorithm, what, p, root));
#endif
  return detail::record_elements(what, p, n, detail::steps_by_policy<T>(algorithm, what, p, root));
}

}  // namespace by_name

}  // namespace colligo
