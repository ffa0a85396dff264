// SPDX-License-Identifier: BSL-1.0
/// @file
/// Calls whose arguments are refused: the errors, and what the other ranks are told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "../engine/call.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// A call that is refused.
struct refused {
  endpoint& state;
  collective what;
  bool checked;   ///< the ranks compare their calls
  char const* name = nullptr;   ///< of the user's call, if it is not the collective's
  bool is_call = true;   ///< false: other ranks make none here, and are not told
};
// These throw, before anything has been written. refuse_length is for collectives with blocks, in lengths_body.hpp.
[[noreturn]] void refuse_size(refused const& refusal, std::size_t is, std::size_t wanted, char const* which);
[[noreturn]] void refuse_length(refused const& refusal, std::size_t is, std::size_t wanted, char const* which);
[[noreturn]] void refuse_root(refused const& refusal, int root);
[[noreturn]] void refuse_overlap(refused const& refusal, bool is_one_range);
[[noreturn]] void refuse_null(refused const& refusal, char const* which, std::size_t n);
[[noreturn]] void refuse_because(refused const& refusal, std::string_view why);
[[noreturn]] void refuse_count(refused const& refusal, std::string const& count);
// Also throws: the call has ended with this error.
[[noreturn]] void refuse_empty_container(endpoint const& state, char const* note);
/// Sets the number and the lengths of the state's offsets, which are new. Throws if they overflow. In counts_body.hpp.
void number_blocks(refused const& refusal, blocks const& vector);
/// In units that make calls with counts: their plans are kept, and the counts that two ranks alone know compared.
#if COLLIGO_HAS_BODIES
template <class Lazy>
void set_hooks_of_counts();   // counts_body.hpp
#else
template <class Lazy>
void set_hooks_of_counts() {}   // the compiled library has set them
#endif
/// Reports to the other ranks, which may wait for this one, that its call fails by the exception that is being handled.
void refuse_request(refused const& refusal);
/// The number of calls on this rank so far, in checked mode of those that ranks have compared.
std::uint32_t calls_of(refused const& refusal);
/// Refuses those of the n calls after the first `before` that have not been made. In checked mode all ranks fail at the
/// same call: refuses the next one, unless what was compared is why they fail.
void refuse_rest(refused const& refusal, std::uint32_t before, std::uint32_t n);

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "../core/strings.hpp"
#include "../engine/communicator_state.hpp"
#include "../rules/run_body.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

[[gnu::cold]] COLLIGO_BODY void refuse_because(refused const& refusal, std::string_view why) {
  std::string text = concat({where(refusal.state, refusal.what), why});
  if (refusal.name) text.replace(text.find(name_of(refusal.what)), name_of(refusal.what).size(), refusal.name);
  if (refusal.is_call) report_refusal(state_at(refusal.state), refusal.checked, text);
  throw argument_error(text);
}

[[gnu::cold]] COLLIGO_BODY void refuse_size(refused const& refusal, std::size_t is, std::size_t wanted,
                                            char const* which) {
  refuse_because(refusal, concat({which, " has ", with_number(is, "element"), ", expected ", wanted,
                                  refusal.what == collective::reduce && is == 0 ? ": the root gets the result" : ""}));
}
[[gnu::cold]] COLLIGO_BODY void refuse_root(refused const& refusal, int root) {
  refuse_because(refusal, concat({"root ", root, " is not a rank, ranks are 0 to ", refusal.state.size() - 1}));
}
[[gnu::cold]] COLLIGO_BODY void refuse_overlap(refused const& refusal, bool is_one_range) {
  refuse_because(refusal, !is_one_range ? "input and output overlap" : refusal.name ? "input and output overlap: "
      "give it a range of its own" : "input and output overlap; for one range that is both write in_place(range)");
}
[[gnu::cold]] COLLIGO_BODY void refuse_null(refused const& refusal, char const* which, std::size_t n) {
  refuse_because(refusal, concat({which, " is a null pointer, expected ", with_number(n, "element")}));
}
[[gnu::cold]] COLLIGO_BODY void refuse_count(refused const& refusal, std::string const& count) {
  refuse_because(refusal, concat({"a count is negative: ", count}));
}
[[gnu::cold]] COLLIGO_BODY void refuse_empty_container(endpoint const& state, char const* note) {
  throw mismatch_error(concat({where(state, collective::broadcast), "the container is empty, the root's is not: "
                                 "broadcast(comm, colligo::resized(container), root) takes the root's size",
                                 *note ? " (" : "", note, *note ? ")" : ""}));
}

[[gnu::cold]] COLLIGO_BODY void refuse_request(refused const& refusal) {
  report_refusal(state_at(refusal.state), refusal.checked, handled_reason());
}
[[gnu::cold]] COLLIGO_BODY void refuse_rest(refused const& refusal, std::uint32_t before, std::uint32_t n) {
  auto left = static_cast<int>(before + n - calls_of(refusal));   // differences, because numbers come again
  if (refusal.checked) left = left > 0 && static_cast<int>(state_at(refusal.state).differed - before) <= 0;
  while (left-- > 0) refuse_request(refusal);
}
COLLIGO_BODY std::uint32_t calls_of(refused const& refusal) {
  communicator_state const& state = state_at(refusal.state);
  return refusal.checked ? state.compared : state.calls;
}

}  // namespace colligo
#endif
