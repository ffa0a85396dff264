// SPDX-License-Identifier: BSL-1.0
/// @file
/// Pipelined chain: the vector goes from rank to rank in blocks. Every rank passes one block on while it receives the
/// next.
/// Picture  p = 3, blocks ABC   round 1: 0->1 A   round 2: 0->1 B, 1->2 A   round 3: 0->1 C, 1->2 B   round 4: 1->2 C
/// Cost     with b blocks: p - 2 + b rounds of at most alpha + n/b beta; reduce, scan, exclusive_scan combine up to
///          2 n/b in each (reduce to a rank inside: two shorter chains meet there)
/// Needs    any p, any root, any associative functor
/// Order    kept
/// Prefer   very long vectors, functors that do not commute.   Avoid: short vectors, many ranks
/// Source   folklore; the block size balances (p-2) B beta against n/B alpha
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "../core/knob.hpp"
#include "../core/renumbered.hpp"
#include "../shape/pipeline.hpp"

namespace colligo::inline COLLIGO_MODE {

struct pipelined_chain {
  static constexpr std::string_view name = "pipelined_chain";

  std::size_t block = 0;   ///< bytes; 0: chosen from the length and the number of ranks

  static constexpr std::array knobs{knob<pipelined_chain>{"block", &pipelined_chain::block}};

 private:
  template <class T, bool Inclusive>
  struct prefixes {
    static constexpr bool ordered = true, sequential = true;
    pipelined_chain const& knob;

    template <steps Step>
    void operator()(Step& step, range all) const {
      using taken = std::conditional_t<Inclusive, fold, recv>;
      pipeline const part(all, knob.block, element_size<T>(step), step.size() - 2);
      int const me = step.rank(), before = me == 0 ? nobody : me - 1, after = me == step.size() - 1 ? nobody : me + 1;
      own const what = Inclusive ? own::result : me == 0 ? own::input : own::both;
      for (int i = 0; i <= part.size(); ++i) step(send{after, part[i - 1], what}, taken{before, part[i]});
    }
  };

 public:
  template <class T>
  struct broadcast {
    pipelined_chain const& knob;

    template <steps Step>
    void operator()(Step& step, range all, int root) const {
      auto chain = rooted_at(step, root);
      int const p = chain.size(), me = chain.rank();
      pipeline const part(all, knob.block, element_size<T>(step), p - 2);
      int const before = me == 0 ? nobody : me - 1, after = me == p - 1 ? nobody : me + 1;
      for (int i = 0; i <= part.size(); ++i) chain(recv{before, part[i]}, send{after, part[i - 1]});
    }
  };

  template <class T, class Op>
  struct reduce {
    static constexpr bool ordered = true;
    pipelined_chain const& knob;

    // From both ends towards the root.
    template <steps Step>
    void operator()(Step& step, range all, int root) const {
      int const p = step.size(), me = step.rank();
      pipeline const part(all, knob.block, element_size<T>(step), std::max(root, p - 1 - root) - 1);
      int const lower = me > 0 && me <= root ? me - 1 : nobody, upper = me < p - 1 && me >= root ? me + 1 : nobody;
      int const after = me < root ? me + 1 : me > root ? me - 1 : nobody;
      for (int i = 0; i <= part.size(); ++i) step(send{after, part[i - 1]}, fold{lower, part[i]}, fold{upper, part[i]});
    }
  };

  template <class T, class Op>
  struct scan : prefixes<T, true> {};
  template <class T, class Op>
  struct exclusive_scan : prefixes<T, false> {};
};

}  // namespace colligo
