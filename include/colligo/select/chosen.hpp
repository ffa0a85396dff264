// SPDX-License-Identifier: BSL-1.0
/// @file
/// Any algorithm of the catalogue as a value.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>
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

namespace detail {

/// f(tag) for the tag that it holds. std::visit would take compilers several times as long, in every unit.
template <class F>
constexpr auto with_tag(any_algorithm const& its, F f) {
  using result = decltype(f(*std::get_if<0>(&its)));
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    constexpr std::array<result (*)(any_algorithm const&, F&), catalogue_size> calls{
        [](any_algorithm const& one, F& g) -> result { return g(*std::get_if<I>(&one)); }...};
    return calls[its.index()](its, f);
  }(std::make_index_sequence<catalogue_size>{});
}

inline void const* address_of_tag(any_algorithm const& its) {
  return with_tag(its, [](auto const& tag) -> void const* { return &tag; });
}

}  // namespace detail

inline std::string_view name_of(any_algorithm const& algorithm) {
  static constexpr auto names = []<class... Tags>(list_of_tags<Tags...>) {
    return std::array{std::string_view(Tags::name)...};
  }(catalogue_of_tags{});
  return names[algorithm.index()];
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
