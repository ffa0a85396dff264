// SPDX-License-Identifier: BSL-1.0
/// @file
/// COLLIGO_SUM=exact: sums of float and double by std::plus travel as exact_sum and are rounded once, at the end, in
/// calls whose algorithm the library chooses. Then their bits do not depend on algorithms, transports or the placement
/// of ranks.
#pragma once

#include "../engine/communicator_state.hpp"
#include "summing.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The functions of exact_summing.
struct sums_of_environment {
  static call as_exact(communicator_state& state, call const& call);
  static bool holds_for(communicator_state& state, call const& call, choice const& by);
  static void run(communicator_state& state, call const& asked, choice const& by,
                  void (*run)(communicator_state& state, call const& call, choice const& by));
  static call own(communicator_state& state, call const& rounded, owner<owned_by_request>& kept);
};

inline constexpr exact_summing sums_exactly{&sums_of_environment::as_exact, &sums_of_environment::holds_for,
                                            &sums_of_environment::run, &sums_of_environment::own};
inline bool const sums_may_be_exact = (sum_exactly = &sums_exactly, true);

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "sums_of_environment_body.hpp"
#endif
