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
// These throw, before anything has been written.
[[noreturn]] void refuse_size(refused const& refusal, std::size_t is, std::size_t wanted, char const* which);
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
/// The number of calls on this rank so far.
std::uint32_t calls_of(endpoint& state);
/// Refuses calls until their number is `calls`; none in checked mode, where all ranks fail at the same call.
void refuse_rest(refused const& refusal, std::uint32_t calls);

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "refusals_body.hpp"
#endif
