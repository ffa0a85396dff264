// SPDX-License-Identifier: BSL-1.0
/// @file
/// Bruck: an all_to_all with few messages, in which a block travels once for every digit of its distance that is not
/// zero. At first slot x of a rank has the block for the rank x above. For every place i of the digits of x in some
/// radix, a rank sends the slots with digit j there, all as one message, to the rank j radix^i above. At the end slot x
/// has the block from the rank x below.
/// Picture  p = 5, radix 2   slots 1 and 3 to the rank 1 above, slots 2 and 3 to the one 2 above, slot 4 to the one 4
///          above
/// Cost     (radix - 1) i (alpha + n / radix beta) where p is radix^i, n all that a rank sends, lg p (alpha + n/2 beta)
///          for radix 2; for other p the sum over the slots of each message; start-ups of one place but the first are
///          alpha_further where they overlap; equal to the recorded schedule where p divides n
/// Own work every block packed and unpacked as often as it travels, n lg p elements for radix 2; adjacent slots are one
///          copy: 3.5 p copies for radix 2, at most 3 p + 1/radix p for others, and 10 steps for each
/// Needs    any p, blocks of one length, room for three times what a rank sends
/// Order    nothing is combined
/// Prefer   short blocks: radix 2 for a few bytes, near the root of p for longer ones.   Avoid: long blocks (pairwise)
/// Source   Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient Algorithms for All-to-All Communications in Multiport
///          Message-Passing Systems, 1997
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "../core/knob.hpp"
#include "../core/renumbered.hpp"
#include "../shape/bruck_digits.hpp"

namespace colligo::inline COLLIGO_MODE {

struct bruck {
  static constexpr std::string_view name = "bruck";

  std::size_t radix = 2;   ///< at least 2; from p on each block is sent straight to its rank

  static constexpr std::array knobs{knob<bruck>{"radix", &bruck::radix}};

  template <class T>
  struct all_to_all {
    bruck const& knob;

    /// Elements beyond the vectors: the slots, and the messages sent and received.
    static constexpr std::size_t scratch(blocks const& in, std::size_t) { return 3 * rooms(in.parts, in.longest()); }

    constexpr own_work work(blocks const& in, std::size_t) const {
      int const p = in.parts, base = detail::radix_for(p, knob.radix);
      double packed = 0, copies = p - 1;   // to where they stay
      for (int weight = 1; weight < p; weight = weight > p / base ? p : weight * base) {
        detail::bruck_digits const digit{p, base, weight};
        packed += digit.count_below(digit.most() + 1);
        copies += 2 * digit.runs_below(p) + (weight > 1 ? digit.runs_below(p - 1) : 0) - digit.most();
      }
      return {copies, 2 * packed * static_cast<double>(in.longest()), 10 * copies};
    }

    template <steps Step>
    constexpr void operator()(Step& step, blocks const& in, blocks const& out) const {
      int const p = step.size(), me = step.rank(), base = detail::radix_for(p, knob.radix);
      std::size_t const longest = in.longest(), kept = out.whole.last;
      bool const alike = in.is_even() && divides(p, in.whole.size());
      std::size_t const packed = kept + rooms(p, longest), came = packed + rooms(p, longest);
      auto const rank_at = [p, me](int distance) { return (me + distance % p + p) % p; };
      auto const size_for = [&](int distance) { return in[rank_at(distance)].size(); };
      for (int weight = 1; weight < p; weight = weight > p / base ? p : weight * base) {
        detail::bruck_digits const digit{p, base, weight};
        int const most = digit.most();
        // The distance that the block in slot x has still to go, before this round and after it.
        auto const before = [&](int x) { return x - digit.below(x); };
        auto const after = [&](int x) { return digit.above(x); };
        auto const size_below = [&](int j, auto to_go) {
          std::size_t all = rooms(digit.count_below(j), longest);
          if (alike) return all;
          all = 0;
          for (int i = 1; i < j; ++i)
            digit.for_each_run(i, [&](int x, int last) {
              for (; x < last; ++x) all += size_for(to_go(x));
            });
          return all;
        };
        auto const message = [&](std::size_t from, int j, auto to_go) {
          return range{from + size_below(j, to_go), from + size_below(j + 1, to_go)};
        };
        // Calls f(range) for slots x .. last - 1: one range if their blocks leave no gaps, else one for each slot.
        auto const stretches = [&](int x, int last, auto to_go, auto f) {
          for (int end = x; x < last; x = end) {
            std::size_t const first = kept + rooms(x, longest);
            end = alike ? last : x + 1;
            f(range{first, first + (alike ? rooms(end - x, longest) : size_for(to_go(x)))});
          }
        };
        std::size_t at = packed;
        auto const next = [&](std::size_t n) { return at += n, range{at - n, at}; };
        for (int j = 1; j <= most; ++j)
          digit.for_each_run(j, [&](int x, int last) {   // the first has not travelled yet
            step(copy{in[rank_at(x)], next(size_for(x))});
            stretches(x + 1, last, before, [&](range these) { step(copy{these, next(these.size())}); });
          });
        step(listed{2 * most, [&](int i) {
                      int const j = i % most + 1;
                      return i < most ? operand(send{rank_at(j * weight), message(packed, j, before)})
                                      : operand(recv{rank_at(-j * weight), message(came, j, after)});
                    }});
        at = came;
        for (int j = 1; j <= most; ++j)
          digit.for_each_run(j, [&](int x, int last) {
            if (digit.above(x) != 0)
              return stretches(x, last, after, [&](range these) { step(copy{next(these.size()), these}); });
            for (; x < last; ++x) step(copy{next(size_for(0)), out[rank_at(-x)]});
          });
      }
    }

    constexpr double cost(machine const& m, int p, std::size_t n) const {
      double const block = static_cast<double>(n * sizeof(T)) / p;
      int const base = detail::radix_for(p, knob.radix);
      double all = 0;
      for (int weight = 1; weight < p && n != 0; weight = weight > p / base ? p : weight * base) {
        detail::bruck_digits const digit{p, base, weight};
        for (int j = 1; j <= digit.most(); ++j) all += m.exchange(digit.count(j) * block, j > 1);
      }
      return all;
    }
    static constexpr formula exact_for(machine const&, int p, std::size_t n) {
      return exact_if(divides(p, n), formula::rounded);
    }

   private:
    static constexpr std::size_t rooms(int count, std::size_t longest) {
      return static_cast<std::size_t>(count) * longest;
    }
  };
};

}  // namespace colligo
