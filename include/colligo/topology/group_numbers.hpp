// SPDX-License-Identifier: BSL-1.0
/// @file
/// Groups of ranks as numbers, one for each rank.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "../core/mode.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Sorts `all` by number[each], stably (counting sort). Returns where each of the `count` numbers begins, and the end.
std::vector<int> sort_by(std::span<int const> number, int count, std::vector<int>& all);
/// Replaces group numbers: each rank gets the lowest rank of its group.
std::vector<int> by_lowest(std::span<int const> numbers);

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "group_numbers_body.hpp"
#endif
