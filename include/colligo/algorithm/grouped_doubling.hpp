// SPDX-License-Identifier: BSL-1.0
/// @file
/// Grouped doubling: where p is m times a power of two, m odd, everybody in groups of m neighbours collects what all of
/// them have and combines it; then every rank swaps what it has with the one at its place in the group d away, d = 1,
/// 2, 4 ... With m = 1 it is recursive doubling.
/// Picture  p = 10   0 .. 4 and 5 .. 9 gather all of theirs   then 0-5 1-6 2-7 3-8 4-9
///          p = 6   0, 1, 2 and 3, 4, 5 all with all   then 0-3 1-4 2-5
/// Cost     (ceil(lg m) + lg p/m) alpha + (m - 1 + lg p/m) n (beta + gamma), equal to the recorded schedule; threes
///          send to two at a time, so that one alpha is alpha_further
/// Needs    any p; memory for m vectors, but where m is 1 or 3
/// Order    kept, any associative functor; same bits on all ranks, for p odd those of a sequential combination
/// Prefer   short vectors where p is no power of two: one round less than with spare ranks.
///          Avoid: long vectors, above all where m is large
/// Source   found by simulation for this library; collecting and then combining is folklore, groups of an odd number
///          are related to Rabenseifner and Traff, More Efficient Reduction Algorithms for Non-Power-of-Two Number of
///          Processors, 2004, which takes threes in another way
#pragma once

#include <algorithm>
#include <string_view>

#include "../core/renumbered.hpp"
#include "../shape/circulant_rounds.hpp"

namespace colligo::inline COLLIGO_MODE {

struct grouped_doubling {
  static constexpr std::string_view name = "grouped_doubling";

  template <class T, class Op>
  struct all_reduce {
    static constexpr bool ordered = true;
    static constexpr bool same_bits = true;

    /// Elements beyond the vector: one for each rank of a group.
    static constexpr std::size_t scratch(blocks const& vector, std::size_t) {
      int const m = group_of(vector.parts);
      return m > 3 ? static_cast<std::size_t>(m) * vector.whole.size() : 0;
    }

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      int const m = group_of(step.size()), me = step.rank(), group = me / m, place = me % m, first = me - place;
      if (m == 3) {
        int const next = first + (place + 1) % 3, after = first + (place + 2) % 3;
        step(send{next, all}, send{after, all}, fold{std::min(next, after), all}, fold{std::max(next, after), all});
      } else if (m > 3) {
        blocks const of_rank{{all.last, all.last + static_cast<std::size_t>(m) * all.size()}, m};
        renumbered in_group(step, place, m, [first](int v) { return first + v; });
        step(copy{all, of_rank[place]});
        detail::all_gather_on_circulant(in_group, of_rank);
        step(copy{of_rank[0], all});
        for (int i = 1; i < m; ++i) step(merge{of_rank[i], all, merge::side::right});
      }
      for (int d = 1; d < step.size() / m; d *= 2) {
        int const peer = (group ^ d) * m + place;
        step(send{peer, all}, fold{peer, all});
      }
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      int const group = group_of(p), rounds = ceil_lg(p / group);
      double const startups = group == 3 ? m.startups(2) : detail::startups_on_circulant(m, group);
      double const bytes = static_cast<double>(n * sizeof(T));
      return n == 0 ? 0 : startups + rounds * m.alpha + (group - 1 + rounds) * bytes * (m.beta + m.gamma);
    }

   private:
    static constexpr int group_of(int p) { return p / (p & -p); }
  };
};

}  // namespace colligo
