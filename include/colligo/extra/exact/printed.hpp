// SPDX-License-Identifier: BSL-1.0
/// @file
/// How exact and binned sums are printed.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <ostream>
#include <string_view>
#include <type_traits>

#include "../../core/mode.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Enough digits to identify the number.
template <class T>
std::ostream& print_number(std::ostream& out, T x) {
  using printed = std::conditional_t<sizeof(T) < sizeof(float), float, T>;
  std::array<char, 32> text{};
  auto const end = std::to_chars(text.data(), text.data() + text.size(), static_cast<printed>(x)).ptr;
  return out << std::string_view(text.data(), static_cast<std::size_t>(end - text.data()));
}

}  // namespace colligo
