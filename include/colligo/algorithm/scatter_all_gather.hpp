// SPDX-License-Identifier: BSL-1.0
/// @file
/// Scatter and all_gather: a broadcast of long vectors in which the root sends each element about once, not lg p times.
/// Picture  p = 4, vector ABCD   scatter over a binomial tree: 0->2 CD, 0->1 B, 2->3 D
///          then all_gather: everybody gets ABCD
/// Cost     p = 2^k: lg p (alpha + alpha_uni) + (n - n/p) (beta + beta_uni), equal to the
///          recorded schedule where p divides n
/// Needs    any p, any root
/// Order    nothing is combined
/// Prefer   long vectors.   Avoid: short vectors (see binary_tree)
/// Source   M. Barnett et al., InterCom, 1994; the all_gather is Traff's (see circulant), which
///          needs lg p rounds for every p
#pragma once

#include <string_view>

#include "../shape/circulant_rounds.hpp"
#include "binary_tree.hpp"

namespace colligo::inline COLLIGO_MODE {

struct scatter_all_gather {
  static constexpr std::string_view name = "scatter_all_gather";

  template <class T>
  struct broadcast : detail::exact_for_powers_of_two {
    template <steps Step>
    constexpr void operator()(Step& step, range all, int root) const {
      blocks const block{all, step.size()};
      typename binary_tree::scatterv<T>{}(step, block, root);
      detail::all_gather_on_circulant(step, block);
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      return binary_tree::scatterv<T>::cost(m, p, n) + detail::cost_on_circulant(m, p, n * sizeof(T), m.beta);
    }
  };
};

}  // namespace colligo
