// SPDX-License-Identifier: BSL-1.0
/// @file
/// Checked mode: before a call begins the ranks check that all make the same one. Only bodies include this.
#pragma once

#include <string_view>

#include "../engine/port.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

enum class call_form;

/// Returns on all ranks if they make the same call, by the same algorithm over the same transport; otherwise throws
/// mismatch_error on all ranks. Nothing of the call has been sent by then. Collective over the port.
void agree_on(port_base& port, call const& its, choice const& by, call_form form);

/// Reports to the other ranks, which may wait for this one, that this rank's call is refused for this reason. In
/// checked mode, where it is collective over the port, the rank takes part in their comparison, so that they throw
/// mismatch_error. Returns.
void report_refusal(port_base& port, bool checked, std::string_view why);

}  // namespace colligo
