// SPDX-License-Identifier: BSL-1.0
/// @file
/// The cost of messages between the groups of a level.
#pragma once

#include <cstddef>

#include "everybody.hpp"
#include "../topology/hierarchy.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The cost of messages at that distance while all ranks exchange some.
inline machine at_distance(machine const& m, hierarchy const& groups, distance far) {
  return m.at(far).shared_by(groups.largest(groups.level_within(far)));
}
inline machine on_level(machine const& m, hierarchy const& groups, int level) {
  return at_distance(m, groups, groups.how_far(level));
}

/// Messages of a rank to `others` ranks, or from them.
constexpr double one_way_messages(machine const& at, int others, double bytes) {
  return at.f_alpha * at.startups(others) + others * bytes * at.beta_uni();
}
/// One message to `others` ranks, which read it in the sender's memory where they can.
constexpr double published_message(machine const& at, int others, double bytes) {
  return one_way_messages(at, at.fetched ? 1 : others, bytes);
}
/// Each of `parts` parts exchanges a message with each other one.
constexpr double exchanged_messages(machine const& at, int parts, double bytes) {
  int const messages = turns(at, parts);
  return at.startups(messages) + messages * bytes * at.beta;
}
/// A round of `other`, which is groups.for_whole() or for_slices(), in which `parts` parts exchange messages, near and
/// far ones where it joins groups of several levels. `copied`: bytes copied first, for other ranks to fetch.
inline double messages_of_round(machine const& m, hierarchy const& groups, hierarchy const& other, int level, int parts,
                                double bytes, bool combines, double copied) {
  distance const far = other.how_far(level);
  if (far == distance::network || !m.at(far).fetched)
    return exchanged_messages(at_distance(m, groups, far), parts, bytes) + combines * (parts - 1) * m.combine(bytes);
  reads busiest = other.busiest_at(level);
  auto const at = static_cast<std::size_t>(far);
  if (busiest.none()) busiest.messages[at] = parts - 1, busiest.sharing[at] = groups.largest(groups.level_within(far));
  return copied * m.at(far).own.copied + wait_for(m.levels, busiest, bytes, combines ? m.gamma : 0);
}

}  // namespace colligo
