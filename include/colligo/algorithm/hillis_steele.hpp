// SPDX-License-Identifier: BSL-1.0
/// @file
/// Hillis and Steele's scan with a radix k: a rank that has combined the d ranks up to itself sends that to the ranks
/// d, 2 d ... (k-1) d above, and has combined k d then; d = 1, k, k^2 ...
/// Picture  p = 9, radix 3   round 1: 0->1,2 1->2,3 2->3,4 ...   round 2: 0->3,6 1->4,7 2->5,8 3->6 4->7 5->8
/// Cost     sum over rounds of alpha + (k_i - 2) alpha_further + (k_i - 1) (n beta + n gamma), k_i <= k, in
///          ceil(log p / log k) rounds; exclusive_scan gets the values of the k ranks below first: a message more
///          there; equal to the recorded schedule where one-way messages cost as much as exchanges, else at least that
/// Own work exclusive_scan at most k - 1 merges
/// Needs    any p, any associative functor; exclusive_scan memory for k - 1 vectors
/// Order    kept
/// Prefer   short vectors if the start-ups of messages to several ranks overlap, and hosts do not hold consecutive
///          ranks (see scan_by_level).   Avoid: long vectors (see pipelined_chain); radix 2 is recursive_doubling
/// Source   W. D. Hillis, G. L. Steele, Data Parallel Algorithms, 1986; with k ports as Bruck, Ho, Kipnis, Upfal,
///          Weathersby have for other collectives, 1997
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "../core/knob.hpp"
#include "../core/policy.hpp"

namespace colligo::inline COLLIGO_MODE {

struct hillis_steele {
  static constexpr std::string_view name = "hillis_steele";

  std::size_t radix = 4;   ///< at least 2; from p on each rank sends to all higher ones

  static constexpr std::array knobs{knob<hillis_steele>{"radix", &hillis_steele::radix}};

 private:
  template <class T>
  struct form {
    hillis_steele const& knob;
    static constexpr bool ordered = true;

    constexpr int base(int p) const { return detail::radix_for(p, knob.radix); }
    static constexpr formula exact_for(machine const& m, int, std::size_t) {
      return exact_if(m.one_way_as_exchange(), formula::bound);
    }

   protected:
    // Calls f(d, number of peers each way) for each round, from distance d on.
    template <class F>
    constexpr void for_each_round(int p, int ranks, int d, F f) const {
      for (int const k = base(p); d < ranks; d = d > p / k ? p : d * k) f(d, std::min(k - 1, (ranks - 1) / d));
    }
    // Ranks `first` and above, each of which has combined d values, combine all lower ones, the farthest peer's first.
    template <steps Step>
    constexpr void grow(Step& step, range all, int first, int d) const {
      int const p = step.size(), me = step.rank();
      for_each_round(p, p - first, d, [&](int apart, int others) {
        step(listed{2 * others, [=](int i) -> operand {
                      int const away = (others - i % others) * apart;
                      if (i < others) return send{me >= first && away < p - me ? me + away : nobody, all};
                      return fold{away <= me - first ? me - away : nobody, all};
                    }});
      });
    }
    constexpr double cost_of_growing(machine const& m, int p, int first, int d, double bytes) const {
      double sum = 0;
      for_each_round(p, p - first, d, [&](int, int others) {
        sum += m.startups(others) + others * (bytes * m.beta + m.combine(bytes));
      });
      return sum;
    }
  };

 public:
  template <class T, class Op>
  struct scan : form<T> {
    template <steps Step>
    constexpr void operator()(Step& step, range all) const { this->grow(step, all, 0, 1); }

    constexpr double cost(machine const& m, int p, std::size_t n) const {
      return n == 0 ? 0 : this->cost_of_growing(m, p, 0, 1, static_cast<double>(n * sizeof(T)));
    }
  };

  // The first round brings each rank the values of the k ranks below it. After that nobody needs rank 0.
  template <class T, class Op>
  struct exclusive_scan : form<T> {
    constexpr int first_peers(int p) const { return std::min(this->base(p), p - 1); }
    constexpr std::size_t scratch(blocks const& vector, std::size_t) const {
      return static_cast<std::size_t>(this->base(vector.parts) - 1) * vector.whole.size();
    }
    constexpr own_work work(blocks const& vector, std::size_t) const {
      return {std::max(0., first_peers(vector.parts) - 1.), 0, 0};
    }

    template <steps Step>
    constexpr void operator()(Step& step, range all) const {
      int const me = step.rank(), p = step.size(), others = first_peers(p);
      auto const slot = [all](int i) {   // the nearest peer's value in the vector, others behind it
        std::size_t const by = static_cast<std::size_t>(i - 1) * all.size();
        return range{all.first + by, all.last + by};
      };
      step(listed{2 * others, [=](int i) -> operand {
                    int const away = others - i % others;
                    if (i < others) return send{away < p - me ? me + away : nobody, all, own::input};
                    return recv{away <= me ? me - away : nobody, slot(away)};
                  }});
      for (int i = 2; i <= std::min(others, me); ++i) step(merge{slot(i), all});
      this->grow(step, all, 1, others);
    }

    constexpr double cost(machine const& m, int p, std::size_t n) const {
      double const bytes = static_cast<double>(n * sizeof(T));
      int const others = first_peers(p);
      if (n == 0 || p == 1) return 0;
      return m.startups(others) + others * bytes * m.beta + (others - 1) * m.combine(bytes) +
             this->cost_of_growing(m, p, 1, others, bytes);
    }
  };
};

}  // namespace colligo
