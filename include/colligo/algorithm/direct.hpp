// SPDX-License-Identifier: BSL-1.0
/// @file
/// Direct: every rank reads from every other in one round. For long vectors each rank combines one slice from all
/// ranks, then all ranks collect the slices.
/// Picture  all_reduce, p = 3   short: 0->+1,2  1->+0,2  2->+0,1
///          long: the slice of 0: 1->+0 2->+0, of 1: ..., then 0->1,2  1->0,2  2->0,1
/// Cost     a round of messages between all ranks takes t = 2^ceil(lg p) - 1 turns, since a rank sends and receives one
///          message at a time
///          all_reduce  short: t (alpha + n beta) + (p-1) n gamma
///                      long, in w windows: 2 t (w alpha + n/p beta) + (n - n/p) gamma
///          reduce_scatter  t (alpha + n/p beta) + (n - n/p) gamma          all_to_all  (p-1) (alpha + n/p beta)
///          equal to the recorded schedule where p divides n; an estimate for a long all_reduce, whose steps overlap.
///          Where start-ups overlap, all but the first of a round are alpha_further
/// Needs    any p, any root, any associative functor
/// Order    kept; same bits on all ranks (all combine in the order of ranks, from the lowest on)
/// Prefer   ranks that share memory: each publishes its vector once, and all read it.
///          Avoid: messages on many ranks, p - 1 start-ups each
/// Source   folklore; the flat and the sliced scheme of shared-memory collectives
#pragma once

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <string_view>

#include "../core/knob.hpp"
#include "../core/transport.hpp"
#include "linear.hpp"
#include "pairwise.hpp"

namespace colligo::inline COLLIGO_MODE {

struct direct {
  static constexpr std::string_view name = "direct";

  std::size_t slices = 8192;        ///< bytes: longer vectors are combined in slices
  std::size_t window = 64 * 1024;   ///< bytes: longer slices are cut into windows, one after the other, to bound the
                                    ///< data in progress

  static constexpr std::array knobs{knob<direct>{"slices", &direct::slices}, knob<direct>{"window", &direct::window}};

 private:
  // Short vectors are combined whole; longer ones in slices, one per rank, in windows of p slices.
  template <class T>
  struct whole_or_in_slices {
    direct const& knob;
    static constexpr bool ordered = true, sequential = true;

    constexpr bool is_short(std::size_t n, std::size_t element_size) const { return n * element_size <= knob.slices; }
    constexpr int windows_of(int p, std::size_t n, std::size_t element_size) const {
      auto const ranks = static_cast<std::size_t>(p);
      std::size_t const longest = std::max<std::size_t>(1, knob.window / element_size);
      std::size_t const slice = n / ranks + (n % ranks != 0);
      return static_cast<int>(std::min<std::size_t>(INT_MAX, slice / longest + (slice % longest != 0)));
    }
    // Calls collect(slices) for each window, after each rank has combined its slice.
    template <steps Step, class Collect>
    constexpr void in_slices(Step& step, range all, std::size_t element_size, Collect collect) const {
      blocks const windows{all, windows_of(step.size(), all.size(), element_size)};
      for (int w = 0; w < windows.parts; ++w) {
        blocks const parts{windows[w], step.size()};
        detail::exchange_slices(step, parts);
        collect(parts);
      }
    }
    constexpr formula exact_for(machine const&, int, std::size_t n) const { return exact_if(is_short(n, sizeof(T))); }
  };

 public:
  template <class T, class Op>
  struct all_reduce : whole_or_in_slices<T> {
    static constexpr bool same_bits = true;

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      std::size_t const bytes = element_size<T>(step);
      if (!this->is_short(all.size(), bytes))
        return this->in_slices(step, all, bytes, [&](blocks const& each) { all_gatherv<T>{}(step, each); });
      detail::publish_to_others(step, all, [=](int r) { return fold{r, all}; });
    }

    constexpr double cost(machine const& m, int p, std::size_t n) const {
      double const bytes = static_cast<double>(n * sizeof(T));
      if (n == 0) return 0;
      if (this->is_short(n, sizeof(T))) return detail::cost_of_all(m, p, bytes) + (p - 1) * m.combine(bytes);
      return 2 * detail::cost_of_all(m, p, bytes / p, this->windows_of(p, n, sizeof(T))) + m.combine(bytes - bytes / p);
    }
  };

  template <class T, class Op>
  struct reduce : whole_or_in_slices<T> {
    template <steps Step>
    constexpr void operator()(Step& step, range all, int root) const {
      int const me = step.rank();
      std::size_t const bytes = element_size<T>(step);
      if (!this->is_short(all.size(), bytes))
        return this->in_slices(step, all, bytes, [&](blocks const& each) { linear::gatherv<T>{}(step, each, root); });
      if (me != root) return step(send{root, all});
      step(listed{step.size() - 1, [=](int i) { return fold{detail::other(i, me), all}; }});
    }

    constexpr double cost(machine const& m, int p, std::size_t n) const {
      double const bytes = static_cast<double>(n * sizeof(T)), others = bytes - bytes / p;
      if (n == 0 || p == 1) return 0;
      if (this->is_short(n, sizeof(T)))
        return m.f_alpha * m.startups(p - 1) + (p - 1) * (bytes * m.beta_uni() + m.combine(bytes));
      int const windows = this->windows_of(p, n, sizeof(T));
      return detail::cost_of_all(m, p, bytes / p, windows) + windows * m.f_alpha * m.startups(p - 1) +
             others * m.beta_uni() + m.combine(others);
    }
  };

  template <class T, class Op>
  struct reduce_scatter {
    static constexpr bool writes_output_alone = true, ordered = true, sequential = true;

    template <steps Step>
    constexpr void operator()(Step& step, blocks const& block) const { detail::exchange_slices(step, block); }

    static constexpr double cost(machine const& m, int p, std::size_t n) {
      double const bytes = static_cast<double>(n * sizeof(T));
      return n == 0 ? 0 : detail::cost_of_all(m, p, bytes / p) + m.combine(bytes - bytes / p);
    }
    static constexpr formula exact_for(machine const&, int p, std::size_t n) { return exact_if(divides(p, n)); }
  };

  template <class T>
  struct broadcast {
    template <steps Step>
    constexpr void operator()(Step& step, range all, int root) const {
      int const me = step.rank();
      step(published{listed{me == root ? step.size() - 1 : 1, [=](int i) {
        return me == root ? operand(send{detail::other(i, me), all}) : operand(recv{root, all});
      }}});
    }
  };

  template <class T>
  struct all_gatherv {
    template <steps Step>
    constexpr void operator()(Step& step, blocks const& block) const {
      detail::publish_to_others(step, block[step.rank()], [=](int r) { return recv{r, block[r]}; });
    }
  };

  template <class T>
  struct all_to_all_v : detail::in_pairs<T> {
    constexpr all_to_all_v() : detail::in_pairs<T>{INT_MAX} {}
  };

  struct barrier {
    template <steps Step>
    constexpr void operator()(Step& step) const {
      if (step.size() == 1) return;
      // Folds, because the ranges of two receives may not overlap.
      detail::publish_to_others(step, {0, 1}, [](int r) { return fold{r, {1, 2}}; });
    }
  };
};

/// Direct over shared memory, or an error: over_shared_memory{direct{}} with a name.
struct shared_memory : direct {
  static constexpr std::string_view name = "shared_memory";
  static constexpr transport over = transport::shared_memory;
};

}  // namespace colligo
