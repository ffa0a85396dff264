// SPDX-License-Identifier: BSL-1.0
/// @file
/// Pipelined circulant: a broadcast in blocks, and backwards a reduce, in the fewest rounds possible for the number of
/// blocks. In every round each rank sends one block and receives one, at the distances of the circulant graph in turn.
/// Each rank computes its own schedule, by which it always has the block that it is to send. Broadcasts from all ranks
/// at once are an all_gatherv, whose messages are lists of one block per rank; backwards that is a reduce_scatter.
/// Picture  p = 5, blocks ABC   round 1: 0->3 A   2: 0->2 B   3: 0->4 C, 3->2 A, 2->1 B
///          4: 0->3 C, 3->1 A, 1->4 B   5: 0->2 C, 4->1 C, 2->4 A, 1->3 B      distances 2 3 1 2 3
/// Cost     with q = ceil(lg p) and N blocks: broadcast  (N - 1 + q) (alpha + n/N beta), equal to the recorded schedule
///          where N divides n and one-way messages cost as much as exchanges; N = sqrt((q - 1) n beta / alpha) is best
///          all_gatherv  (N - 1 + q) alpha + (n - n/p) beta where all have n/p, cut into N segments; equal likewise.
///          In general about (N - 1 + q) alpha + (n - m + x/N) beta: m is the shortest contribution, and n - m + x what
///          moves on the longest path of circulant; data from one rank alone has m = 0, x = (q - 1) n.
///          N = sqrt(x beta / alpha) is best
///          reduce and reduce_scatter  the same with beta + gamma instead of beta
/// Own work broadcast and reduce: 36 q (q + 1) steps a call for the schedule
///          lists: 60 q steps, 120 q where blocks are uneven. If c ranks' data are cut, also 4 p (2 p from one rank)
///          and 30 q^2 for each of the c, at most (47 c + 25 p) q. Messages of several stretches are packed and
///          unpacked: with cut data 2 copies of n and q/N n, otherwise, where they wrap round the end, 2 q copies, of
///          n elements in all
/// Needs    any p, any root, any counts; for reductions a commutative functor; for lists memory for a message each way
///          and for c q small integers, at most p q
/// Order    not kept
/// Prefer   broadcast and reduce of vectors of any length on many ranks, all_gatherv and reduce_scatter of long uneven
///          blocks.   Avoid: very short vectors (see binary_tree, which has nothing to compute), even blocks (see
///          circulant)
/// Source   J. L. Traff, Optimal Broadcast Schedules in Logarithmic Time with Applications to Broadcast, All-Broadcast,
///          Reduction and All-Reduction, 2024; the number of segments, and how shorter data are cut, are our own
#pragma once

#include <array>
#include <string_view>

#include "../core/knob.hpp"
#include "../core/renumbered.hpp"
#include "../shape/lists_on_circulant.hpp"
#include "../shape/pipeline_on_circulant.hpp"

namespace colligo::inline COLLIGO_MODE {

struct pipelined_circulant {
  static constexpr std::string_view name = "pipelined_circulant";

  std::size_t block = 0;   ///< bytes; 0: chosen from the length and the number of ranks

  static constexpr std::array knobs{knob<pipelined_circulant>{"block", &pipelined_circulant::block}};

 private:
  template <bool Combines>
  static constexpr double per_byte(machine const& m) { return Combines ? m.beta + m.gamma : m.beta; }

  // Broadcast and reduce.
  template <class T, bool Combines>
  struct with_root {
    pipelined_circulant const& knob;

    pipeline cut(range all, std::size_t element_size, int p) const {
      return {all, knob.block, element_size, ceil_lg(p) - 1, per_byte<Combines>(typical)};
    }
    template <steps Step>
    detail::pipeline_on_circulant rounds_of(Step const& ring, range all) const {
      return {cut(all, element_size<T>(ring), ring.size()), ring.size(), ring.rank()};
    }

    static own_work work(blocks const& vector, std::size_t) {
      int const q = ceil_lg(vector.parts);
      return {0, 0, vector.whole.empty() ? 0.0 : 36.0 * q * (q + 1)};
    }
    double cost(machine const& m, int p, std::size_t n) const {
      int const parts = cut({0, n}, sizeof(T), p).size();
      double const each = static_cast<double>(n * sizeof(T)) / parts;
      return n == 0 || p == 1 ? 0 : (parts - 1 + ceil_lg(p)) * (m.alpha + each * per_byte<Combines>(m));
    }
    formula exact_for(machine const& m, int p, std::size_t n) const {
      return exact_if(m.one_way_as_exchange() && divides(cut({0, n}, sizeof(T), p).size(), n));
    }
  };

  // all_gatherv and reduce_scatter.
  template <class T, bool Combines>
  struct in_lists {
    pipelined_circulant const& knob;
    static constexpr double byte = per_byte<Combines>(typical);

    circulant_cut cut(blocks const& of_rank, std::size_t element_size) const {
      return detail::cut_for_lists(of_rank, element_size, knob.block, byte);
    }
    std::size_t scratch(blocks const& of_rank, std::size_t element_size) const {
      return detail::room_for_lists(of_rank, cut(of_rank, element_size));
    }
    own_work work(blocks const& of_rank, std::size_t element_size) const {
      return detail::work_of_lists(of_rank, cut(of_rank, element_size), Combines ? 1 : 2, [](int) {});
    }
    double cost(machine const& m, int p, std::size_t n) const {
      blocks const even{{0, n}, p};
      return detail::cost_of_lists(m, even, sizeof(T), cut(even, sizeof(T)), per_byte<Combines>(m));
    }
    formula exact_for(machine const& m, int p, std::size_t n) const {
      std::size_t const segments = cut({{0, n}, p}, sizeof(T)).segments;   // of each block
      return exact_if(m.one_way_as_exchange() && n % (static_cast<std::size_t>(p) * segments) == 0);
    }
  };

 public:
  template <class T>
  struct broadcast : with_root<T, false> {
    template <steps Step>
    void operator()(Step& step, range all, int root) const {
      auto ring = mirrored_at(step, root);
      auto const rounds = this->rounds_of(ring, all);
      for (int i = 0; i < rounds.size(); ++i) {
        auto const round = rounds[i];
        ring(send{round.to, round.sent}, recv{round.from, round.received});
      }
    }
  };

  template <class T, class Op>
  struct reduce : with_root<T, true> {
    static constexpr bool ordered = false;

    // The broadcast backwards: a block leaves a rank when all of its contributions have been folded.
    template <steps Step>
    void operator()(Step& step, range all, int root) const {
      auto ring = rooted_at(step, root);
      auto const rounds = this->rounds_of(ring, all);
      for (int i = rounds.size() - 1; i >= 0; --i) {
        auto const round = rounds[i];
        ring(send{round.from, round.received}, fold{round.to, round.sent});
      }
    }
  };

  template <class T>
  struct all_gatherv : in_lists<T, false> {
    template <steps Step>
    void operator()(Step& step, blocks const& of_rank) const {
      detail::all_gather_in_lists(step, of_rank, this->cut(of_rank, element_size<T>(step)));
    }
  };

  template <class T, class Op>
  struct reduce_scatter : in_lists<T, true> {
    static constexpr bool ordered = false;

    template <steps Step>
    void operator()(Step& step, blocks const& of_rank) const {
      detail::reduce_scatter_in_lists(step, of_rank, this->cut(of_rank, element_size<T>(step)));
    }
  };
};

}  // namespace colligo
