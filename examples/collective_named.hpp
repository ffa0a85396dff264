// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <colligo/core/error.hpp>
#include <colligo/core/policy.hpp>

#include <string>

/// The collective of this name. Throws argument_error with the names that are known.
inline colligo::collective collective_named(std::string const& name) {
  std::string known;
  for (colligo::collective const c : colligo::collectives) {
    if (name_of(c) == name) return c;
    known += (known.empty() ? "" : ", ") + std::string(name_of(c));
  }
  throw colligo::argument_error("no collective is named \"" + name + "\"; known are " + known);
}
