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
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 200000
#include <locale>
#include <sstream>
#endif

#include "mutex.hpp"
#include "small_vector.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

[[gnu::cold]] COLLIGO_BODY std::optional<bool> switch_in(std::string_view word) {
  std::string lower(word);
  for (char& c : lower)
    if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');   // in every locale
  for (char const* const yes : {"1", "on", "yes", "true"})
    if (lower == yes) return true;
  for (char const* const no : {"0", "off", "no", "false"})
    if (lower == no) return false;
  return std::nullopt;
}

[[gnu::cold]] COLLIGO_BODY bool switch_of_environment(char const* variable) {
  char const* const value = std::getenv(variable);
  return switch_in(value ? value : "").value_or(false);
}

[[gnu::cold]] COLLIGO_BODY std::optional<std::size_t> digits_in(std::string_view& text) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  std::size_t number = 0, count = 0;
  for (; count < text.size() && '0' <= text[count] && text[count] <= '9'; ++count) {
    auto const digit = static_cast<std::size_t>(text[count] - '0');
    if (number > (most - digit) / 10) return std::nullopt;
    number = 10 * number + digit;
  }
  if (count == 0) return std::nullopt;
  text.remove_prefix(count);
  return number;
}

[[gnu::cold]] COLLIGO_BODY std::optional<std::size_t> number_in(std::string_view word) {
  auto const number = digits_in(word);   // leaves the unit
  if (!number || word.empty()) return number;
  constexpr std::string_view units = "kKmMgG";
  auto const which = units.find(word.front());
  if (word.size() != 1 || which == units.npos) return std::nullopt;
  auto const bits = 10 * (which / 2 + 1);
  if (*number > std::numeric_limits<std::size_t>::max() >> bits) return std::nullopt;
  return *number << bits;
}

[[gnu::cold]] COLLIGO_BODY std::optional<double> decimal_in(std::string_view word) {
  double number = 0;
#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 200000   // whose from_chars reads integers alone
  std::istringstream in{std::string(word)};
  in.imbue(std::locale::classic());
  bool const is_decimal = word.find_first_not_of("0123456789.eE+-") == word.npos && !word.starts_with('+');
  constexpr auto end = std::istringstream::traits_type::eof();
  return is_decimal && in >> number && in.peek() == end ? std::optional(number) : std::nullopt;
#else
  auto const end = word.data() + word.size();
  auto const read = std::from_chars(word.data(), end, number);
  return read.ec == std::errc{} && read.ptr == end ? std::optional(number) : std::nullopt;
#endif
}

[[gnu::cold]] COLLIGO_BODY std::string in_digits(double value, int digits) {
  std::array<char, 32> text;
  auto const written = std::to_chars(text.begin(), text.end(), value, std::chars_format::general, digits);
  return {text.begin(), written.ptr};
}

template <class T>
[[gnu::cold]] std::string shortest_of(T value) {
  std::array<char, 32> text;
  return {text.begin(), std::to_chars(text.begin(), text.end(), value).ptr};
}
[[gnu::cold]] COLLIGO_BODY std::string shortest(double value) { return shortest_of(value); }
[[gnu::cold]] COLLIGO_BODY std::string shortest(float value) { return shortest_of(value); }

// Levenshtein's distance.
[[gnu::cold]] COLLIGO_BODY std::size_t edit_distance(std::string_view a, std::string_view b) {
  small_vector<std::size_t> line(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) line[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t across = line[0];
    line[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      std::size_t const changed = across + (a[i] != b[j]);
      across = line[j + 1];
      line[j + 1] = std::min({changed, across + 1, line[j] + 1});
    }
  }
  return line[b.size()];
}

[[gnu::cold]] COLLIGO_BODY std::string with_number(std::size_t n, std::string_view thing) {
  return concat({n, " ", thing, n == 1 ? "" : "s"});
}

