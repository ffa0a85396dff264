// SPDX-License-Identifier: BSL-1.0
/// @file
/// Reads and writes text: switches and numbers in names and variables, error messages, warnings.
#pragma once

#include "mode.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace colligo::inline COLLIGO_MODE::detail {

/// "1", "on", "yes", "true" or "0", "off", "no", "false", in letters of any size.
std::optional<bool> switch_in(std::string_view word);

/// Whether a switch of the environment is on. Off if it is not set, or unknown: states warn of that.
bool switch_of_environment(char const* variable);

/// Removes the digits at the beginning of a text and returns their value. None if there are no digits or too many.
std::optional<std::size_t> digits_in(std::string_view& text);

/// "65536", "64k", "1M", "2G": k is 1024. None: no such number, or too large.
std::optional<std::size_t> number_in(std::string_view word);

/// "1.25", whatever the locale.
std::optional<double> decimal_in(std::string_view word);
/// As printf("%.*g", digits, value), whatever the locale.
std::string in_digits(double value, int digits);

/// The shortest text from which the number can be read back, whatever the locale.
std::string shortest(double value);
std::string shortest(float value);

/// The hash FNV-1a of a text, or of what was hashed before and the text behind it.
constexpr std::uint64_t fnv_1a(std::string_view text, std::uint64_t before = 0xcbf29ce484222325u) {
  for (char const c : text) before = (before ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return before;
}

/// The edit distance between two words.
std::size_t edit_distance(std::string_view a, std::string_view b);
/// The known word with the least edit distance.
std::string_view nearest_to(std::string_view word, std::span<std::string const> known);

/// "1 round", "2 rounds".
std::string with_number(std::size_t n, std::string_view thing);

/// The value of a variable of the environment; null if it is not set, empty, or off.
char const* environment_value(char const* variable);

/// Prints a warning on stderr, unless this process has printed the same text before.
void warn_once(std::string const& text);

/// The text with control characters as "\\n" or "\\x1b", in quotes then.
std::string printable(std::string_view text);
/// The contents of a file, up to a number of bytes; or the trouble: "cannot be opened", "is no regular file",
/// "cannot be read".
struct file_text {
  std::string text;
  char const* trouble = nullptr;
};
file_text read_file(char const* path, std::size_t most);

/// An operand of concat: a string or a number. Only 16 bytes, because messages have many operands.
struct concat_piece {
  char const* text;       ///< null: it is a number
  std::uint64_t number;   ///< of a string its length; up_to_zero: as std::strlen

  static constexpr std::uint64_t up_to_zero = std::string_view::npos;

  concat_piece(char const* word) : text(word), number(up_to_zero) {}
  concat_piece(std::string_view word) : text(word.data() ? word.data() : ""), number(word.size()) {}
  concat_piece(std::string const& word) : text(word.data()), number(word.size()) {}
  template <std::integral N>
    requires(sizeof(N) >= sizeof(int))   // not char
  concat_piece(N n) : text(std::cmp_less(n, 0) ? negative : nullptr), number(static_cast<std::uint64_t>(n)) {}

  static constexpr char negative[] = "";   ///< `text` of a negative number
};
/// Concatenates. Error messages are put together out of line, because every header-only unit compiles all of them.
std::string concat(std::initializer_list<concat_piece> words);

/// "rank 3", "ranks 0-2, 4". Precondition: ascending.
std::string ranks_text(std::span<int const> ranks);

/// "COLLIGO_TRACE has no effect: include <colligo/environment.hpp>, or ..., in one file of this program".
std::string not_included(std::string_view asked_by, std::string_view header);

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "strings_body.hpp"
#endif
