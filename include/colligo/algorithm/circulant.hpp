// SPDX-License-Identifier: BSL-1.0
/// @file
/// Circulant: reduce_scatter and all_gather on any number of ranks in ceil(lg p) rounds, sending no element twice. The
/// distances are p halved, rounded up, again and again. Rank r works on the blocks r, r + 1 ..., cyclically. With a
/// larger radix than 2 there are fewer rounds of several messages each.
/// Picture  p = 5, distances 3 2 1   round 1: r sends blocks r+3 r+4 to r+3   round 2: r+2 to r+2   round 3: r+1 to r+1
///          every time it folds what it receives into its first blocks; block r is done. Backwards it is an all_gather.
///          radix 3, distances 2 1   round 1: r sends blocks r+2 r+3 to r+2, r+4 to r+4   round 2: r+1 to r+1
/// Cost     with q = ceil(lg p): reduce_scatter  q alpha + (n - n/p) (beta + gamma)
///          all_gather  q alpha + (n - n/p) beta
///          all_reduce  2 q alpha + (n - n/p) (2 beta + gamma)
///          reduce  q (alpha + alpha_uni) + (n - n/p) (beta + beta_uni + gamma): a gather over a binomial tree follows
///          equal to the recorded schedule where p divides n; with a radix k the rounds are those of windows p, p/k,
///          p/k^2 ..., rounded up, and one that begins with w and leaves d costs alpha and, for each of its messages
///          but the first, of which there are ceil(w/d) - 2, alpha_further
/// Own work of blocks at offsets 25 q steps to find them
/// Needs    any p, any root; for reductions a commutative functor
/// Order    not kept; same bits on all ranks (each block is reduced by one rank)
/// Prefer   long vectors on any number of ranks; all_gather of short ones. A radix above 2 if the start-ups of messages
///          to several ranks overlap, alpha_further below half of alpha. Avoid: reductions of very short vectors (see
///          census)
/// Source   J. L. Traff, Optimal, non-pipelined reduce-scatter and allreduce algorithms, 2024; radices after Bruck, Ho,
///          Kipnis, Upfal, Weathersby, Efficient Algorithms for All-to-All Communications in Multiport Message-Passing
///          Systems, 1997
#pragma once

#include <array>
#include <string_view>

#include "../core/knob.hpp"
#include "../core/renumbered.hpp"
#include "../shape/circulant_rounds.hpp"

namespace colligo::inline COLLIGO_MODE {

struct circulant {
  static constexpr std::string_view name = "circulant";

  std::size_t radix = 2;   ///< at least 2; from p on all ranks exchange with all at once

  static constexpr std::array knobs{knob<circulant>{"radix", &circulant::radix}};

 private:
  template <class T>
  struct form {
    circulant const& knob;

    constexpr int radix_for(int p) const { return detail::radix_for(p, knob.radix); }
    // Of a reduce_scatter or an all_gather.
    constexpr double cost_of(machine const& m, int p, std::size_t n, double per_byte) const {
      return detail::cost_on_circulant(m, p, n * sizeof(T), per_byte, radix_for(p));
    }
    static constexpr formula exact_for(machine const&, int p, std::size_t n) {
      return exact_if(divides(p, n), formula::rounded);
    }
    static constexpr own_work work(blocks const& block, std::size_t) {
      return {0, 0, block.is_even() ? 0 : 25. * ceil_lg(block.parts)};
    }
  };

 public:
  template <class T, class Op>
  struct reduce_scatter : form<T> {
    static constexpr bool ordered = false;

    template <steps Step>
    constexpr void operator()(Step& step, blocks const& block) const {
      detail::reduce_scatter_on_circulant(step, block, this->radix_for(step.size()));
    }
    constexpr double cost(machine const& m, int p, std::size_t n) const {
      return this->cost_of(m, p, n, m.beta + m.gamma);
    }
  };

  template <class T>
  struct all_gatherv : form<T> {
    template <steps Step>
    constexpr void operator()(Step& step, blocks const& block) const {
      detail::all_gather_on_circulant(step, block, this->radix_for(step.size()));
    }
    constexpr double cost(machine const& m, int p, std::size_t n) const { return this->cost_of(m, p, n, m.beta); }
  };

  template <class T, class Op>
  struct reduce : form<T> {
    static constexpr bool ordered = false;

    template <steps Step>
    constexpr void operator()(Step& step, range all, int root) const {
      blocks const block{all, step.size()};
      detail::reduce_scatter_on_circulant(step, block, this->radix_for(step.size()));
      detail::gather_on_ring(step, block, root);
    }
    constexpr double cost(machine const& m, int p, std::size_t n) const {
      double const bytes = static_cast<double>(n * sizeof(T)), moved = bytes - bytes / p;
      double const gather = n == 0 ? 0 : ceil_lg(p) * m.alpha_uni() + moved * m.beta_uni();
      return this->cost_of(m, p, n, m.beta + m.gamma) + gather;
    }
  };

  template <class T, class Op>
  struct all_reduce : form<T> {
    static constexpr bool ordered = false, same_bits = true;

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      blocks const block{all, step.size()};
      detail::reduce_scatter_on_circulant(step, block, this->radix_for(step.size()));
      detail::all_gather_on_circulant(step, block, this->radix_for(step.size()));
    }
    constexpr double cost(machine const& m, int p, std::size_t n) const {
      return this->cost_of(m, p, n, m.beta + m.gamma) + this->cost_of(m, p, n, m.beta);
    }
  };
};

}  // namespace colligo
