// SPDX-License-Identifier: BSL-1.0
/// @file
/// What messages between the groups of a level cost.
#pragma once

#include <cstddef>

#include "everybody.hpp"
#include "nest.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// While all ranks exchange some at that distance.
inline machine at_distance(machine const& m, nest const& its, distance far) {
  return m.at(far).shared_by(its.largest(its.level_within(far)));
}
inline machine on_level(machine const& m, nest const& its, int level) {
  return at_distance(m, its, its.how_far(level));
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
/// So many parts in a round of `other`, its for_whole() or for_slices(): near and far ones across a level's borders.
/// What others fetch has been copied for them.
inline double messages_of_round(machine const& m, nest const& its, nest const& other, int level, int parts,
                                double bytes, bool combines, double copied) {
  distance const far = other.how_far(level);
  if (far == distance::network || !m.at(far).fetched)
    return exchanged_messages(at_distance(m, its, far), parts, bytes) + combines * (parts - 1) * m.combine(bytes);
  reads busiest = other.busiest_at(level);
  auto const at = static_cast<std::size_t>(far);
  if (busiest.none()) busiest.messages[at] = parts - 1, busiest.sharing[at] = its.largest(its.level_within(far));
  return copied * m.at(far).own.copied + wait_for(m.levels, busiest, bytes, combines ? m.gamma : 0);
}

}  // namespace colligo::detail
