// SPDX-License-Identifier: BSL-1.0
/// @file
/// How exact and binned sums are printed.
#pragma once

#include <ostream>
#include <type_traits>

#include "../../core/strings.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Enough digits to identify the number.
template <class T>
std::ostream& print_number(std::ostream& out, T x) {
  return out << shortest(static_cast<std::conditional_t<sizeof(T) <= sizeof(float), float, double>>(x));
}

}  // namespace colligo
