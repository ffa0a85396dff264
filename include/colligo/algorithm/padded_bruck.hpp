// SPDX-License-Identifier: BSL-1.0
/// @file
/// Padded Bruck: all_to_all_v of short blocks as an all_to_all by bruck. Each block is padded to the longest one of any
/// rank, which all ranks have to know. What exceeds the length of bruck's blocks goes straight, as in pairwise.
/// Picture  p = 3, longest 2, blocks a bb ccc: a. bb cc by bruck, then c straight
/// Cost     bruck's for p blocks of the longest length, and pairwise's for what is longer, equal to the recorded
///          schedule where all blocks are alike
/// Own work bruck's, and each block copied before and after
/// Needs    any p, any counts; room for five times p of the longest blocks
/// Order    nothing is combined
/// Prefer   blocks of a few bytes on many ranks.   Avoid: long blocks, or one that is much longer than the others
/// Source   Fan, Gilray, Pascucci, Huang, Micinski, Kumar, Optimizing the Bruck Algorithm for Non-uniform All-to-all
///          Communication, 2022, which sends lengths along as well
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "bruck.hpp"
#include "pairwise.hpp"

namespace colligo::inline COLLIGO_MODE {

struct padded_bruck {
  static constexpr std::string_view name = "padded_bruck";

  std::size_t radix = 2;     ///< at least 2
  std::size_t longest = 0;   ///< elements of the longest block, the same on all ranks; 0, not known, or more than 2^20:
                             ///< all goes straight

  static constexpr std::array knobs{knob<padded_bruck>{"radix", &padded_bruck::radix},
                                    knob<padded_bruck>{"longest", &padded_bruck::longest}};

  template <class T>
  class all_to_all_v {
   public:
    constexpr explicit all_to_all_v(padded_bruck const& of)
        : radix_{of.radix}, longest_(of.longest <= 1u << 20 ? of.longest : 0) {}

    constexpr std::size_t scratch(blocks const& in, std::size_t) const { return 5 * padded(in.parts, 0).whole.size(); }
    constexpr own_work work(blocks const& in, std::size_t element_size) const {
      if (longest_ == 0) return {};
      blocks const all = padded(in.parts, 0);
      own_work const work = heads().work(all, element_size);
      return {work.moves + 2. * in.parts, work.copied + 2. * static_cast<double>(all.whole.size()), work.steps};
    }

    template <steps Step>
    constexpr void operator()(Step& step, blocks const& in, blocks const& out) const {
      if (longest_ == 0) return detail::exchange_pairs(step, in, out, window);
      int const p = step.size();
      blocks const from = padded(p, out.whole.last), to = padded(p, from.whole.last);
      auto const copy_heads = [&](blocks const& vector, blocks const& rooms, bool there) {
        for (int r = 0; r < p; ++r) {
          std::size_t const n = r == step.rank() ? 0 : std::min(vector[r].size(), longest_);
          range const head{vector[r].first, vector[r].first + n}, room{rooms[r].first, rooms[r].first + n};
          if (n != 0) step(there ? copy{head, room} : copy{room, head});
        }
      };
      copy_heads(in, from, true);
      heads()(step, from, to);
      copy_heads(out, to, false);
      detail::exchange_pairs(step, rests{in, longest_}, rests{out, longest_}, window);
    }

    constexpr double cost(machine const& m, int p, std::size_t n) const {
      std::size_t const all = padded(p, 0).whole.size(), rest = n > all ? n - all : 0;
      double const straight = detail::cost_of_pairs(m, p, static_cast<double>(rest * sizeof(T)), window);
      return n == 0 ? 0 : heads().cost(m, p, all) + straight;
    }
    static constexpr formula exact_for(machine const&, int p, std::size_t n) { return exact_if(divides(p, n)); }

   private:
    static constexpr int window = 8;

    struct rests {
      blocks const& block;
      std::size_t head;
      constexpr range operator[](int r) const {
        return {std::min(block[r].last, block[r].first + head), block[r].last};
      }
    };
    constexpr typename bruck::all_to_all<T> heads() const { return {radix_}; }
    constexpr blocks padded(int p, std::size_t first) const {
      return {{first, first + static_cast<std::size_t>(p) * longest_}, p};
    }

    bruck radix_;
    std::size_t longest_;
  };
};

}  // namespace colligo