[[gnu::cold]] COLLIGO_BODY std::string_view nearest_to(std::string_view word, std::span<std::string const> known) {
  std::string_view nearest = known.front();
  for (std::string const& each : known)
    if (edit_distance(word, each) < edit_distance(word, nearest)) nearest = each;
  return nearest;
}

[[gnu::cold]] COLLIGO_BODY char const* environment_value(char const* variable) {
  char const* const value = std::getenv(variable);
  return value && *value != '\0' && switch_in(value) != false ? value : nullptr;
}

[[gnu::cold]] COLLIGO_BODY void warn_once(std::string const& text) {
  static detail::mutex mutex;
  static auto& printed = *new std::string(1, '\0');   // zeros between texts; states outlive static objects
  locked const lock(mutex);
  std::string entry(1, '\0');
  entry.append(text).push_back('\0');
  if (printed.find(entry) != printed.npos) return;
  printed.append(entry, 1);
  // The message of an error begins with the name already.
  std::fprintf(stderr, "%s%s\n", text.starts_with("colligo: ") ? "" : "colligo: ", text.c_str());
}

[[gnu::cold]] COLLIGO_BODY std::string printable(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string shown;
  for (char const c : text) {
    auto const code = static_cast<unsigned char>(c);
    if (c == '\n') shown += "\\n";
    else if (code < 0x20 || code == 0x7f) (shown += "\\x") += {digits[code / 16], digits[code % 16]};
    else shown += c;
  }
  return shown.size() == text.size() ? shown : "\"" + shown + "\"";
}

[[gnu::cold]] COLLIGO_BODY file_text read_file(char const* path, std::size_t most) {
  file_text found;
  struct ::stat known;
  if (::stat(path, &known) != 0) return {{}, "cannot be opened"};
  if (!S_ISREG(known.st_mode)) return {{}, "is no regular file"};   // to open a FIFO would wait for its writer
  std::FILE* const file = std::fopen(path, "rb");
  if (!file) return {{}, "cannot be opened"};
  std::array<char, 4096> part;
  while (found.text.size() < most)
    if (std::size_t const n = std::fread(part.data(), 1, std::min(part.size(), most - found.text.size()), file); n != 0)
      found.text.append(part.data(), n);
    else break;
  if (std::ferror(file)) found.trouble = "cannot be read";
  std::fclose(file);
  return found;
}

[[gnu::cold]] COLLIGO_BODY std::string concat(std::initializer_list<concat_piece> words) {
  std::string all;
  for (concat_piece const& w : words) {
    bool const is_negative = w.text == concat_piece::negative;
    if (w.text && !is_negative) {
      all.append(w.text, w.number != concat_piece::up_to_zero ? w.number : std::strlen(w.text));
      continue;
    }
    std::array<char, 24> digits;
    char* at = digits.end();
    for (std::uint64_t left = is_negative ? 0 - w.number : w.number; left != 0 || at == digits.end(); left /= 10)
      *--at = static_cast<char>('0' + left % 10);
    if (is_negative) *--at = '-';
    all.append(at, digits.end());
  }
  return all;
}

[[gnu::cold]] COLLIGO_BODY std::string not_included(std::string_view asked_by, std::string_view header) {
  return concat({asked_by, " has no effect: include <colligo/environment.hpp>, or <colligo/", header,
                 "> alone, in one file of this program"});
}

[[gnu::cold]] COLLIGO_BODY std::string ranks_text(std::span<int const> ranks) {
  constexpr std::size_t most = 16;   // stretches
  std::string words = ranks.size() == 1 ? "rank " : "ranks ";
  std::size_t stretches = 0;
  for (std::size_t i = 0, next; i < ranks.size(); i = next) {
    for (next = i + 1; next < ranks.size() && ranks[next] == ranks[next - 1] + 1;) ++next;
    if (i != 0) words += ", ";
    if (++stretches > most) return concat({words, "... (", ranks.size(), " ranks)"});
    words += concat({ranks[i]});
    if (next > i + 1) words += concat({next == i + 2 ? ", " : "-", ranks[next - 1]});
  }
  return words;
}

}  // namespace colligo
#endif
