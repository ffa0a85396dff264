// SPDX-License-Identifier: BSL-1.0
/// @file
/// Any algorithm as a value, with its knobs and its transport: what runs a call.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "erased_policy.hpp"
#include "transport.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// `found`: a tag is one of the library's. `value`: its place in algorithm/catalogue.hpp, or the catalogue's length.
template <class Tag>
struct place_in_catalogue;

/// Who decided.
enum class decided_by : std::uint8_t {
  pinned, named, environment, tree_file, table, many_cores, rules, measured_table, required, tried, measured
};

/// An algorithm with its knobs, its transport, and who decided. Users know it as chosen_algorithm: any algorithm of the
/// library as a value. A std::variant of all tags took most of a second in a header-only unit that includes
/// colligo.hpp.
class choice {
 public:
  static constexpr std::string_view name = "chosen_algorithm";

  constexpr choice() = default;
  /// One of the library's algorithms, for no collective yet.
  template <class Tag>
    requires(!std::is_same_v<Tag, choice> && place_in_catalogue<Tag>::found)
  constexpr choice(Tag const& tag, transport way = transport::best)
      : over(way), place_(static_cast<std::uint8_t>(place_in_catalogue<Tag>::value)) {
    static_assert(is_held<Tag>, "choosing one would cost more than a short message: let a tag refer to what it needs");
    hold(tag);
  }
  /// Any tag, for the policy's collective.
  template <class Tag>
  choice(erased_policy const& with, Tag const& tag, transport way = transport::best)
      : policy(&with), over(way), place_(static_cast<std::uint8_t>(place_in_catalogue<Tag>::value)) {
    hold(tag);
  }

  /// The algorithm at that place in the catalogue, with its default knobs.
  choice(erased_policy const& with, std::size_t place) : policy(&with), place_(static_cast<std::uint8_t>(place)) {
    with.make_tag(bytes_.data());
  }

  /// The algorithm's place in the catalogue.
  constexpr std::size_t index() const { return place_; }
  /// The argument for the functions of its policy.
  void const* tag() const { return bytes_.data(); }
  /// Null if it is another algorithm.
  template <class Tag>
  Tag const* as() const {
    return place_ == place_in_catalogue<Tag>::value ? static_cast<Tag const*>(tag()) : nullptr;
  }

  /// Automatic has chosen it, of the environment or by itself: the same for each call of its kind.
  constexpr bool is_by_rules() const { return who >= decided_by::environment && who <= decided_by::measured_table; }

  erased_policy const* policy = nullptr;   ///< for one collective; null: for none yet
  transport over = transport::best;
  decided_by who = decided_by::pinned;

 private:
  // Bytes beyond the knobs are indeterminate, except in constant expressions.
  template <class Tag>
  constexpr void hold(Tag const& tag) {
    if (std::is_constant_evaluated()) bytes_ = {};
    if constexpr (!is_held<Tag>) {
      Tag const* const address = &tag;
      std::memcpy(bytes_.data(), &address, sizeof address);
    } else if constexpr (!std::is_empty_v<Tag>) {
      if constexpr (is_knobs_alone<Tag>)
        if (std::is_constant_evaluated()) {
          auto const knobs = std::bit_cast<std::array<std::byte, sizeof(Tag)>>(tag);
          std::copy(knobs.begin(), knobs.end(), bytes_.begin());
          return;
        }
      std::memcpy(bytes_.data(), &tag, sizeof(Tag));
    }
  }

  std::uint8_t place_ = 0;
  alignas(std::size_t) std::array<std::byte, most_held> bytes_;
};

static_assert(std::is_trivially_copyable_v<choice>);

/// f(name, value) for every knob, and for the trees that the tag names.
template <class F>
void for_each_knob(choice const& chosen, F f) {
  std::string_view name;
  std::size_t i = 0;
  if (chosen.policy->knob)
    while (std::size_t const* const value = chosen.policy->knob(chosen.tag(), i++, name)) f(name, *value);
  if (std::size_t const trees = chosen.policy->trees ? chosen.policy->trees(chosen.tag()) : 0) f("trees", trees);
}

}  // namespace colligo
