// SPDX-License-Identifier: BSL-1.0
/// @file
/// Any algorithm of the catalogue as a value.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../algorithm/catalogue.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Any algorithm of the library as a value: its place in the catalogue and its tag, knobs and all, as bytes. A
/// std::variant of all tags took most of a second in a header-only unit that includes colligo.hpp.
class any_algorithm {
 public:
  constexpr any_algorithm() : any_algorithm(binary_tree{}) {}
  template <class Tag>
    requires detail::in_catalogue<Tag>
  constexpr any_algorithm(Tag const& tag) : which_(detail::index_in_catalogue<Tag>()) {
    static_assert(std::is_trivially_copyable_v<Tag> && sizeof(Tag) <= most && alignof(Tag) <= alignof(std::size_t),
                  "choosing one would cost more than a short message: let a tag refer to what it needs");
    if constexpr (std::is_empty_v<Tag>) return;
    if constexpr (is_knobs_alone<Tag>)
      if (std::is_constant_evaluated()) {
        std::ranges::copy(std::bit_cast<std::array<std::byte, sizeof(Tag)>>(tag), bytes_.begin());
        return;
      }
    std::memcpy(bytes_.data(), &tag, sizeof(Tag));
  }

  /// In the catalogue.
  constexpr std::size_t index() const { return which_; }
  void const* tag() const { return bytes_.data(); }
  /// Null: it is another one.
  template <class Tag>
  Tag const* as() const {
    return which_ == detail::index_in_catalogue<Tag>() ? static_cast<Tag const*>(tag()) : nullptr;
  }

 private:
  static constexpr std::size_t most = 48;
  template <class Tag>
  static constexpr bool is_knobs_alone = requires {
    requires sizeof(Tag) == Tag::knobs.size() * sizeof(std::size_t);
  };

  std::size_t which_;
  alignas(std::size_t) std::array<std::byte, most> bytes_{};
};

static_assert(std::is_trivially_copyable_v<any_algorithm>);

namespace detail {

/// f(tag) for the tag that it holds.
template <class F>
auto with_tag(any_algorithm const& its, F f) {
  using result = decltype(f(binary_tree{}));
  return [&]<class... Tags>(list_of_tags<Tags...>) {
    static constexpr std::array<result (*)(void const*, F&), catalogue_size> calls{
        [](void const* tag, F& g) -> result { return g(*static_cast<Tags const*>(tag)); }...};
    return calls[its.index()](its.tag(), f);
  }(catalogue_of_tags{});
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
    requires detail::in_catalogue<Tag>
  chosen_algorithm(Tag const& tag, transport way = transport::best) : algorithm(tag), over(way) {}
  chosen_algorithm(any_algorithm const& tag, transport way = transport::best) : algorithm(tag), over(way) {}
};

}  // namespace colligo
