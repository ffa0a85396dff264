// SPDX-License-Identifier: BSL-1.0
/// @file
/// A rank's state while all ranks collect vectors and combine them early: the combinations of dyadic intervals of
/// places, x 2^l .. (x + 1) 2^l - 1, each in a slot of its own beyond the vector. grouped_doubling.hpp has the card.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>

#include "../core/renumbered.hpp"
#include "../core/step.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The places place .. place + size - 1; size is a power of two and divides place.
struct dyadic {
  int place, size;

  constexpr int end() const { return place + size; }
  /// The two can merge to one that is twice as large.
  constexpr bool precedes(dyadic const& next) const {
    return size == next.size && end() == next.place && place % (2 * size) == 0;
  }
};

/// The largest dyadic interval that begins at `place` and does not end beyond `last`.
constexpr dyadic longest_dyadic(int place, int last) {
  auto const room = static_cast<int>(std::bit_floor(static_cast<unsigned>(last - place)));
  return {place, place == 0 ? room : std::min(room, place & -place)};
}

/// The most intervals that cover 2^k consecutive places of a ring.
constexpr int most_segments(int k) { return std::max(k + 1, 2 * k - 1); }

/// The most intervals that a rank of m has at a time, with those just received.
constexpr std::size_t most_slots(int m) { return 2 * static_cast<std::size_t>(most_segments(floor_lg(m))); }

/// The most that it receives, or combines, in all.
constexpr int most_received(int m) {
  int all = 0;
  for (int k = 0; 2 << k <= m; ++k) all += most_segments(k);
  int const left = m - floor_power_of_two(m);   // in the last round
  return left == 0 ? all : all + std::min(left, 2 * floor_lg(left) + 1);
}

/// The rank at place `me` of `step`, and the places that it has: me, me + 1 ... of the ring, in this order.
template <steps Step>
class dyadic_intervals {
 public:
  constexpr dyadic_intervals(Step& step, range all) : step_(step), all_(all), known_{{{step.rank(), 1}}} {
    step_(copy{all, slot(0)});
  }

  /// It has c places; this adds the c after them, or the rest of the ring.
  constexpr void exchange(int c) {
    int const p = step_.size(), me = step_.rank(), from = (me + c) % p, wanted = std::min(c, p - c);
    int sent = 0, received = count_;
    for (int covered = 0; covered < wanted; ++sent) covered += known_[at(sent)].size;
    for (int covered = 0; covered < wanted; ++received) {
      int const place = from + covered, end = from + c;   // of a ring that is cut open before 0
      known_[at(received)] = place < p ? longest_dyadic(place, std::min(end, p)) : longest_dyadic(place - p, end - p);
      covered += known_[at(received)].size;
    }
    step_(send{(me - c + p) % p, slot_range(0, sent)}, recv{from, slot_range(count_, received)});
    combine_neighbours(received);
  }

  /// It has all places: combines them into the vector, in order.
  constexpr void finish() {
    int const wrap = static_cast<int>(
        std::find_if(known_.begin(), known_.begin() + count_, [](dyadic const& d) { return d.place == 0; }) -
        known_.begin());
    // In the order of places: wrap .. last, then first .. wrap - 1.
    int first = 0, last = count_ - 1;
    while (first < wrap && known_[at(first)].place < known_[at(last)].end()) ++first;   // it has them twice
    for (; first < wrap && known_[at(last)].precedes(known_[at(first)]); ++first) {
      absorb(last, first);
      for (; last > wrap && known_[at(last - 1)].precedes(known_[at(last)]); --last) absorb(last - 1, last);
    }
    step_(copy{slot(wrap), all_});
    for (int i = wrap + 1; i <= last; ++i) step_(merge{slot(i), all_, merge::side::right});
    for (int i = first; i < wrap; ++i) step_(merge{slot(i), all_, merge::side::right});
  }

 private:
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }
  constexpr range slot_range(int first, int last) const {
    return {all_.last + at(first) * all_.size(), all_.last + at(last) * all_.size()};
  }
  constexpr range slot(int i) const { return slot_range(i, i + 1); }

  constexpr void absorb(int into, int from) {
    step_(merge{slot(from), slot(into), merge::side::right});
    known_[at(into)].size *= 2;
  }
  // The intervals before count_ can not merge any further.
  constexpr void combine_neighbours(int total) {
    for (int i = count_; i < total; ++i) {
      if (known_[at(count_ - 1)].precedes(known_[at(i)])) {
        absorb(count_ - 1, i);
      } else {
        known_[at(count_)] = known_[at(i)];
        if (count_ != i) step_(copy{slot(i), slot(count_)});
        ++count_;
      }
      for (; count_ > 1 && known_[at(count_ - 2)].precedes(known_[at(count_ - 1)]); --count_)
        absorb(count_ - 2, count_ - 1);
    }
  }

  Step& step_;
  range all_;
  std::array<dyadic, most_slots(std::numeric_limits<int>::max())> known_;
  int count_ = 1;
};

}  // namespace colligo
