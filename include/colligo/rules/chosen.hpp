// SPDX-License-Identifier: BSL-1.0
/// @file
/// Any algorithm of the catalogue as a value.
#pragma once

#include <array>
#include <string_view>

#include "../algorithm/catalogue.hpp"
#include "../core/choice.hpp"

namespace colligo::inline COLLIGO_MODE {

/// An algorithm with its transport, the result of a name or a decision. May be the last argument of a collective, as
/// tags.
using chosen_algorithm = detail::choice;

namespace detail {

/// Calls f(tag) for the tag that it holds, one of the library's.
template <class F>
auto with_tag(choice const& chosen, F f) {
  using result = decltype(f(binary_tree{}));
  return [&]<class... Tags>(list_of_tags<Tags...>) {
    static constexpr std::array<result (*)(void const*, F&), catalogue_size> calls{
        [](void const* tag, F& g) -> result { return g(*static_cast<Tags const*>(tag)); }...};
    return calls[chosen.index()](chosen.tag(), f);
  }(catalogue_of_tags{});
}

inline constexpr auto names_in_catalogue = []<class... Tags>(list_of_tags<Tags...>) {
  return std::array{std::string_view(Tags::name)...};
}(catalogue_of_tags{});

/// One of the library's.
inline std::string_view name_of(choice const& chosen) { return names_in_catalogue[chosen.index()]; }

}  // namespace detail
}  // namespace colligo
