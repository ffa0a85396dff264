// SPDX-License-Identifier: BSL-1.0
/// @file
/// Linear: gather and scatter in which every rank exchanges messages with the root directly.
/// Picture  p = 4, root 1   0->1, 2->1, 3->1, all at once
/// Cost     (p-1) alpha_uni + (n - n/p) beta_uni, equal to the recorded schedule where p divides n; start-ups but the
///          first are alpha_further where they overlap
/// Needs    any p, any root, any counts; no memory at other ranks
/// Order    nothing is combined
/// Prefer   long blocks, uneven ones.   Avoid: short blocks on many ranks (see binary_tree)
/// Source   folklore
#pragma once

#include <string_view>

#include "../shape/everybody.hpp"

namespace colligo::inline COLLIGO_MODE {

struct linear {
  static constexpr std::string_view name = "linear";

  template <class T>
  struct gatherv : detail::exact_for_even_blocks {
    static constexpr bool writes_output_alone = true;

    template <steps Step>
    constexpr void operator()(Step& step, blocks const& block, int root) const {
      int const me = step.rank();
      if (me != root) return step(send{root, block[me]});
      step(listed{step.size() - 1, [=](int i) { return recv{detail::other(i, me), block[detail::other(i, me)]}; }});
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      double const bytes = static_cast<double>(n * sizeof(T));
      return n == 0 ? 0 : m.f_alpha * m.startups(p - 1) + (bytes - bytes / p) * m.beta_uni();
    }
  };

  template <class T>
  struct scatterv : detail::exact_for_even_blocks {
    static constexpr bool writes_output_alone = true;

    template <steps Step>
    constexpr void operator()(Step& step, blocks const& block, int root) const {
      int const me = step.rank();
      if (me != root) return step(recv{root, block[me]});
      step(listed{step.size() - 1, [=](int i) { return send{detail::other(i, me), block[detail::other(i, me)]}; }});
    }

    static constexpr double cost(machine const& m, int p, std::size_t n) { return gatherv<T>::cost(m, p, n); }
  };
};

}  // namespace colligo
