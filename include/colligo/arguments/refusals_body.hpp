// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of refusals.hpp.
#pragma once

#include <algorithm>

#include "../core/strings.hpp"
#include "../engine/kept_plans.hpp"
#include "../engine/communicator_state.hpp"
#include "../rules/run_body.hpp"
#include "refusals.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

[[noreturn, gnu::cold]] COLLIGO_BODY void refuse_because(refused const& its, std::string_view why) {
  std::string text = concat({where(its.state, its.what), why});
  if (its.name) text.replace(text.find(name_of(its.what)), name_of(its.what).size(), its.name);
  report_refusal(state_at(its.state), its.checked, text);
  throw argument_error(text);
}

[[gnu::cold]] COLLIGO_BODY void refuse_size(refused const& its, std::size_t is, std::size_t wanted,
                                            char const* which) {
  refuse_because(its, concat({which, " has ", with_number(is, "element"), ", expected ", wanted}));
}
[[gnu::cold]] COLLIGO_BODY void refuse_root(refused const& its, int root) {
  refuse_because(its, concat({"root ", root, " is not a rank, ranks are 0 to ", its.state.size() - 1}));
}
[[gnu::cold]] COLLIGO_BODY void refuse_overlap(refused const& its) {
  refuse_because(its, "input and output overlap; for one range that is both write in_place(range)");
}
[[gnu::cold]] COLLIGO_BODY void refuse_count(refused const& its, std::string const& count) {
  refuse_because(its, concat({"a count is negative: ", count}));
}
[[gnu::cold]] COLLIGO_BODY void refuse_empty_container(endpoint const& state, char const* note) {
  throw mismatch_error(concat({where(state, collective::broadcast), "the container is empty, the root's is not: "
                                 "broadcast(comm, colligo::resized(container), root) takes the root's size",
                                 *note ? " (" : "", note, *note ? ")" : ""}));
}

COLLIGO_BODY void number_blocks(refused const& its, blocks const& vector) {
  auto const& ends = its.state.offsets;
  if (!std::is_sorted(ends.begin(), ends.end()))
    refuse_because(its, "the sum of the counts is larger than any vector");
  distributions_of_state::number(state_at(its.state), vector);
}

[[gnu::cold]] COLLIGO_BODY void refuse_request(refused const& its) {
  report_refusal(state_at(its.state), its.checked, handled_reason());
}
[[gnu::cold]] COLLIGO_BODY void refuse_rest(refused const& its, std::uint32_t calls) {
  while (!its.checked && static_cast<std::int32_t>(calls - calls_of(its.state)) > 0) refuse_request(its);
}
COLLIGO_BODY std::uint32_t calls_of(endpoint& state) { return state_at(state).calls; }

}  // namespace colligo
