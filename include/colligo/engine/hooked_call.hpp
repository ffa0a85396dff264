// SPDX-License-Identifier: BSL-1.0
/// @file
/// A tool's two functions, called when a call begins and when it ends (hook.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "../core/policy.hpp"

namespace colligo::inline COLLIGO_MODE {

/// A call on one rank, as tools see it.
struct hooked_call {
  collective what;
  std::string_view algorithm;   ///< its name, valid as long as the program runs
  std::size_t bytes;            ///< of this rank's input or output, the longer of the two
  void const* communicator;     ///< another pointer for each communicator of this rank
  int rank, size;               ///< of the communicator
  bool is_request;              ///< begins when it is started, ends when wait or test has seen it complete
};

/// Calls that are no requests end in the order in which a thread began them, the latest first. The functions throw
/// nothing and make no calls. end() gets what begin() has returned.
struct call_hook {
  std::uintptr_t (*begin)(hooked_call const& call);
  void (*end)(hooked_call const& call, std::uintptr_t begun);
};

namespace detail {
inline call_hook const* hook_of_calls = nullptr;
}

}  // namespace colligo
