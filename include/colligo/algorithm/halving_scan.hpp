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
  static constexpr range prefix_of(range part, range all, int p) {
    std::size_t const by = all.size() + most_kept(all, p);
    return {part.first + by, part.last + by};
  }

  // Merges the rank's group with its neighbour, goes on with the merged group, and comes back with the prefix. Elements
  // from `free` on are unused.
  template <bool Inclusive, steps Step>
  static constexpr void merge_groups(Step& step, range all, merging_groups its, std::size_t free) {
    auto const prefix = [&](range part) { return prefix_of(part, all, step.size()); };
    auto const served = [&](range part) { return prefix({part.first + all.size(), part.last + all.size()}); };
    bool const innermost = its.distance == 1;
    if (its.waits()) {
      int const before = step.rank() - its.distance;
      if (Inclusive && innermost) return step(fold{before, all});
      return step(recv{before, prefix(its.whole)});
    }
    if (its.groups == 1) return;
    if (its.groups == 2) return step(send{step.rank() + its.distance, its.held});

    auto const more = [&free](range part) { return range{std::exchange(free, free + part.size()), free}; };
    range const mine = its.mine(), theirs = its.theirs(), held = its.at(mine), known = prefix(mine);
    int const partner = step.rank() ^ its.distance;
    its.kept = more(mine);
    step(send{partner, its.at(theirs)}, recv{partner, its.kept});
    range both = its.upper() ? held : its.kept;
    if (its.upper() && !innermost) {   // the group's own value is needed again
      both = more(mine);
      step(copy{held, both});
    }
    step(its.upper() ? merge{its.kept, both} : merge{held, both});

    merge_groups<Inclusive>(step, all, {its.groups / 2, its.group / 2, 2 * its.distance, mine, both}, free);

    int const after = its.serves() ? step.rank() + its.distance : nobody;
    // If no rank is below both groups, the lower group gets nothing from the upper one.
    int const to = its.prefixed() || !its.upper() ? partner : nobody;
    int const from = its.prefixed() || its.upper() ? partner : nobody;
    if (Inclusive && innermost) {
      if (its.prefixed()) step(merge{known, held}), step(merge{known, its.kept});
      step(send{to, its.kept}, recv{from, theirs});
      step(send{after, all});
    } else if (its.upper()) {
      if (its.prefixed()) step(merge{known, its.kept});
      step(send{to, known}, recv{from, prefix(theirs)});
      if (after != nobody) {
        step(copy{both, served(mine)}), step(copy{its.at(theirs), served(theirs)});
        if (its.prefixed()) step(merge{known, served(mine)});
        step(merge{prefix(theirs), served(theirs)});
      }
      step(send{after, served(its.whole)});
      step(copy{its.kept, known});
    } else {
      if (its.prefixed()) step(copy{held, its.kept}), step(merge{known, its.kept});
      step(send{to, its.prefixed() ? its.kept : held}, recv{from, prefix(theirs)});
    }
  }

  static constexpr double cost_of(machine const& m, int p, double bytes, bool inclusive) {
    double all = 0;
    int groups = p;
    for (; groups > 2; groups /= 2, bytes /= 2) {
      bool const first = groups == p && inclusive, prefixed = groups > 3;
      all += 2 * m.exchange(bytes / 2) + (prefixed ? 2 + first : 1) * m.combine(bytes / 2);
      if (groups % 2 != 0) all += m.one_way(bytes) + m.combine(prefixed || first ? bytes : bytes / 2);
    }
    if (groups == 2) all += m.one_way(bytes) + (p == 2 && inclusive ? m.combine(bytes) : 0);
    return bytes == 0 ? 0 : all;
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
      merge_groups<Inclusive>(step, all, {step.size(), step.rank(), 1, all, all}, all.last);
      if (!Inclusive && step.rank() > 0) step(copy{prefix_of(all, all, step.size()), all});
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      return cost_of(m, p, static_cast<double>(n * sizeof(T)), Inclusive);
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
