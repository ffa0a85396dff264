// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of refusals.hpp for lengths in collectives with a block for each rank.
#pragma once

#include "../core/strings.hpp"
#include "refusals.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The length that is expected of a range, and why.
[[gnu::cold]] inline std::string expected_length(refused const& refusal, std::size_t is, std::size_t wanted,
                                                 std::string_view which) {
  using enum collective;
  collective const c = refusal.what;
  auto const p = static_cast<std::size_t>(refusal.state.size());
  bool const in_place = which == "the range in place";
  bool const gathers = c == all_gather || c == all_gatherv || c == gather || c == gatherv;
  bool const is_own = c != all_to_all && which == (gathers ? "the input" : "the output");
  bool const is_whole = in_place || (!is_own && (which == "the input" || which == "the output"));
  std::string const expected = concat({", expected ", wanted});
  if (refusal.name != nullptr) return expected;
  if (has_counts(c) && is_own) return concat({expected, ", which is counts[", refusal.state.rank(), "]"});
  if (has_counts(c) || has_own_counts(c) || !is_whole) return expected;
  if (in_place || (c == all_to_all && which == "the input" && wanted == is - is % p))
    return concat({", expected a multiple of ", p, ", the number of ranks",
                   in_place ? ": in place it has room for the blocks of all" : ""});
  return concat({expected, ", ", wanted / p, " for each of ", p, " ranks"});
}
[[gnu::cold]] COLLIGO_BODY void refuse_length(refused const& refusal, std::size_t is, std::size_t wanted,
                                              char const* which) {
  refuse_because(refusal, concat({which, " has ", with_number(is, "element"),
                                  expected_length(refusal, is, wanted, which)}));
}

}  // namespace colligo
