// SPDX-License-Identifier: BSL-1.0
/// @file
/// Writes the logs of tracer.hpp in Chrome's trace event format, which https://ui.perfetto.dev opens, or as an SVG
/// timeline, which any browser shows. One row per rank, with a lane for each call of those that overlap; boxes for
/// calls and, in them, steps; an arrow for each message.
#pragma once

#include <iosfwd>
#include <span>
#include <vector>

#include "tracer.hpp"

namespace colligo::inline COLLIGO_MODE {

/// A message that was sent in one row's step and received in another's.
struct traced_message {
  int from, to;   ///< rows
  trace_event sent, received;
};

/// Within a call, the k-th send between two ranks meets the k-th receive (law 5). Messages with a dropped end are
/// missing.
std::vector<traced_message> messages_of(std::span<trace_log const> logs);

/// Chrome's trace event format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
void write_chrome_trace(std::ostream& out, std::span<trace_log const> logs);

/// An SVG timeline. Boxes and arrows have tooltips.
void write_timeline(std::ostream& out, std::span<trace_log const> logs);

}  // namespace colligo

#if COLLIGO_HAS_REST
#include "trace_file_body.hpp"
#endif
