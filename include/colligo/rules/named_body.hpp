// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of decide.hpp that read names.
#pragma once

#include "../core/strings.hpp"
#include "chosen.hpp"
#include "decide.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Sets one knob of a tag from "name=value". Returns an error, or nothing.
[[gnu::cold]] inline std::string turn_knob(knob_reader knob_of, void* tag, std::string_view setting) {
  auto const equals = setting.find('=');
  std::string const name(setting.substr(0, equals));
  std::string known;
  std::size_t const* knob = nullptr;
  std::string_view each;
  for (std::size_t i = 0; knob_of && (knob = knob_of(tag, i, each)) != nullptr && each != name; ++i)
    (known += known.empty() ? "" : ", ") += each;
  if (knob == nullptr)
    return concat({name.empty() ? ": a knob is missing after ':' or ','" : concat({" has no knob \"", name, "\""}),
                   !known.empty() ? ", its knobs are " : name.empty() ? ", but it has none" : ", nor any other",
                   known});
  if (equals == setting.npos) return concat({": the knob ", name, " has no value: ", name, "=number"});
  std::string_view const value = setting.substr(equals + 1);
  auto const number = number_in(value);
  if (!number)
    return concat({": \"", value, "\" is no value of ", name, ", which takes a number: 65536, 64k, 1M"});
  *const_cast<std::size_t*>(knob) = *number;   // in the caller's tag
  return {};
}

[[gnu::cold]] COLLIGO_BODY choice parse(policy_table const& policies, std::string_view whole,
                                        std::string const& where) {
  auto const at = whole.find('@');
  auto const text = whole.substr(0, at), way = at == whole.npos ? std::string_view() : whole.substr(at + 1);
  transport over = transport::best;
  if (at != whole.npos) {
    if (way == name_of(transport::messages)) over = transport::messages;
    else if (way == name_of(transport::shared_memory)) over = transport::shared_memory;
    else throw algorithm_error(concat({where, "algorithms run @messages or @shared_memory, not @", way}));
  }
  auto const asked = text.substr(0, text.find(':'));
  std::string known;
  std::string_view nearest;
  std::size_t least = asked.size() / 3 + 2;   // letters: a name further off is none that was meant
  bool elsewhere = false;
  for (std::size_t i = 0; i < policies.size(); ++i) {
    std::string_view const name = names_in_catalogue[i];
    if (policies[i] != nullptr) {
      (known += known.empty() ? "" : ", ") += name;
      if (std::size_t const apart = edit_distance(asked, name); apart < least) least = apart, nearest = name;
    }
    if (name != asked) continue;
    if (policies[i] == nullptr) {
      elsewhere = true;
      continue;
    }
    choice found(*policies[i], i);
    for (auto rest = text.substr(name.size()); !rest.empty();) {   // from a colon or comma on
      auto const setting = rest.substr(1, rest.find(',', 1) - 1);
      std::string const trouble = turn_knob(found.policy->knob, const_cast<void*>(found.tag()), setting);
      if (!trouble.empty()) throw algorithm_error(concat({where, name, trouble}));
      rest.remove_prefix(1 + setting.size());
    }
    found.over = over;
    return found;
  }
  if (elsewhere)
    throw algorithm_error(concat({where, asked, " is no algorithm of this collective; known are ", known}));
  std::string const meant = nearest.empty() ? "; known are " : concat({"; the nearest is ", nearest, "; known are "});
  throw algorithm_error(concat({where, "no algorithm is named \"", text, "\"", meant, known}));
}

}  // namespace colligo
