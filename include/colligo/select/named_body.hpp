// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of decide.hpp that read names.
#pragma once

#include <string>
#include <string_view>

#include "../core/error.hpp"
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
  std::string_view its;
  for (std::size_t i = 0; knob_of && (knob = knob_of(tag, i, its)) != nullptr && its != name; ++i)
    (known += known.empty() ? "" : ", ") += its;
  if (knob == nullptr)
    return concat({" has no knob \"", name, "\", ", known.empty() ? "it has none" : "its knobs are ", known});
  if (equals == setting.npos) return concat({": the knob ", name, " has no value: ", name, "=number"});
  std::string_view const value = setting.substr(equals + 1);
  auto const number = number_in(value);
  if (!number)
    return concat({": \"", value, "\" is no value of ", name, ", which takes a number: 65536, 64k, 1M"});
  *const_cast<std::size_t*>(knob) = *number;   // in the caller's tag
  return {};
}

template <class Lazy>
[[gnu::cold]] choice parse(policy_table const& policies, std::string_view whole, std::string const& where) {
  auto const at = whole.find('@');
  auto const text = whole.substr(0, at), way = at == whole.npos ? std::string_view() : whole.substr(at + 1);
  transport over = transport::best;
  if (at != whole.npos) {
    if (way == name_of(transport::messages)) over = transport::messages;
    else if (way == name_of(transport::shared_memory)) over = transport::shared_memory;
    else throw algorithm_error(concat({where, "algorithms run @messages or @shared_memory, not @", way}));
  }
  auto const colon = text.find(':');
  std::string known;
  for (std::size_t i = 0; i < policies.size(); ++i) {
    if (policies[i] == nullptr) continue;
    std::string_view const name = policies[i]->name;
    (known += known.empty() ? "" : ", ") += name;
    if (name != text.substr(0, colon)) continue;
    choice found(*policies[i], i);
    for (auto rest = colon == text.npos ? std::string_view{} : text.substr(colon + 1); !rest.empty();) {
      auto const comma = rest.find(',');
      std::string const trouble = turn_knob(found.policy->knob, const_cast<void*>(found.tag()), rest.substr(0, comma));
      if (!trouble.empty()) throw algorithm_error(concat({where, name, trouble}));
      rest = comma == rest.npos ? std::string_view{} : rest.substr(comma + 1);
    }
    found.over = over;
    return found;
  }
  throw algorithm_error(concat({where, "no algorithm is named \"", text, "\"; known are ", known}));
}

}  // namespace colligo
