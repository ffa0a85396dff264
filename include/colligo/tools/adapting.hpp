// SPDX-License-Identifier: BSL-1.0
/// @file
/// adaptive: for calls that repeat. The first calls of a size class (powers of two, of bytes) try the candidates in
/// turn and are timed. When each has been tried often enough the ranks compare their times once, and keep the best.
///
///   for (...) colligo::all_reduce(world, in, out, std::plus<>{}, colligo::adaptive{});
///
/// ../adaptive.hpp adds COLLIGO_ADAPTIVE, which does the same for `automatic`.
#pragma once

#include <string_view>

#include "../arguments/call_arguments.hpp"
#include "../rules/policies.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// Measures and decides. A template, so only units that use it compile it.
template <class Lazy = void>
struct adapting {
  static void run(endpoint& at, call const& asked, policies_of_collective policies);
  /// The same for calls without an algorithm, unless the environment names one.
  static void run_for_automatic(endpoint& at, call const& asked, policies_of_collective policies);
  /// The decision for such calls; until there is one, the choice of `automatic`.
  static choice decide(endpoint& at, call const& call, policies_of_collective policies);

 private:
  struct size_class;
  static size_class& class_of(communicator_state& state, call const& call, policies_of_collective policies);
  static owner<size_class> new_class(communicator_state& state, call const& asked, policy_table const& policies);
  static bool agree(communicator_state& state, size_class& size);
};

}  // namespace detail

/// The last argument of a collective. The number of the call on its communicator, which is the same on all ranks,
/// decides which candidate a call tries, never a clock: some calls in a row try one candidate, the next ones another.
/// The ranks compare the lower quartiles of rows by an all_reduce; the largest of any rank counts, and the choice of
/// `automatic` is replaced only by a candidate that is 3 % faster. There are at most seven candidates: the choice of
/// `automatic`, the MPI library's own, and the fastest by prediction that give all ranks the same bits, one of those
/// with equal predictions; with COLLIGO_BITS=stable only that class.
/// Requests use the decision of blocking calls; checked mode tries nothing. Cost: about 600 calls of a class up to 64
/// KiB, 300 of a longer one, some by slow algorithms, and a dozen small all_reduces; afterwards a look-up, which
/// allocates nothing.
struct adaptive {
  static constexpr std::string_view name = "adaptive";
  static constexpr bool decides_itself = true;

  template <collective, class, class, class>
  static constexpr void check() {}
  template <collective, class, class>
  detail::choice decide(detail::endpoint& state, detail::call const& call,
                        detail::policies_of_collective policies) const {
    return detail::adapting<>::decide(state, call, policies);
  }
  template <class Lazy = void>
  void run(detail::endpoint& state, detail::call const& asked, detail::policies_of_collective policies) const {
    detail::adapting<Lazy>::run(state, asked, policies);
  }
};

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "adapting_body.hpp"
#endif
