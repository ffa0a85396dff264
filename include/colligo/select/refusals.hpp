// SPDX-License-Identifier: BSL-1.0
/// @file
/// Calls whose arguments are refused: the errors, and what the other ranks are told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../engine/call.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// A call that is refused.
struct refused {
  endpoint& port;
  collective what;
  bool checked;   ///< the ranks compare their calls
};
// These throw, before anything has been written.
[[noreturn]] void refuse_size(refused const& its, std::size_t is, std::size_t wanted, char const* which);
[[noreturn]] void refuse_root(refused const& its, int root);
[[noreturn]] void refuse_overlap(refused const& its);
[[noreturn]] void refuse_count(refused const& its, std::string const& count);
// Also throws: the call has ended with this error.
[[noreturn]] void refuse_empty_container(endpoint const& port, char const* note);
/// Sets the number and lengths of the port's offsets, which are new (kept_plans.hpp), unless their sum is too large.
void number_blocks(refused const& its, blocks const& vector);
/// Reports a request that can not be made because of the exception that is being handled: ranks that start theirs wait
/// for it.
void refuse_request(refused const& its);
/// The calls on this rank so far, and refusals of all that are missing to so many. In checked mode ranks fail together.
std::uint32_t calls_of(endpoint& port);
void refuse_rest(refused const& its, std::uint32_t calls);

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "refusals_body.hpp"
#endif
