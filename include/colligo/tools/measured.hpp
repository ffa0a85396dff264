// SPDX-License-Identifier: BSL-1.0
/// @file
/// Tables of measurements on the user's machine. COLLIGO_TABLE names such a file, in programs that include this in one
/// unit, or the program passes it; benchmarks/bench/tune.py writes one. A row gives the algorithm for a collective at a
/// number of ranks and bytes; `#` begins a comment; blank lines are ignored; there are at most 10 000 rows.
///
///   # collective  type    functor   ranks  bytes    algorithm
///   all_reduce    double  commutes  2      8        recursive_doubling
///   all_reduce    any     any       32/8   1M       vendor
///
///   set COLLIGO_CHUNKS 64k
///
/// type       any, or a name as explain() writes it, without its blanks
/// functor    any, commutes, ordered (it is not known to commute); of collectives that combine nothing any
/// ranks      p, or p/h where they are on h hosts
/// bytes      of the vector; of collectives on blocks those of one rank's block. k, M and G are 2^10, 2^20 and 2^30.
/// algorithm  as named() takes it
///
/// Among the rows of a call's collective, type and functor the nearest holds, by logarithms: the nearest number of
/// ranks, which must lie between the least and the most of these rows, then the nearest bytes, which may be half of the
/// first row's and twice the last row's. Rows that name the type come before those for any, then rows that name the
/// functor; rows whose algorithm may not run do not count. Where no row holds, and where blocks are uneven (one of more
/// than one and a half times the mean), the library chooses as without a table. A row with `set` gives a variable its
/// value unless the environment has it: COLLIGO_NETWORK, COLLIGO_LATENCIES, COLLIGO_LINES, COLLIGO_CHUNKS,
/// COLLIGO_STORES, COLLIGO_READ_MEMORY.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../rules/chosen.hpp"
#include "../rules/policies.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Communicators whose first call comes later use the rows of this table before the library's defaults, unless
/// COLLIGO_TABLE is set. Rank 0's table holds for all ranks. An empty text: no table. `where` precedes the line in
/// messages. Throws argument_error, "colligo: where:line: what was expected". Not collective. Cost: reads it all.
void use_table(std::string_view text, std::string const& where = "table");

/// The same of the file at this path. Throws argument_error also if the file can not be read.
void use_table_file(std::string const& path);

namespace detail {

struct measured_row {
  enum class functor : std::uint8_t { any, commutes, ordered };

  collective what;
  std::string type;   ///< empty: any
  functor kind;
  int hosts, ranks;
  std::size_t bytes;
  choice take;
  std::size_t line;
};

/// The contents of a file.
struct measured_table {
  std::vector<measured_row> rows;   ///< by all that comes before `take`

  /// Throws argument_error, "where:line: what was expected", for anything else.
  static measured_table parse(std::string_view text, std::string const& where);
  /// Shared by all communicators of the process with the same setting.
  static std::shared_ptr<measured_table const> of(file_setting const& setting);
};

owner<kept_with_state> read_measured(communicator_state& state, call const& call, policy_table const& policies);
choice const* find_measured(kept_with_state const& rows, collective what, situation const& s, std::size_t& line);
/// Units that include this turn COLLIGO_TABLE on.
inline bool const tables_can_be_read = (read_tables = {&read_measured, &find_measured}, true);

}  // namespace detail
}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "measured_body.hpp"
#endif
