// SPDX-License-Identifier: BSL-1.0
/// @file
/// Checked mode: before a call begins the ranks agree that all make the same one. For bodies alone.
#pragma once

#include <string_view>

#include "../engine/port.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

enum class call_form;

/// Returns on all ranks if they make the same call, by the same algorithm over the same transport; otherwise throws
/// mismatch_error on all of them. Nothing of the call has been sent by then. Collective over the port.
void agree_on(port_base& port, call const& its, choice const& by, call_form form);

/// For a rank whose call is refused, for this reason: the other ranks hear of it, who make this call and wait for this
/// one. In checked mode it takes part in what they agree on, so that they throw mismatch_error. Returns. Collective
/// over the port then.
void tell_of_refusal(port_base& port, bool checked, std::string_view why);

}  // namespace colligo
