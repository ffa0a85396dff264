// SPDX-License-Identifier: BSL-1.0
/// @file
/// Text files that people and programs write: lines of words; `#` begins a comment.
#pragma once

#include "mode.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace colligo::inline COLLIGO_MODE::detail {

/// The lines of a text one after the other, without their comments.
struct text_lines {
  std::string_view rest, line{};
  std::size_t number = 0;   ///< of the line, from 1 on

  /// False at the end of the text.
  constexpr bool next() {
    if (rest.empty()) return false;
    ++number;
    auto const end = std::min(rest.find('\n'), rest.size());
    line = rest.substr(0, std::min(end, rest.find('#')));
    rest.remove_prefix(std::min(rest.size(), end + 1));
    return true;
  }
};

/// Removes the first word of a line and returns it; empty if there is none.
constexpr std::string_view next_token(std::string_view& line) {
  constexpr std::string_view blanks = " \t\r";
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  auto const word = line.substr(0, line.find_first_of(blanks));
  line.remove_prefix(word.size());
  return word;
}

/// For messages: the beginning of a text, in quotes, as far as it can be printed.
inline std::string in_quotes(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string q = "\"";
  for (char const c : text.substr(0, most)) q += c >= ' ' && c <= '~' ? c : '?';
  return q + (text.size() > most ? "...\"" : "\"");
}

}  // namespace colligo
