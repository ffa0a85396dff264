// SPDX-License-Identifier: BSL-1.0
/// @file
/// Any algorithm of the catalogue as a value.
#pragma once

#include <string_view>
#include <type_traits>
#include <variant>

#include "../algorithm/catalogue.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <class... Tags>
std::variant<Tags...> variant_of(list_of_tags<Tags...>);

}  // namespace detail

/// Any algorithm of the library as a value, with its knobs.
using any_algorithm = decltype(detail::variant_of(catalogue_of_tags{}));

static_assert(std::is_trivially_copyable_v<any_algorithm>,
              "choosing one would cost more than a short message: let a tag refer to what it needs");

inline std::string_view name_of(any_algorithm const& algorithm) {
  return std::visit([](auto const& tag) { return tag.name; }, algorithm);
}

/// An algorithm, and how its operands travel: what a name or a situation comes to. Stands as the last argument of a
/// collective as tags do.
struct chosen_algorithm {
  static constexpr std::string_view name = "chosen_algorithm";

  any_algorithm algorithm;
  transport over = transport::best;

  template <class Tag>
    requires std::is_constructible_v<any_algorithm, Tag>
  chosen_algorithm(Tag const& tag, transport way = transport::best) : algorithm(tag), over(way) {}
  chosen_algorithm(any_algorithm const& tag, transport way = transport::best) : algorithm(tag), over(way) {}
};

}  // namespace colligo
