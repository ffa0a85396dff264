// SPDX-License-Identifier: BSL-1.0
/// @file
/// What messages between the groups of a level cost.
#pragma once

#include "everybody.hpp"
#include "nest.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// While all ranks exchange some there.
inline machine on_level(machine const& m, nest const& its, int level) {
  return m.at(its.how_far(level)).shared_by(its.largest(its.level_within(its.how_far(level))));
}

/// Those of a rank to so many others, or from them.
constexpr double one_way_messages(machine const& at, int others, double bytes) {
  return at.f_alpha * at.startups(others) + others * bytes * at.beta_uni();
}
/// One that others read where it lies, where they can.
constexpr double published_message(machine const& at, int others, double bytes) {
  return one_way_messages(at, at.fetched ? 1 : others, bytes);
}
/// So many parts exchange messages, each with each other.
constexpr double exchanged_messages(machine const& at, int parts, double bytes) {
  int const messages = turns(at, parts);
  return at.startups(messages) + messages * bytes * at.beta;
}

}  // namespace colligo::detail
