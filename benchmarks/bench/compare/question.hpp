// SPDX-License-Identifier: BSL-1.0
/// @file
/// What can be compared. Contests are templates on element type and functor that take long to compile: each type has a
/// file of its own, and nothing that sees the templates may name those of other types (offers.hpp).
#pragma once

#include <colligo/core/policy.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../measure.hpp"
#include "forms.hpp"

namespace bench {

struct request {
  colligo::collective what;
  std::string algorithms;     ///< "all" or names with commas between
  std::optional<int> root;    ///< none: the calls take turns
  std::vector<std::size_t> (*distribution)(int p, std::size_t c) = nullptr;   ///< of the counts of v-collectives
  mode how = mode::blocking;
  bool rotating = false;   ///< inputs lie in memory, not in caches
};

/// The contenders that a request names. Throws agreed_error with the list if it names others.
template <class T, class Op>
std::unique_ptr<contest> reduction_of(request const&);

/// The collectives other than all_reduce and reduce: sums of double, where they sum.
std::unique_ptr<contest> family_of_double(request const&);

}  // namespace bench
