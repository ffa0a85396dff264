// SPDX-License-Identifier: BSL-1.0
/// @file
/// Linear ring: the folklore all_gather, in which whole blocks go round the ring.
/// Picture  p = 3   round 1: 0 sends A to 1, 1 sends B to 2, 2 sends C to 0   round 2: each passes on what it received
/// Cost     (p-1) alpha + (n - n/p) beta for even blocks, equal to the recorded schedule where p divides n; for uneven
///          ones the longest block sets the pace of each of the p - 1 rounds
/// Needs    any p, any counts
/// Order    nothing is combined
/// Prefer   long even blocks.   Avoid: uneven blocks (see pipelined_ring), short ones (see circulant)
/// Source   Traff et al., A Pipelined Algorithm for Large, Irregular All-gather Problems, section 2.1
#pragma once

#include "ring.hpp"

namespace colligo::inline COLLIGO_MODE {

struct linear_ring {
  static constexpr std::string_view name = "linear_ring";

  template <class T>
  struct all_gatherv : ring::all_gatherv<T> {};
};

}  // namespace colligo
