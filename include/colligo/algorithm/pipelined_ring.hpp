// SPDX-License-Identifier: BSL-1.0
/// @file
/// Pipelined ring: the irregular all_gather. Cuts every rank's data into blocks of at most B bytes, which go round the
/// ring one after the other, each rank's own last block first, so that one long contribution does not make all ranks
/// wait.
/// Picture  p = 3, rank 0 has ABC, rank 1 has D, rank 2 nothing   round 1: 0->1 C, 1->2 D   2: 0->1 B, 1->2 C
///          3: 0->1 A, 1->2 B   ...
/// Cost     with b_i = max(1, ceil(m_i / B)): at most sum b_i - min b_i rounds of at most alpha + B beta (equation 1).
///          Where z ranks, but not all others, have nothing and are placed evenly between those that have something,
///          and b_i exceeds the number of empty ranks before i: sum ceil(m_i / B) - 1 + ceil(z / (p - z)) (the source
///          prints floor, which is the smallest such gap)
/// Own work 80 p steps for the order of the ring, which is kept with the communicator for counts that come again
/// Needs    any p, any counts; memory for the order of the ring, p ints a call
/// Order    nothing is combined
/// Prefer   long uneven blocks where copies are expensive (pipelined_circulant has fewer rounds, but packs).   Avoid:
///          short ones (see circulant)
/// Source   Traff et al., A Pipelined Algorithm for Large, Irregular All-gather Problems, sections 2.2 to 2.4
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "../core/knob.hpp"
#include "../core/renumbered.hpp"
#include "../topology/hierarchy.hpp"

namespace colligo::inline COLLIGO_MODE {

/// The block size of equation 2 on a machine, in bytes. All bytes if contributions have one length; the best size for a
/// pipeline if one rank has everything.
inline double best_block(blocks const& of_rank, std::size_t element_size, machine const& m) {
  int const p = of_rank.parts;
  int z = 0;
  bool even = true;
  for (int r = 0; r < p; ++r) z += of_rank[r].empty(), even = even && of_rank[r].size() == of_rank[0].size();
  double const bytes = static_cast<double>(of_rank.whole.size() * element_size);
  if (even || p <= 2) return bytes;
  double const rounds = z == p - 1 ? p - 2 : (p + z) / 2.0 - 1 + z / (p - z);
  return std::sqrt(bytes * m.alpha / m.beta / rounds);
}

struct pipelined_ring {
  static constexpr std::string_view name = "pipelined_ring";

  std::size_t block = 0;            ///< B in bytes; 0: by equation 2 for a `typical` machine, since
                                    ///< schedules depend on p and the counts alone (best_block takes another)
  std::size_t even = 0;             ///< not 0: cuts a contribution evenly instead of into full blocks
                                    ///< and a remainder
  std::span<int const> hosts = {};  ///< the host of each rank; empty: one host, or as the communicator knows
  hierarchy const* by_host = nullptr;    ///< hierarchy::of_hosts of these, if kept

  static constexpr std::array knobs{knob<pipelined_ring>{"block", &pipelined_ring::block},
                                    knob<pipelined_ring>{"even", &pipelined_ring::even}};

  template <class T>
  struct all_gatherv {
    pipelined_ring const& knob;

    /// The ring's order, and the number of blocks of each rank.
    static own_work work(blocks const& of_rank, std::size_t) { return {0, 0, 80.0 * of_rank.parts}; }

