// SPDX-License-Identifier: BSL-1.0
/// @file
/// The choice of `automatic` if all ranks share memory: a table derived from measurements.
///
/// benchmarks/machines has the measurements of each machine, and a program that derives the marked lines: worst ratios
/// to the best, over machines and kinds of inputs, have the least product over the sizes, and few changes. A test
/// asserts that the lines are derived. Over shared memory a vector is published once and read by all, so rounds matter
/// and messages do not: `direct` wins unless a line says otherwise.
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
  choice take;
};

inline constexpr int any_ranks = std::numeric_limits<int>::max();
inline constexpr std::size_t any_bytes = std::numeric_limits<std::size_t>::max();

/// The first line that fits decides.
inline constexpr std::array shared_memory_table{
    // derived: begin
    // at worst 1.00 times the best of any machine
    table_line{collective::all_gather, 2, 2, 2048, direct{}},
    // at worst 1.08 times the best of any machine
    table_line{collective::all_gather, 2, 2, any_bytes, circulant{}},
    // at worst 1.24 times the best of any machine
    table_line{collective::all_reduce, 2, 2, any_bytes, direct{.window = 262144}},
    // at worst 1.14 times the best of any machine
    table_line{collective::exclusive_scan, 2, 2, any_bytes, recursive_doubling{}},
    // at worst 1.21 times the best of any machine
    table_line{collective::gather, 2, 2, any_bytes, linear{}},
    // at worst 1.00 times the best of any machine
    table_line{collective::reduce, 2, 2, 16384, direct{}},
    // at worst 1.09 times the best of any machine
    table_line{collective::reduce, 2, 2, any_bytes, pipelined_chain{}},
    // at worst 1.03 times the best of any machine
    table_line{collective::scan, 2, 2, any_bytes, recursive_doubling{}},
    // at worst 1.10 times the best of any machine
    table_line{collective::scatter, 2, 2, any_bytes, linear{}},
    // derived: end
    // Machines with two cores can not measure more ranks.
    table_line{collective::gather, 1, any_ranks, any_bytes, linear{}},                 // every block goes once
    table_line{collective::gatherv, 1, any_ranks, any_bytes, linear{}},
    table_line{collective::scatter, 1, any_ranks, any_bytes, linear{}},
    table_line{collective::scatterv, 1, any_ranks, any_bytes, linear{}},
    table_line{collective::scan, 1, any_ranks, any_bytes, recursive_doubling{}},
    table_line{collective::exclusive_scan, 1, any_ranks, any_bytes, doubling_123{}},
};

/// `direct` if no line fits. Ranks that share cores scan along a chain: there the sum of all ranks' work counts, and a
/// chain has p - 1 messages where doubling has p lg p.
constexpr choice choose_shared(collective what, int p, std::size_t bytes, bool cores) {
  if ((what == collective::scan || what == collective::exclusive_scan) && p > 2 && !cores) return pipelined_chain{};
  for (table_line const& line : shared_memory_table)
    if (line.what == what && line.least_ranks <= p && p <= line.most_ranks && bytes <= line.up_to) return line.take;
  return direct{};
}

}  // namespace colligo
