// SPDX-License-Identifier: BSL-1.0
/// @file
/// adaptive: for calls that repeat. The first calls of a size class (powers of two, of bytes) take the candidates in
/// turn, and are timed; when each has been tried often enough the ranks agree once on what was measured, and stay with
/// the best.
///
///   for (...) colligo::all_reduce(world, in, out, std::plus<>{}, colligo::adaptive{});
///
/// ../adaptive.hpp has COLLIGO_ADAPTIVE too, the same for `automatic`.
#pragma once

#include <memory>
#include <string_view>

#include "../../select/door.hpp"
#include "../../select/named.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// What is measured and decided. A template, so that only units that ask for it compile it.
template <class Lazy = void>
struct adapting {
  static void run(endpoint& at, call const& its, policies_of_collective policies);
  /// The same for calls that are left to the library, unless the environment names an algorithm.
  static void run_for_automatic(endpoint& at, call const& its, policies_of_collective policies);
  /// What was decided for such calls; as long as nothing is, what `automatic` takes.
  static choice decide(endpoint& at, call const& its, policies_of_collective policies);

 private:
  struct size_class;
  static size_class& class_of(port_base& port, call const& its, policies_of_collective policies);
  static std::unique_ptr<size_class> new_class(port_base& port, call const& its, policy_table const& policies);
  static bool agree(port_base& port, size_class& its);
};

}  // namespace detail

/// Stands as the last argument of a collective. Which rank tries what, when, follows from the number of the call on its
/// communicator, which all ranks share, never from a clock: some calls in a row take one candidate, then others
/// another. Times are compared by an all_reduce of the rows' lower quartiles, the largest of any rank counts, and what
/// `automatic` takes is left only for what is 3 % quicker. Candidates, seven at most, are what `automatic` takes, the
/// MPI library's own, and those that are predicted to be quickest and give all ranks the same bits, one of those that
/// are predicted to take the same; with COLLIGO_BITS=stable that class alone.
/// Requests take what blocking calls have decided; in checked mode nothing is tried. Cost: about 600 calls of a class
/// up to 64 KiB, 300 of a longer one, some by slow algorithms, and a dozen small all_reduces; then looking it up.
/// Allocates nothing once it has decided.
struct adaptive {
  static constexpr std::string_view name = "adaptive";
  static constexpr bool decides_itself = true;

  template <collective, class, class, class>
  static constexpr void check() {}
  template <collective, class, class>
  detail::choice decide(detail::endpoint& port, detail::call const& its,
                        detail::policies_of_collective policies) const {
    return detail::adapting<>::decide(port, its, policies);
  }
  template <class Lazy = void>
  void run(detail::endpoint& port, detail::call const& its, detail::policies_of_collective policies) const {
    detail::adapting<Lazy>::run(port, its, policies);
  }
};

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "adapting_body.hpp"
#endif
