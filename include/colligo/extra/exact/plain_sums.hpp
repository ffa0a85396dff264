// SPDX-License-Identifier: BSL-1.0
/// @file
/// Recognises calls that add up floating point numbers, from the element alone.
#pragma once

#include <functional>
#include <string_view>

#include "../../core/element.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// The functor adds up elements of this type. By names: addresses of functions may differ between shared libraries.
template <class T>
bool adds_up(element const& of) {
  std::string_view const functor = of.functor_name();
  return of.name() == name_of_type<T>() &&
         (functor == name_of_type<std::plus<>>() || functor == name_of_type<std::plus<T>>());
}

}  // namespace colligo
