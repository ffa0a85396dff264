// SPDX-License-Identifier: BSL-1.0
/// @file
/// What can be compared. Contests are templates on element type and functor that take long to compile: each type has a
/// file of its own.
#pragma once

#include <array>
#include <colligo/core/policy.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../elements.hpp"
#include "../measure.hpp"

namespace bench {

struct request {
  colligo::collective what;
  std::string algorithms;     ///< "all" or names with commas between
  std::optional<int> root;    ///< none: the calls take turns
  std::vector<std::size_t> (*distribution)(int p, std::size_t c) = nullptr;   ///< of the counts of v-collectives
};

/// The contenders that a request names. Throws agreed_error with the list if it names others.
template <class T, class Op>
std::unique_ptr<contest> reduction_of(request const&);

/// The collectives other than all_reduce and reduce: sums of double, where they sum.
std::unique_ptr<contest> family_of_double(request const&);

/// A type and a functor that fit together.
struct offer {
  std::string_view type, op;
  std::unique_ptr<contest> (*make)(request const&);
};

inline constexpr std::array offers{
    offer{"double", "sum", &reduction_of<double, sum>},
    offer{"double", "max", &reduction_of<double, colligo::maximum>},
    offer{"float", "sum", &reduction_of<float, sum>},
    offer{"float", "max", &reduction_of<float, colligo::maximum>},
    offer{"int", "sum", &reduction_of<int, sum>},
    offer{"int", "max", &reduction_of<int, colligo::maximum>},
    offer{"located", "maxloc", &reduction_of<place, colligo::maxloc>},
    offer{"struct", "merge", &reduction_of<summary, merge>},
};

}  // namespace bench
