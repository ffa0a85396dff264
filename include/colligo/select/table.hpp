// SPDX-License-Identifier: BSL-1.0
/// @file
/// What `automatic` takes where all ranks share memory: a table of what was measured to be best, the measurement beside
/// each line.
///
/// Microseconds a call of sums of doubles, medians of benchmarks/compare on two cores (Debian 12, g++ 12); p = 4 and 8
/// share the two cores. Over shared memory a vector is published once and read by all, so that rounds count and
/// messages do not: `direct` wins but where two ranks share long vectors.
#pragma once

#include <array>
#include <cstddef>
#include <limits>

#include "chosen.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// For least_ranks .. most_ranks ranks and vectors of up to `up_to` bytes.
struct table_line {
  collective what;
  int least_ranks, most_ranks;
  std::size_t up_to;
  any_algorithm take;
};

inline constexpr int any_ranks = std::numeric_limits<int>::max();
inline constexpr std::size_t any_bytes = std::numeric_limits<std::size_t>::max();

/// The first line that fits counts.
inline constexpr std::array shared_memory_table{
    // 8 B: 0.20; 32 KiB: 5.1, halving_doubling 6.8.
    table_line{collective::all_reduce, 2, 2, 49152, recursive_doubling{}},
    // 128 KiB: 18.0, recursive_doubling 21.2; 8 MiB: 1213, 1685.
    table_line{collective::all_reduce, 2, 2, any_bytes, halving_doubling{}},
    // p = 8, 8 B: 5.0, recursive_doubling 8.7; 8 MiB: 9900, 23100.
    table_line{collective::all_reduce, 3, any_ranks, any_bytes, direct{}},
    table_line{collective::reduce, 2, 2, 4096, direct{}},                              // 8 B: 0.19, binary_tree 0.24
    // 8 MiB: 927, halving_doubling 1180, direct 1960.
    table_line{collective::reduce, 2, 2, any_bytes, binary_tree{}},
    table_line{collective::gather, 1, any_ranks, any_bytes, linear{}},                 // every block goes once
    table_line{collective::gatherv, 1, any_ranks, any_bytes, linear{}},
    table_line{collective::scatter, 1, any_ranks, any_bytes, linear{}},
    table_line{collective::scatterv, 1, any_ranks, any_bytes, linear{}},
    // p = 2, 8 KiB: 0.86, pipelined_chain 0.87.
    table_line{collective::scan, 1, any_ranks, any_bytes, recursive_doubling{}},
    table_line{collective::exclusive_scan, 1, any_ranks, any_bytes, doubling_123{}},
};

/// Everybody reads everybody where no line fits: reduce of more ranks, reduce_scatter (p = 2, 8 MiB: 1570,
/// recursive_halving 1580), all_gather (p = 2, 8 KiB:
/// 2.1, ring 2.1), broadcast (p = 2, 8 B: 0.19, scatter_all_gather 0.27), all_gatherv (p = 2, spike, 8 KiB: 1.4,
/// linear_ring 1.2), barrier (0.18, dissemination 0.18).
constexpr any_algorithm choose_shared(collective what, int p, std::size_t bytes) {
  for (table_line const& line : shared_memory_table)
    if (line.what == what && line.least_ranks <= p && p <= line.most_ranks && bytes <= line.up_to) return line.take;
  return direct{};
}

}  // namespace colligo
