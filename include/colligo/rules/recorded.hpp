// SPDX-License-Identifier: BSL-1.0
/// @file
/// The steps of a compiled algorithm on all ranks, as a schedule.
#pragma once

#include <cstddef>
#include <optional>

#include "../core/erased_policy.hpp"
#include "../engine/call.hpp"
#include "../plan/recorder.hpp"
#include "chosen.hpp"
#include "decide.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// A call that is described but not made: n elements, for collectives on blocks n of each block. Throws argument_error
/// if no process could address them.
template <class T, class Comm, class Op>
call call_in_question(Comm const& comm, collective what, std::size_t n, Op const& op) {
  int const p = state_of<Comm>::open(comm).size();
  constexpr std::size_t most = (std::size_t{1} << 47) / sizeof(T);
  if (n > most / static_cast<std::size_t>(has_blocks(what) ? p : 1))
    throw argument_error(concat({"colligo: a call of ", n, " elements is asked about, which no process can address"}));
  std::size_t const all = what == collective::barrier ? 2 : has_blocks(what) ? n * static_cast<std::size_t>(p) : n;
  return {what, &element_of<T, Op>, state_of<Comm>::template wire<T, Op, true>(), const_cast<Op*>(&op),
          blocks{{0, all}, p}, {}, {}};
}

/// None if the algorithm does not consist of steps, or issues more than `most_operands` operands.
std::optional<schedule> recorded_call(call const& call, choice const& by, topology const& known,
                                      std::size_t most_operands);

/// A rank's steps in one of the library's algorithms; element_size in bytes. Throws algorithm_error if it has no form
/// for the collective, argument_error if it is made for another number of ranks.
rank_steps recorded_rank(choice const& algorithm, collective what, policy_table const& policies,
                         std::size_t element_size, int rank, int p, blocks const& vector, int root);

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "recorded_body.hpp"
#endif
