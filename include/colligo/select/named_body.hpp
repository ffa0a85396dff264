// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of decide.hpp that read names.
#pragma once

#include <charconv>

#include "../core/error.hpp"
#include "chosen.hpp"
#include "decide.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Sets one knob from "name=value". False if the tag has no such knob or the value is not a number.
template <class Tag>
bool turn_knob(any_algorithm& algorithm, std::string_view setting) {
  auto const equals = setting.find('=');
  if (equals == setting.npos) return false;
  if constexpr (requires { Tag::knobs; })
    for (auto const& k : Tag::knobs) {
      if (k.name != setting.substr(0, equals)) continue;
      std::string_view const value = setting.substr(equals + 1);
      std::size_t& member = std::get_if<Tag>(&algorithm)->*k.member;
      auto const [end, error] = std::from_chars(value.data(), value.data() + value.size(), member);
      return error == std::errc{} && end == value.data() + value.size();
    }
  return false;
}

template <class Lazy>
struct deciding<Lazy>::catalogue_entry {
  std::string_view name;
  any_algorithm algorithm;
  bool (*turn)(any_algorithm&, std::string_view);
};
template <class Lazy>
[[gnu::cold]] chosen_algorithm deciding<Lazy>::parse(text_table const& texts, std::string_view whole,
                                                     std::string const& where) {
  static constexpr auto catalogue = []<class... Tags>(list_of_tags<Tags...>) {
    return std::array{catalogue_entry{Tags::name, Tags{}, &turn_knob<Tags>}...};
  }(catalogue_of_tags{});
  auto const at = whole.find('@');
  auto const text = whole.substr(0, at), way = at == whole.npos ? std::string_view() : whole.substr(at + 1);
  if (at != whole.npos && way != shared_memory::name)
    throw algorithm_error(where + "algorithms run @shared_memory, not @" + std::string(way));
  auto const colon = text.find(':');
  for (std::size_t i = 0; i < texts.size(); ++i) {
    catalogue_entry const& entry = catalogue[i];
    if (texts[i] == nullptr || entry.name != text.substr(0, colon)) continue;
    any_algorithm found = entry.algorithm;
    for (auto rest = colon == text.npos ? std::string_view{} : text.substr(colon + 1); !rest.empty();) {
      auto const comma = rest.find(',');
      if (!entry.turn(found, rest.substr(0, comma)))
        throw algorithm_error(where + std::string(entry.name) + " has no such knob or value: \"" +
                              std::string(rest.substr(0, comma)) + '"');
      rest = comma == rest.npos ? std::string_view{} : rest.substr(comma + 1);
    }
    return {found, way.empty() ? transport::messages : transport::shared_memory};
  }
  std::string known;
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (texts[i]) (known += known.empty() ? "" : ", ") += catalogue[i].name;
  throw algorithm_error(where + "no algorithm is named \"" + std::string(text) + "\"; known are " + known);
}

}  // namespace colligo
