// SPDX-License-Identifier: BSL-1.0
/// @file
/// The sizes that --bytes asks for.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "../agreed_error.hpp"

namespace bench {

/// "A:B" (A, A factor, A factor^2 ... up to B) or "A,B,C", in bytes, as numbers of elements: rounded
/// up, at least one, none twice.
inline std::vector<std::size_t> element_counts(std::string_view text, std::size_t factor, std::size_t element_size) {
  auto const refuse = [text](char const* why) {
    throw agreed_error(fmt::format("--bytes: {}: \"{}\"; examples are 8:8388608 and 8,4096", why, text));
  };
  auto const number = [&](std::string_view part) {
    std::size_t value = 0;
    auto const [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc{} || end != part.data() + part.size()) refuse("not a size");
    // The MPI calls that are compared with count in int.
    if (value / element_size >= INT_MAX) refuse("too large");
    return value;
  };

  std::vector<std::size_t> counts;
  auto const add = [&](std::size_t bytes) {
    std::size_t const n = std::max<std::size_t>(1, (bytes + element_size - 1) / element_size);
    if (std::find(counts.begin(), counts.end(), n) == counts.end()) counts.push_back(n);
  };
  if (auto const colon = text.find(':'); colon != text.npos) {
    std::size_t const first = number(text.substr(0, colon)), last = number(text.substr(colon + 1));
    if (first == 0 || first > last) refuse("a range begins above 0 and does not end before it begins");
    for (std::size_t bytes = first; bytes <= last; bytes *= factor) add(bytes);
  } else {
    for (std::size_t at = 0; at <= text.size();) {
      std::size_t const comma = std::min(text.find(',', at), text.size());
      add(number(text.substr(at, comma - at)));
      at = comma + 1;
    }
  }
  return counts;
}

}  // namespace bench
