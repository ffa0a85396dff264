// SPDX-License-Identifier: BSL-1.0
/// @file
/// A table of measurements passed by the program: measured.hpp describes the format, benchmarks/tune writes one.
/// Programs that include this in one unit may also name one by COLLIGO_TABLE.
#pragma once

#include <string>
#include <string_view>

#include "../../select/decide.hpp"
#include "measured.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Communicators that are first used later use the rows of this table before the defaults, as if it were
/// COLLIGO_TABLE's, which wins if it is set; rank 0's holds for all. Empty: none. `where` precedes the line in
/// messages. Throws argument_error, "where:line: what was expected".
void use_table(std::string_view text, std::string const& where = "table");

/// The same of a file. Throws argument_error if it can not be read.
void use_table_file(std::string const& path);

namespace detail {

owner<kept_with_port> read_measured(port_base& port, call const& its, policy_table const& policies);
choice const* find_measured(kept_with_port const& rows, collective what, situation const& s, std::size_t& line);
/// Units that include this turn COLLIGO_TABLE on.
inline bool const tables_can_be_read = (read_tables = {&read_measured, &find_measured}, true);

}  // namespace detail

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "measured_body.hpp"
#endif
