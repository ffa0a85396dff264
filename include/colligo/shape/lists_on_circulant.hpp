// SPDX-License-Identifier: BSL-1.0
/// @file
/// The all_gatherv and the reduce_scatter of pipelined_circulant.hpp, which has the card: lists as messages, and the
/// number of segments.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "../core/machine.hpp"
#include "../core/step.hpp"
#include "circulant_lists.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The volume on the longest path: `least` bytes, which some rank has to receive in any case, and an N-th of `excess`
/// if data is cut into N segments. The excess is circulant's additional volume: it moves whole blocks, and its rounds
/// wait for the longest message. Only some stretches of 16 blocks and more are looked at, so the longest one may be
/// underestimated by up to an eighth of its blocks. Short stretches among many ranks count as the longest possible.
/// Looks at 1024 places at most beside the blocks' lengths.
struct circulant_volume {
  int rounds;
  double least, excess;

  circulant_volume(blocks const& of_rank, std::size_t element_size) : rounds(ceil_lg(of_rank.parts)) {
    int const p = of_rank.parts;
    std::size_t const longest = of_rank.longest();
    std::size_t all = 0, most = of_rank.whole.size();
    for (int k = 0; k < rounds; ++k) {
      int const length = circulant_skip(p, k) - circulant_skip(p, k + 1);
      most = length >= p / 64 ? of_rank.most_in_a_row(length, std::max(1, length / 8))
                              : std::min(most, static_cast<std::size_t>(length) * longest);
      all += most;
    }
    least = static_cast<double>((of_rank.whole.size() - of_rank.shortest()) * element_size);
    excess = static_cast<double>(all * element_size) - least;
  }

  /// `per_byte`: beta, or beta and gamma.
  double best_segment_count(double alpha, double per_byte) const {
    return std::max(1.0, std::round(std::sqrt(excess * per_byte / alpha)));
  }
  double time(double alpha, double per_byte, double segments) const {
    return (rounds - 1 + segments) * alpha + (least + excess / segments) * per_byte;
  }
};

/// Data so short that no distribution is worth cutting, so the distribution need not be looked at.
inline bool are_not_cut(blocks const& of_rank, std::size_t element_size, double alpha, double per_byte) {
  double const most = static_cast<double>(of_rank.whole.size() * element_size) * ceil_lg(of_rank.parts);   // excess
  return most * per_byte < 2.25 * alpha;   // the root is rounded to 1
}

/// Steps for data that are cut: where their rank is, for each of q distances, and what goes in each of q rounds.
constexpr double steps_for_data(double q) { return (8 * q + 20) * q; }

/// Segments of at most `block` bytes, or the best number; but none so short that finding and copying it costs more than
/// it gains.
inline circulant_cut cut_for_lists(blocks const& of_rank, std::size_t element_size, std::size_t block,
                                   double per_byte) {
  double const to_find = steps_for_data(ceil_lg(of_rank.parts)) * typical.own.step / typical.beta;
  auto const least_segment = static_cast<std::size_t>(std::max(4096.0, to_find));   // bytes
  if (block == 0 && are_not_cut(of_rank, element_size, typical.alpha, per_byte)) return {1, 1};
  std::size_t const longest = std::max<std::size_t>(1, of_rank.longest());
  double const wanted =
      block != 0 ? std::ceil(static_cast<double>(longest * element_size) / static_cast<double>(block))
                 : circulant_volume(of_rank, element_size).best_segment_count(typical.alpha, per_byte);
  auto const segments = static_cast<std::size_t>(std::min({wanted, static_cast<double>(longest), 1e9}));
  std::size_t const each = (longest + segments - 1) / segments;
  return {segments, std::clamp<std::size_t>(least_segment / element_size, 1, each)};
}

/// Elements beyond the vector: messages sent and received packed.
inline std::size_t room_for_lists(blocks const& of_rank, circulant_cut const& cut) {
  return 2 * longest_list(of_rank, cut);
}

/// Steps of `ranks` ranks' cut data in q rounds.
inline double steps_for_cut(double p, double q, double ranks) {
  return std::min(30 * q * ranks, 47 * ranks + 25 * p) * q;
}
/// The same at least, from the sum of the blocks.
inline double least_steps_for_cut(blocks const& of_rank, circulant_cut const& cut) {
  if (!cuts_some(of_rank, cut)) return 0;
  double const n = static_cast<double>(of_rank.whole.size()), least = static_cast<double>(cut.least);
  double const ranks = (n - of_rank.parts * least) / (static_cast<double>(of_rank.longest()) - least);
  return steps_for_cut(of_rank.parts, ceil_lg(of_rank.parts), std::max(1.0, ranks));
}