    template <steps Step>
    COLLIGO_CONSTEXPR void operator()(Step& step, blocks const& of_rank) const {
      int const p = step.size();
      std::size_t const size = element_size<T>(step);
      std::size_t const bytes =
          knob.block != 0 ? knob.block : static_cast<std::size_t>(best_block(of_rank, size, typical));
      std::size_t const all = std::max<std::size_t>(1, of_rank.whole.size());
      std::size_t const longest = std::clamp<std::size_t>(bytes / size, 1, all);
      auto const order = ring_order(of_rank, knob);
      int const place = static_cast<int>(std::find(order.begin(), order.end(), step.rank()) - order.begin());
      auto const rank_at = [&](int at) { return order[static_cast<std::size_t>((at + p) % p)]; };
      auto const data_blocks = [&](int rank) { return (of_rank[rank].size() + longest - 1) / longest; };
      auto const empty_before = [&](int at) {
        std::size_t z = 0;
        while (z < order.size() && data_blocks(rank_at(at - 1 - static_cast<int>(z))) == 0) ++z;
        return z;
      };
      // If every rank with data has enough of it to bridge the empty ranks before it, those have no block of their own
      // (section 2.3); else they take part as if they had one empty block (2.2).
      int with_data = 0;
      bool bridged = true;
      for (int at = 0; at < p; ++at)
        if (auto const b = data_blocks(rank_at(at)); b != 0) ++with_data, bridged = bridged && b > empty_before(at);
      bool const dense = bridged || with_data == 1;
      auto const block_count = [&](int rank) { return std::max<std::size_t>(dense ? 0 : 1, data_blocks(rank)); };
      auto const block_at = [&](int rank, std::size_t i) {
        range const data = of_rank[rank];
        if (knob.even) return blocks{data, static_cast<int>(block_count(rank))}[static_cast<int>(i)];
        return range{data.first + i * longest, std::min(data.first + (i + 1) * longest, data.last)};
      };

      // Walks back along the ring block by block, from the last block of the rank at a place.
      struct cursor { int at; std::size_t left; };
      auto const next_of = [&](cursor& c) {
        while (c.left == 0) c = {c.at - 1, block_count(rank_at(c.at - 1))};
        return block_at(rank_at(c.at), --c.left);
      };
      cursor sent{place, block_count(rank_at(place))}, received{place - 1, block_count(rank_at(place - 1))};
      std::size_t total = 0;
      for (int r = 0; r < p; ++r) total += block_count(r);
      int const next = rank_at(place + 1), previous = rank_at(place - 1);
      std::size_t const sends = total - block_count(next), receives = total - block_count(step.rank());
      std::size_t const first_receive = dense ? empty_before(place) : 0;
      std::size_t const first_send = block_count(step.rank()) == 0 ? first_receive + 1 : 0;
      for (std::size_t i = 0; i < std::max(first_send + sends, first_receive + receives); ++i)
        step(send{next, first_send <= i && i < first_send + sends ? next_of(sent) : range{}},
             recv{previous, first_receive <= i && i < first_receive + receives ? next_of(received) : range{}});
    }

   private:
    // One host: ranks with data in order, those without placed evenly between them. Several: host by host, those
    // without data first.
    static COLLIGO_CONSTEXPR std::vector<int> ring_order(blocks const& of_rank, pipelined_ring const& knob) {
      if (knob.by_host || !knob.hosts.empty()) {
        auto several = knob.by_host ? host_by_host(of_rank, *knob.by_host)
                                    : host_by_host(of_rank, hierarchy::of_hosts(knob.hosts));
        if (!several.empty()) return several;
      }
      std::vector<int> full, empty, order;
      for (int r = 0; r < of_rank.parts; ++r) (of_rank[r].empty() ? empty : full).push_back(r);
      std::size_t used = 0;
      for (std::size_t i = 0; i < full.size(); ++i) {
        for (std::size_t const until = empty.size() * (i + 1) / full.size(); used < until; ++used)
          order.push_back(empty[used]);
        order.push_back(full[i]);
      }
      return full.empty() ? empty : order;
    }
    // Empty if all ranks are on one host.
    static std::vector<int> host_by_host(blocks const& of_rank, hierarchy const& hosts) {
      int const level = hosts.level_within(distance::network);
      std::vector<int> order;
      if (hosts.group_at(level, 0).size() == hosts.size()) return order;
      for (int place = 0; place < hosts.size();) {
        auto const host = hosts.group_at(level, place);
        for (bool const data : {false, true})
          for (place = host.first; place < host.last; ++place)
            if (int const r = hosts.rank_at(place); of_rank[r].empty() != data) order.push_back(r);
      }
      return order;
    }
  };
};

}  // namespace colligo
