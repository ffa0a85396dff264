// SPDX-License-Identifier: BSL-1.0
/// @file
/// A table of what was measured, given by the program: measured.hpp says how it is written, benchmarks/tune writes one.
/// Programs of which one unit includes this may name one by COLLIGO_TABLE.
#pragma once

#include <string>
#include <string_view>

#include "../../select/decide.hpp"
#include "measured.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Communicators whose first collective comes later take the rows of this table before the defaults, as if it were
/// COLLIGO_TABLE's, which wins where it is set; rank 0's holds for all. Empty: none. `where` stands in messages
/// before the line. Throws argument_error, "where:line: what was expected".
void use_table(std::string_view text, std::string const& where = "table");

/// The same of a file. Throws argument_error if it can not be read.
void use_table_file(std::string const& path);

namespace detail {

owner<kept_with_port> read_measured(port_base& port, call const& its, policy_table const& policies);
choice const* find_measured(kept_with_port const& rows, collective what, situation const& s, std::size_t& line);
/// Whoever includes this may have COLLIGO_TABLE.
inline bool const tables_can_be_read = (read_tables = {&read_measured, &find_measured}, true);

}  // namespace detail

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "measured_body.hpp"
#endif
