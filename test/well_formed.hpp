// SPDX-License-Identifier: BSL-1.0
// As much of an XML reader as it takes to see that a picture is not broken.
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

inline std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// Empty if every element is closed in its turn, quotes are paired and & begins an entity.
inline std::string fault_in_xml(std::string_view text) {
  std::vector<std::string> open;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '&' && text.substr(at, 4) != "&lt;" && text.substr(at, 5) != "&amp;")
      return "a bare & at " + std::to_string(at);
    if (text[at] != '<') continue;
    auto const end = text.find('>', at);
    if (end == text.npos) return "an element without end";
    std::string_view const element = text.substr(at + 1, end - at - 1);
    if (occurrences(element, "'") % 2 != 0 || element.find('<') != element.npos)
      return "a broken element: " + std::string(element);
    std::string const name(element.substr(element[0] == '/', element.find_first_of(" /", 1) - (element[0] == '/')));
    if (element[0] == '/') {
      if (open.empty() || open.back() != element.substr(1)) return "closed, but not open: " + std::string(element);
      open.pop_back();
    } else if (element.back() != '/') {
      open.push_back(name);
    }
    at = end;
  }
  return open.empty() ? "" : "open to the end: " + open.back();
}