/// A rank's own work, at most: it looks at all blocks to cut them, at data that are cut in every round, and packs;
/// `copies` of all, not counting combinations. Calls f(rank) for those whose data are cut, in order.
template <class F>
own_work work_of_lists(blocks const& of_rank, circulant_cut const& cut, int copies, F const& f) {
  double const p = of_rank.parts, q = ceil_lg(of_rank.parts);
  if (of_rank.whole.empty() || q == 0) return {};
  bool const from_one = from_one_rank(of_rank);
  own_work work{0, 0, (of_rank.is_even() || from_one ? 60 : 120) * q};
  double cut_ranks = 0, segments = 1, stretches = 0;   // of ranks in a row whose data are not cut
  if (cuts_some(of_rank, cut)) {
    segments = cut.of({0, of_rank.longest()}).parts;
    int next = 0;
    of_rank.for_each_longer(cut.least, [&](int r) {
      f(r);
      ++cut_ranks;
      if (next < r) stretches += !of_rank.span(next, r).empty();
      next = r + 1;
    });
    stretches += !of_rank.span(next, of_rank.parts).empty();
    work.steps += (from_one ? 2 : 4) * p + steps_for_cut(p, q, cut_ranks);
  }
  if (from_one) return work;
  double const n = static_cast<double>(of_rank.whole.size()), longest = static_cast<double>(of_rank.longest());
  if (cut_ranks == 0) {   // only messages that wrap round the end are packed
    work.moves = 2 * q;
    work.copied = copies == 1 ? n : n + (q + 1) * longest;
    if (of_rank.longest() == of_rank.shortest()) work.copied = copies * (n + longest) / 2;
    return work;
  }
  // One rank's segments alone go as they are, but in the last rounds, where other blocks go with them.
  bool const is_one = cut_ranks == 1;
  double const whole_ones = static_cast<double>(of_rank.whole.size() / cut.least);
  double const all_segments = is_one ? 0 : std::min(cut_ranks * segments, whole_ones + cut_ranks);
  work.moves = 2 * (all_segments + q * (stretches + 3));   // its own data and what wraps round come on top
  // Segments of the last rounds are sent more than once.
  double const sent = copies == 1 ? 0 : (q - 1) / segments, last_ones = q * std::ceil(longest / segments);
  work.copied = is_one ? copies * (n - longest) + std::min(longest, last_ones) + (copies - 1) * last_ones
                       : (copies + sent) * n;
  return work;
}

/// The time for blocks at offsets, own work included: data of fewer segments begin later, so that a segment of each is
/// on its way in the last rounds. What goes the longest way is packed and unpacked there, but not one rank's segments
/// alone. Looks at all blocks.
inline double time_of_lists(machine const& m, blocks const& of_rank, std::size_t element_size, std::size_t block,
                            double typically, double per_byte, int copies) {
  circulant_cut const cut = cut_for_lists(of_rank, element_size, block, typically);
  if (from_one_rank(of_rank)) {
    own_work const alone = work_of_lists(of_rank, cut, copies, [](int) {});
    return circulant_volume(of_rank, element_size).time(m.alpha, per_byte, static_cast<double>(cut.segments)) +
           m.alone(alone, static_cast<double>(element_size));
  }
  double const most = static_cast<double>(cut.segments), of_least = 1 / static_cast<double>(cut.least);
  auto const segment_of = [&](std::size_t data) {
    if (data <= cut.least) return data;
    double const length = static_cast<double>(data);
    return static_cast<std::size_t>(length / std::min(most, std::ceil(length * of_least)));
  };
  small_vector<std::size_t> begin(static_cast<std::size_t>(of_rank.parts) + 1);
  std::size_t at = 0, cut_ranks = 0, less = 0;
  auto const up_to = [&](int rank) {
    std::size_t const from = at;
    at = static_cast<std::size_t>(rank) + 1;
    std::transform(of_rank.offsets + from, of_rank.offsets + at, begin.begin() + from,
                   [before = of_rank.offsets[0] + less](std::size_t offset) { return offset - before; });
  };
  own_work alone = work_of_lists(of_rank, cut, copies, [&](int r) {
    up_to(r);
    ++cut_ranks, less += of_rank[r].size() - segment_of(of_rank[r].size());
  });
  up_to(of_rank.parts);
  block_lengths const lengths{segment_of(of_rank.longest()), segment_of(of_rank.shortest())};
  blocks const last{{0, begin.back()}, of_rank.parts, begin.begin(), 0, 0, &lengths};
  circulant_volume const volume(last, element_size);
  std::size_t const before = of_rank.whole.size() - last.whole.size() - (of_rank.shortest() - lengths.shortest);
  double const bytes_before = static_cast<double>(before * element_size), bytes_last = volume.least + volume.excess;
  double const packed = cut_ranks > 1 ? bytes_before + bytes_last : bytes_last;
  alone.copied = copies * packed / static_cast<double>(element_size);
  return (volume.rounds - 1 + most) * m.alpha + (bytes_before + bytes_last) * per_byte +
         m.alone(alone, static_cast<double>(element_size));
}

