// SPDX-License-Identifier: BSL-1.0
/// @file
/// Dissemination: a barrier in which every rank signals the rank d above, d = 1, 2, 4 ...
/// Picture  p = 5   round 1: r -> r+1   round 2: r -> r+2   round 3: r -> r+4
/// Cost     ceil(lg p) messages of one byte, equal to the recorded schedule for every p
/// Needs    any p
/// Order    nothing is combined
/// Prefer   over messages always
/// Source   D. Hensgen, R. Finkel, U. Manber, Two algorithms for barrier synchronization, 1988
#pragma once

#include <string_view>

#include "../core/renumbered.hpp"

namespace colligo::inline COLLIGO_MODE {

struct dissemination {
  static constexpr std::string_view name = "dissemination";

  struct barrier {
    template <steps Step>
    constexpr void operator()(Step& step) const {
      int const p = step.size(), me = step.rank();
      for (int d = 1; d < p; d *= 2) step(send{(me + d) % p, range{0, 1}}, recv{(me - d + p) % p, range{1, 2}});
    }

    static constexpr double cost(machine const& m, int p, std::size_t) { return ceil_lg(p) * m.exchange(1); }
  };
};

}  // namespace colligo
