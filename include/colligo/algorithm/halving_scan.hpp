// SPDX-License-Identifier: BSL-1.0
/// @file
/// Halving scan: prefixes by vector halving and distance doubling. Neighbouring groups of ranks merge, round by round.
/// Partners in the two groups exchange halves of their segment; then each has for its half the lower group's value and
/// the value of both groups. On the way back each gets the prefix before both groups for its half, and sends what its
/// partner needs of it. A group without a neighbour waits for the final prefix of the group below.
/// Picture  p = 4, vector ABCD   round 1: 0-1 2-3, even ranks get AB, odd ones CD   round 2: 0->2 AB, 1->3 CD
///          round 3: 0->1 AB, 1->0 nothing (no prefix), 2-3   p = 5: then 3->4 ABCD
/// Cost     p = 2^k > 2: 2 (k-1) alpha + alpha_uni + 2 (n - 2n/p) beta + 2n/p beta_uni + (5/2 n - 4n/p) gamma;
///          exclusive_scan (2n - 4n/p) gamma
///          otherwise one more message of n/2^level elements, and its combination, at every level with an odd number of
///          groups; equal to the recorded schedule where p' = 2^floor(lg p) divides n and, unless p = p', one-way
///          messages cost as much as exchanges
/// Own work at most 4 lg p + 2 copies and merges; on the critical path some 3/2 n elements are copied, exclusive_scan
///          7/2 n, and n/2^(level+1) more at every level with an odd number of groups
/// Needs    any p, any associative functor; memory for four vectors
/// Order    kept
/// Prefer   vectors that are too long for doubling, which sends the whole vector lg p times, and too short for a
///          pipeline on many ranks (see pipelined_chain).   Avoid: short vectors (see recursive_doubling)
/// Source   found for this library, after Rabenseifner's all-reduce by halving and doubling; only tests show that it is
///          right
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "../core/renumbered.hpp"
#include "../shape/merging_groups.hpp"

namespace colligo::inline COLLIGO_MODE {

struct halving_scan {
  static constexpr std::string_view name = "halving_scan";

 private:
  // Elements that a rank keeps behind the vector: at most two halves of each level, rounded up. Behind them lie the
  // prefix and the message to a group that waits, each as long as the vector.
  static constexpr std::size_t most_kept(range all, int p) {
    return 2 * (all.size() + static_cast<std::size_t>(ceil_lg(p)));
  }
  static constexpr range moved(range part, std::size_t by) { return {part.first + by, part.last + by}; }

  // Merges the rank's group with its neighbour, goes on with the merged group, and on the way back passes on the prefix
  // before it. Prefixes are kept `behind` elements after their range. Elements from `free` on are unused.
  template <bool Inclusive, steps Step>
  static constexpr void merge_groups(Step& step, range all, std::size_t behind, merging_groups here, std::size_t free) {
    auto const prefix = [&](range part) { return moved(part, behind); };
    auto const served = [&](range part) { return moved(part, behind + all.size()); };
    bool const innermost = here.distance == 1;
    if (here.waits()) {
      int const before = step.rank() - here.distance;
      if (Inclusive && innermost) return step(fold{before, all});
      return step(recv{before, prefix(here.whole)});
    }
    if (here.groups == 1) return;
    if (here.groups == 2) return step(send{step.rank() + here.distance, here.held});

    auto const allocate = [&free](range part) { return range{std::exchange(free, free + part.size()), free}; };
    range const mine = here.mine(), theirs = here.theirs(), held = here.at(mine), known = prefix(mine);
    int const partner = step.rank() ^ here.distance;
    here.kept = allocate(mine);
    step(send{partner, here.at(theirs)}, recv{partner, here.kept});
    range both = here.upper() ? held : here.kept;
    if (here.upper() && !innermost) {   // the group's own value is needed again
      both = allocate(mine);
      step(copy{held, both});
    }
    step(here.upper() ? merge{here.kept, both} : merge{held, both});

    merge_groups<Inclusive>(step, all, behind, {here.groups / 2, here.group / 2, 2 * here.distance, mine, both}, free);

    int const after = here.serves() ? step.rank() + here.distance : nobody;
    // If no rank is below both groups, the lower group gets nothing from the upper one.
    int const to = here.prefixed() || !here.upper() ? partner : nobody;
    int const from = here.prefixed() || here.upper() ? partner : nobody;
    if (Inclusive && innermost) {
      if (here.prefixed()) step(merge{known, held}), step(merge{known, here.kept});
      step(send{to, here.kept}, recv{from, theirs});
      step(send{after, all});
    } else if (here.upper()) {
      if (here.prefixed()) step(merge{known, here.kept});
      step(send{to, known}, recv{from, prefix(theirs)});
      if (after != nobody) {
        step(copy{both, served(mine)}), step(copy{here.at(theirs), served(theirs)});
        if (here.prefixed()) step(merge{known, served(mine)});
        step(merge{prefix(theirs), served(theirs)});
      }
      step(send{after, served(here.whole)});
      step(copy{here.kept, known});
    } else {
      if (here.prefixed()) step(copy{held, here.kept}), step(merge{known, here.kept});
      step(send{to, here.prefixed() ? here.kept : held}, recv{from, prefix(theirs)});
    }
  }

  template <class T, bool Inclusive>
  struct form {
    static constexpr bool ordered = true;

    static constexpr std::size_t scratch(blocks const& vector, std::size_t) {
      return most_kept(vector.whole, vector.parts) + 2 * vector.whole.size();
    }
    static constexpr own_work work(blocks const& vector, std::size_t) {
      double const n = static_cast<double>(vector.whole.size()), q = ceil_lg(vector.parts);
      double copied = Inclusive ? 0 : n, part = n;
      for (int groups = vector.parts; groups > 2; groups /= 2, part /= 2) {
        bool const first = groups == vector.parts;
        if (!first) copied += part / 2;
        if (!first || !Inclusive) copied += groups % 2 != 0 ? part * 3 / 2 : part;
      }
      return {4 * q + 2, copied + 4 * q};   // halves round up
    }

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      std::size_t const behind = all.size() + most_kept(all, step.size());
      merge_groups<Inclusive>(step, all, behind, {step.size(), step.rank(), 1, all, all}, all.last);
      if (!Inclusive && step.rank() > 0) step(copy{moved(all, behind), all});
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      if (n == 0) return 0;
      double all = 0, bytes = static_cast<double>(n * sizeof(T));
      int groups = p;
      for (; groups > 2; groups /= 2, bytes /= 2) {
        bool const first = groups == p && Inclusive, prefixed = groups > 3;
        all += 2 * m.exchange(bytes / 2) + (prefixed ? 2 + first : 1) * m.combine(bytes / 2);
        if (groups % 2 != 0) all += m.one_way(bytes) + m.combine(prefixed || first ? bytes : bytes / 2);
      }
      if (groups == 2) all += m.one_way(bytes) + (p == 2 && Inclusive ? m.combine(bytes) : 0);
      return all;
    }
    static constexpr formula exact_for(machine const& m, int p, std::size_t n) {
      if (!divides(floor_power_of_two(p), n)) return formula::rounded;
      return exact_if(is_power_of_two(p) || m.one_way_as_exchange(), formula::bound);
    }
  };

 public:
  template <class T, class Op>
  struct scan : form<T, true> {};
  template <class T, class Op>
  struct exclusive_scan : form<T, false> {};
};

}  // namespace colligo