/// The time for even blocks.
inline double cost_of_lists(machine const& m, blocks const& even, std::size_t element_size, circulant_cut const& cut,
                            double per_byte) {
  if (even.whole.empty() || even.parts == 1) return 0;
  return circulant_volume(even, element_size).time(m.alpha, per_byte, static_cast<double>(cut.segments));
}

/// All data for a peer is one message: lists of several stretches are packed behind the vector.
template <steps Step>
class packing {
 public:
  packing(Step& step, std::size_t beyond, std::size_t room) : step_(step), out_(beyond), in_(beyond + room) {}

  void exchange(int to, circulant_lists::list const& sent, int from, circulant_lists::list const& received) {
    step_(packed(to, sent), recv{from, message(received, in_)});
    for_each_packed(received, in_, [&](range stretch, range packed) { step_(copy{packed, stretch}); });
  }
  void exchange_and_fold(int to, circulant_lists::list const& sent, int from, circulant_lists::list const& received) {
    if (received.size() == 1) return step_(packed(to, sent), fold{from, received.front()});
    step_(packed(to, sent), recv{from, message(received, in_)});
    for_each_packed(received, in_, [&](range stretch, range packed) { step_(merge{packed, stretch}); });
  }

 private:
  send packed(int to, circulant_lists::list const& list) {
    for_each_packed(list, out_, [&](range stretch, range packed) { step_(copy{stretch, packed}); });
    return {to, message(list, out_)};
  }
  static range message(circulant_lists::list const& list, std::size_t at) {
    if (list.size() == 1) return list.front();
    std::size_t end = at;
    for (range const stretch : list) end += stretch.size();
    return {at, end};
  }
  template <class F>
  static void for_each_packed(circulant_lists::list const& list, std::size_t at, F f) {
    if (list.size() == 1) return;
    for (range const stretch : list) {
      f(stretch, range{at, at + stretch.size()});
      at += stretch.size();
    }
  }

  Step& step_;
  std::size_t out_, in_;   // where packed messages begin
};

/// Calls f(pack, to, list sent, from, list received) for all rounds, or backwards from the last one.
template <steps Step, class F>
void for_each_round_of_lists(Step& step, blocks const& of_rank, circulant_cut const& cut, bool backwards, F f) {
  circulant_lists rounds(of_rank, cut, step.rank());
  packing pack(step, of_rank.whole.last, longest_list(of_rank, cut));
  circulant_lists::list sent, received;
  // Before the first message: others rely on the later ones.
  for (auto* const list : {&sent, &received}) list->reserve(rounds.most_stretches());
  for (int k = 0; k < rounds.size(); ++k) {
    int const i = backwards ? rounds.size() - 1 - k : k;
    rounds.sent(i, sent);
    rounds.received(i, received);
    f(pack, rounds.to(i), sent, rounds.from(i), received);
  }
}

template <steps Step>
void all_gather_in_lists(Step& step, blocks const& of_rank, circulant_cut const& cut) {
  for_each_round_of_lists(step, of_rank, cut, false, [](auto& pack, int to, auto& sent, int from, auto& received) {
    pack.exchange(to, sent, from, received);
  });
}

/// The same backwards: received data is sent back and folded into the data that was sent.
template <steps Step>
void reduce_scatter_in_lists(Step& step, blocks const& of_rank, circulant_cut const& cut) {
  for_each_round_of_lists(step, of_rank, cut, true, [](auto& pack, int to, auto& sent, int from, auto& received) {
    pack.exchange_and_fold(from, received, to, sent);
  });
}

}  // namespace colligo
