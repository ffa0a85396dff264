// SPDX-License-Identifier: BSL-1.0
/// @file
/// Counts and prices, also at compile time. counter runs an algorithm for one rank and keeps only totals; price gives
/// the seconds of a recorded schedule.
#pragma once

#include <cstddef>

#include "recorder.hpp"

namespace colligo::inline COLLIGO_MODE {

/// The operations of one rank. Elements, not bytes.
class counter {
 public:
  constexpr counter(int rank, int size) : rank_(rank), size_(size) {}

  constexpr int rank() const { return rank_; }
  constexpr int size() const { return size_; }

  template <class... Operands>
  constexpr void operator()(Operands... operands) {
    bool something = false;
    ((something |= count(operands)), ...);
    steps_ += something;
  }
  template <operand_list List>
  constexpr void operator()(List const& list) {
    bool something = false;
    for (std::size_t i = 0; i < list.size(); ++i) something |= count(list[i]);
    steps_ += something;
  }

  constexpr int steps() const { return steps_; }                            ///< steps in which it takes part
  constexpr std::size_t messages() const { return messages_; }              ///< messages that it sends
  constexpr std::size_t elements_sent() const { return sent_; }
  constexpr std::size_t elements_folded() const { return folded_; }

 private:
  constexpr bool count(operand o) {
    if (o.merges()) folded_ += o.combined();
    if (o.vanishes()) return false;
    if (o.sends()) ++messages_, sent_ += o.elements.size();
    folded_ += o.combined();
    return true;
  }

  int rank_, size_;
  int steps_ = 0;
  std::size_t messages_ = 0, sent_ = 0, folded_ = 0;
};

static_assert(steps<counter>);

namespace detail {

// One link out and one link in per rank: the messages of a step queue for them, and all start-ups but the first may
// overlap.
struct seconds_clock {
  static constexpr bool one_port = true;
  machine m;
  double bytes_per_element;
  constexpr double transfer(std::size_t n, bool both_ways, bool further) const {
    double const bytes = static_cast<double>(n) * bytes_per_element;
    return both_ways ? m.exchange(bytes, further) : m.one_way(bytes, further);
  }
  constexpr double combine(std::size_t n) const { return m.combine(static_cast<double>(n) * bytes_per_element); }
  constexpr double alone(own_work const& its) const { return m.alone(its, bytes_per_element); }
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

}  // namespace colligo
