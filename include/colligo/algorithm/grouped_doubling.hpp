// SPDX-License-Identifier: BSL-1.0
/// @file
/// Grouped doubling, for p = m times a power of two, m odd: each rank of a group of m neighbours collects all of the
/// group's vectors and combines them, at the end or, with early = 1, the halves of an interval as soon as it has both.
/// Then it swaps its vector with the rank at its place in the group d away, d = 1, 2, 4 ... With m = 1 it is recursive
/// doubling.
/// Picture  p = 10   0 .. 4 and 5 .. 9 gather all of theirs   then 0-5 1-6 2-7 3-8 4-9
///          p = 6   0, 1, 2 and 3, 4, 5 all with all   then 0-3 1-4 2-5
/// Cost     (ceil(lg m) + lg p/m) alpha + (m - 1 + lg p/m) n (beta + gamma), equal to the recorded schedule; with m = 3
///          ranks send to two at a time, so that one alpha is alpha_further
///          early: at most (1 + 2 + 3 + 5 + 7 ... + lg p/m) n, a term for each round of the group, and one fold more
/// Own work m + 1 copies and merges, 2 n elements copied; early, with r vectors received, 3/2 r + 3 and (r/2 + 6) n
/// Needs    any p; memory for m vectors, with `early` for 4 lg m; none if m is 1 or 3
/// Order    kept, any associative functor; same bits on all ranks, for p odd those of a sequential combination unless
///          early
/// Prefer   short vectors if p is no power of two: one round less than with spare ranks. Avoid: long vectors, above all
///          where m is large
/// Source   found by simulation for this library. Collecting and then combining is folklore; groups of an odd number
///          are related to Rabenseifner and Traff, More Efficient Reduction Algorithms for Non-Power-of-Two Number of
///          Processors, 2004, which handles threes differently
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "../core/knob.hpp"
#include "../core/renumbered.hpp"
#include "../shape/circulant_rounds.hpp"
#include "../shape/dyadic_intervals.hpp"

namespace colligo::inline COLLIGO_MODE {

struct grouped_doubling {
  static constexpr std::string_view name = "grouped_doubling";

  std::size_t early = 0;   ///< other than 0: combines neighbours before passing them on

  static constexpr std::array knobs{knob<grouped_doubling>{"early", &grouped_doubling::early}};

  template <class T, class Op>
  struct all_reduce {
    grouped_doubling const& knob;
    static constexpr bool ordered = true, same_bits = true;

    /// Elements beyond the vector: a vector for each rank of a group or, with `early`, for each interval.
    constexpr std::size_t scratch(blocks const& vector, std::size_t) const {
      int const m = group_of(vector.parts);
      std::size_t const vectors = knob.early ? detail::most_slots(m) : static_cast<std::size_t>(m);
      return m > 3 ? vectors * vector.whole.size() : 0;
    }

    constexpr own_work work(blocks const& vector, std::size_t) const {
      int const m = group_of(vector.parts);
      double const n = static_cast<double>(vector.whole.size());
      if (m <= 3) return {};
      if (knob.early == 0) return {m + 1.0, 2 * n};
      double const received = detail::most_received(m);
      return {1.5 * received + 3, (received / 2 + 6) * n};
    }

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      int const m = group_of(step.size()), me = step.rank(), group = me / m, place = me % m, first = me - place;
      if (m == 3) {
        int const next = first + (place + 1) % 3, after = first + (place + 2) % 3;
        step(send{next, all}, send{after, all}, fold{std::min(next, after), all}, fold{std::max(next, after), all});
      } else if (m > 3) {
        renumbered in_group(step, place, m, [first](int v) { return first + v; });
        if (knob.early) combine_early(in_group, all);
        else collect_and_combine(in_group, all);
      }
      for (int d = 1; d < step.size() / m; d *= 2) {
        int const peer = (group ^ d) * m + place;
        step(send{peer, all}, fold{peer, all});
      }
    }

    constexpr double cost(machine const& m, int p, std::size_t n) const {
      int const group = group_of(p), doublings = ceil_lg(p / group);
      bool const sends_early = knob.early != 0 && group > 3;
      int const received = (sends_early ? detail::most_received(group) : group - 1) + doublings;
      double const startups = group == 3 ? m.startups(2) : detail::startups_on_circulant(m, group);
      double const bytes = static_cast<double>(n * sizeof(T));
      if (n == 0) return 0;
      return startups + doublings * m.alpha + bytes * (received * m.beta + (received + sends_early) * m.gamma);
    }
    constexpr formula exact_for(machine const&, int, std::size_t) const {
      return exact_if(knob.early == 0, formula::bound);
    }

   private:
    static constexpr int group_of(int p) { return p / (p & -p); }

    template <steps Step>
    static constexpr void collect_and_combine(Step& step, range all) {
      int const m = step.size();
      blocks const of_rank{{all.last, all.last + static_cast<std::size_t>(m) * all.size()}, m};
      step(copy{all, of_rank[step.rank()]});
      detail::all_gather_on_circulant(step, of_rank);
      step(copy{of_rank[0], all});
      for (int i = 1; i < m; ++i) step(merge{of_rank[i], all, merge::side::right});
    }
    template <steps Step>
    static constexpr void combine_early(Step& step, range all) {
      detail::dyadic_intervals known(step, all);
      for (int places = 1; places < step.size(); places *= 2) known.exchange(places);
      known.finish();
    }
  };
};

}  // namespace colligo
