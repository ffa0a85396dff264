// SPDX-License-Identifier: BSL-1.0
/// @file
/// K-nomial tree: a binomial tree in which up to k groups merge at a time: a rank receives k - 1 whole vectors in one
/// step.
/// Picture  p = 9, radix 3, root 0   round 1: 1,2->0 4,5->3 7,8->6   round 2: 3,6->0     broadcast: back
/// Cost     in q = ceil(log p / log k) rounds of k_i <= k groups each:
///          broadcast  sum over rounds of f_alpha (alpha + (k_i - 2) alpha_further) + (k_i - 1) n beta_uni
///          reduce  the same with beta_uni + gamma
///          equal to the recorded schedule where p is the product of the k_i, a bound otherwise
/// Needs    any p, any root, any associative functor
/// Order    kept for every root
/// Prefer   short vectors if the start-ups of messages to several ranks overlap, alpha_further far below alpha; the
///          smaller it is, the larger k. From k = p on the root serves all ranks itself. Avoid: long vectors, and k > 2
///          where start-ups do not overlap (k = 2 is binary_tree)
/// Source   folklore; k-nomial trees of Open MPI, MPICH, UCC. The optimum of the LogP model: R. M. Karp, A. Sahay,
///          E. E. Santos, K. E. Schauser, Optimal Broadcast and Summation in the LogP Model, 1993
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "../core/knob.hpp"
#include "../shape/tree.hpp"

namespace colligo::inline COLLIGO_MODE {

struct knomial_tree {
  static constexpr std::string_view name = "knomial_tree";

  std::size_t radix = 4;   ///< the most groups that merge at a time; at least 2

  static constexpr std::array knobs{knob<knomial_tree>{"radix", &knomial_tree::radix}};

  template <class T, class Op>
  struct reduce {
    static constexpr bool ordered = true;
    knomial_tree const& knob;

    template <steps Step>
    constexpr void operator()(Step& step, range all, int root) const {
      auto const tree = knob.over(step.size(), root);
      int const me = step.rank(), level = tree.level(me);
      for (int i = 0; i < level; ++i)
        step(listed{tree.others(i), [=](int k) { return fold{tree.other(me, i, k), all}; }});
      step(send{tree.parent(me), all});
    }

    constexpr double cost(machine const& m, int p, std::size_t n) const {
      return knob.rounds(m, p, static_cast<double>(n * sizeof(T)), m.gamma);
    }
    constexpr formula exact_for(machine const&, int p, std::size_t) const {
      return knob.exact_over(p);
    }
  };

  template <class T>
  struct broadcast {
    knomial_tree const& knob;

    template <steps Step>
    constexpr void operator()(Step& step, range all, int root) const {
      auto const tree = knob.over(step.size(), root);
      int const me = step.rank();
      step(recv{tree.parent(me), all});
      for (int i = tree.level(me) - 1; i >= 0; --i)
        step(listed{tree.others(i), [=](int k) { return send{tree.other(me, i, k), all}; }});
    }

    constexpr double cost(machine const& m, int p, std::size_t n) const {
      return knob.rounds(m, p, static_cast<double>(n * sizeof(T)), 0);
    }
    constexpr formula exact_for(machine const&, int p, std::size_t) const {
      return knob.exact_over(p);
    }
  };

 private:
  constexpr knomial_groups over(int p, int root) const {
    return {p, detail::radix_for(p, radix), root};
  }
  constexpr double rounds(machine const& m, int p, double bytes, double per_byte) const {
    double all = 0;
    auto const tree = over(p, 0);
    for (int i = 0; i < tree.rounds(); ++i)
      all += m.f_alpha * m.startups(tree.others(i)) + tree.others(i) * bytes * (m.beta_uni() + per_byte);
    return bytes == 0 ? 0 : all;
  }
  constexpr formula exact_over(int p) const {
    int product = 1;
    auto const tree = over(p, 0);
    for (int i = 0; i < tree.rounds(); ++i) product *= tree.others(i) + 1;
    return exact_if(product == p, formula::bound);
  }
};

}  // namespace colligo
