// SPDX-License-Identifier: BSL-1.0
/// @file
/// Trees over the ranks of a communicator (rules/trees_of_hosts.hpp), and COLLIGO_TREE, for programs that include this
/// header in one unit.
#pragma once

#include "communicators/communicators.hpp"
#include "rules/trees_of_hosts.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

inline bool const trees_of_environment = (make_tree = &trees_by_setting<void>::make, true);

}  // namespace colligo
