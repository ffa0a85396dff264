// SPDX-License-Identifier: BSL-1.0
/// @file
/// Tree files. One line per rank that has children: the rank, a colon, its children in the order in which they report
/// to it (a broadcast serves them from the last to the first). `#` begins a comment; blank lines are ignored. The root
/// is no rank's child.
///
///   # two hosts of four ranks each
///   0: 1 2 3 4
///   4: 5 6 7
///
/// A tree over one rank is the line `0:`. Any rank may have such an empty list. parse_tree reads the output of
/// operator<<.
#pragma once

#include <string>
#include <string_view>

#include "../core/lines.hpp"
#include "../core/small_vector.hpp"
#include "../core/strings.hpp"
#include "../shape/ranked_tree.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Writes the tree as parse_tree reads it, from the root downwards.
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, tree const& t) {
  for (int const r : t.from_the_root()) {
    if (t.child_count(r) == 0 && t.size() > 1) continue;
    out << std::to_string(r) << ':';   // independent of the locale
    for (int const c : t.children(r)) out << ' ' << std::to_string(c);
    out << '\n';
  }
  return out;
}

/// The tree over exactly p ranks that a string describes. Throws argument_error, "colligo: where:line: reason", for
/// anything else.
template <class Lazy = void>
tree parse_tree(std::string_view text, int p, std::string const& where = "tree");

namespace detail {

template <class Lazy>
class tree_parser {
 public:
  tree_parser(std::string_view text, int p, std::string const& where)
      : lines_{text}, p_(p), where_(where), children_(static_cast<std::size_t>(p)), line_of_(children_.size()) {}

  tree parse() {
    // A tree has p - 1 children: with more, the fault is in the lines read so far.
    while (named_ < children_.size() && lines_.next()) read(lines_.line);
    bool const has_no_line = p_ == 1 && line_of_[0] == 0;
    auto const fault = has_no_line ? tree_fault{tree_fault::kind::absent, 0} : fault_of(children_);
    if (fault.what == tree_fault::kind::none) return tree::of_children(children_);
    std::size_t const line = line_of_[static_cast<std::size_t>(fault.rank)];
    refuse(line != 0 ? line : std::max<std::size_t>(1, lines_.number), fault.reason());
  }

 private:
  [[noreturn]] void refuse(std::size_t line, std::string const& reason) const {
    throw argument_error(where_ + ':' + std::to_string(line) + ": " + reason);
  }

  void read(std::string_view line) {
    if (auto words = line; next_token(words).empty()) return;
    auto const colon = line.find(':');
    if (colon == line.npos)
      refuse(lines_.number, "a line is \"rank: child child ...\", this one has no colon: " + in_quotes(line));
    auto before = line.substr(0, colon);
    line.remove_prefix(colon + 1);
    auto const parent = static_cast<std::size_t>(rank_in(next_token(before)));
    if (auto const rest = next_token(before); !rest.empty())
      refuse(lines_.number, "one rank is expected before the colon, there is another: " + in_quotes(rest));
    if (line_of_[parent] != 0)
      refuse(lines_.number,
             "rank " + std::to_string(parent) + " has a line already, line " + std::to_string(line_of_[parent]));
    line_of_[parent] = lines_.number;
    for (auto word = next_token(line); !word.empty() && named_ < children_.size(); word = next_token(line), ++named_)
      children_[parent].push_back(rank_in(word));
  }

  int rank_in(std::string_view word) const {
    std::string_view digits = word;
    bool const negative = digits.starts_with('-');
    digits.remove_prefix(negative);
    if (digits.empty() || is_any(digits, [](char c) { return c < '0' || c > '9'; }))
      refuse(lines_.number, in_quotes(word) + " is not a rank");
    auto const rank = digits_in(digits);
    if (negative || !rank || *rank >= children_.size())
      refuse(lines_.number, in_quotes(word) + " is out of range: ranks are 0 to " + std::to_string(p_ - 1));
    return static_cast<int>(*rank);
  }

  text_lines lines_;
  int p_;
  std::string const& where_;
  std::vector<std::vector<int>> children_;
  std::vector<std::size_t> line_of_;   // 0: none
  std::size_t named_ = 0;
};

}  // namespace detail

template <class Lazy>
tree parse_tree(std::string_view text, int p, std::string const& where) {
  std::string const from = "colligo: " + where;
  if (p < 1)
    throw argument_error(from + ":1: a tree over " + std::to_string(p) + " ranks was asked for, at least 1 is needed");
  return detail::tree_parser<Lazy>(text, p, from).parse();
}

}  // namespace colligo
