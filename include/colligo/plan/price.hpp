// SPDX-License-Identifier: BSL-1.0
/// @file
/// price: the seconds of a recorded schedule, without levels also at compile time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "recorder.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

// One link out and one link in per rank: the messages of a step queue for them, and all start-ups but the first may
// overlap.
struct seconds_clock : own_ways {
  static constexpr bool one_port = true;
  machine m;
  double bytes_per_element;
  constexpr seconds_clock(machine const& of, double per_element) : m(of), bytes_per_element(per_element) {}
  constexpr double transfer(message const& message, bool both_ways, bool further) const {
    double const bytes = static_cast<double>(message.sent.elements.size()) * bytes_per_element;
    return both_ways ? m.exchange(bytes, further) : m.one_way(bytes, further);
  }
  constexpr double combine(std::size_t n) const { return m.combine(static_cast<double>(n) * bytes_per_element); }
  constexpr double alone(own_work const& work) const { return m.alone(work, bytes_per_element); }
};

// The costs of each distance. A group of ranks shares `ways` links out and as many in. A message occupies a link out of
// the largest group of ranks that are nearer to its sender than its receiver is, and a link into the receiver's group,
// for as long as a further message takes.
template <class Nest>
class clock_by_level : public seconds_clock {
 public:
  clock_by_level(machine const& of, double per_element, Nest const& levels)
      : seconds_clock(of, per_element), levels_(&levels) {}

  machine const& between(message const& message) const { return m.at(levels_->how_far(message.from, message.to)); }
  double transfer(message const& message, bool both_ways, bool further) const {
    return seconds_clock(between(message), bytes_per_element).transfer(message, both_ways, further);
  }
  bool fetches(message const& message) const { return between(message).fetched; }
  double free_at(message const& message) {
    return between(message).ways == 0 ? 0 : std::max(*first_free(message, true), *first_free(message, false));
  }
  void take(message const& message, double start) {
    if (between(message).ways == 0) return;
    double const busy = transfer(message, true, true) - (fetches(message) ? between(message).alpha_further() : 0);
    for (bool const out : {true, false}) *first_free(message, out) = start + busy;
  }

 private:
  std::vector<double>::iterator first_free(message const& message, bool out) {
    distance const far = levels_->how_far(message.from, message.to);
    auto const group =
        levels_->group_at(levels_->level_within(far), levels_->place_of(out ? message.from : message.to));
    int const of_distance = group.first * distances + static_cast<int>(far);
    auto const place = 2 * static_cast<std::size_t>(of_distance) + out;
    if (place >= free_.size()) free_.resize(place + 1);
    auto& ways = free_[place];
    ways.resize(static_cast<std::size_t>(between(message).ways));
    return std::min_element(ways.begin(), ways.end());
  }

  Nest const* levels_;
  std::vector<std::vector<double>> free_;   // of each link of a group: by its first rank, the distance, out or in
};

}  // namespace detail

/// Seconds until the last rank is done on this machine, with each rank's own work if that has a cost: its arithmetic
/// before its first message, its copies and merges at their place. A message occupies its sender's link out and its
/// receiver's link in. It begins when both have reached the step and both links are free. It counts as bi-directional
/// if either end's step also goes the other way, and as a further one if the link that is free last has been used in
/// this step.
template <class Clock = detail::seconds_clock>
constexpr double price(schedule const& s, machine const& m, double bytes_per_element = 1) {
  return s.play(Clock{m, bytes_per_element});
}
/// The same with the costs of each distance (machine::levels) for ranks that are as far apart as a hierarchy says.
template <class Nest>
double price(schedule const& s, machine const& m, double bytes_per_element, Nest const& levels) {
  return s.play(detail::clock_by_level<Nest>(m, bytes_per_element, levels));
}

}  // namespace colligo
