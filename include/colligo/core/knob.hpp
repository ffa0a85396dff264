// SPDX-License-Identifier: BSL-1.0
/// @file
/// Knobs of algorithms by name, for named("pipelined_ring:block=65536").
#pragma once

#include "mode.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace colligo::inline COLLIGO_MODE {

/// A member of a tag that can be set by name: `static constexpr std::array knobs{knob<my_tag>{"block",
/// &my_tag::block}};`
template <class Tag>
struct knob {
  std::string_view name;
  std::size_t Tag::*member;
};

namespace detail {

/// The most bytes of a tag that is passed by value; a larger tag, or one that is not trivially copyable, is passed by
/// its address.
inline constexpr std::size_t most_held = 48;
template <class Tag>
inline constexpr bool is_held =
    std::is_trivially_copyable_v<Tag> && sizeof(Tag) <= most_held && alignof(Tag) <= alignof(std::size_t);
template <class Tag>
Tag const& tag_at(void const* held) {
  if constexpr (is_held<Tag>) return *static_cast<Tag const*>(held);
  else return **static_cast<Tag const* const*>(held);
}
/// The tag contains nothing but its knobs.
template <class Tag>
inline constexpr bool is_knobs_alone = requires { requires sizeof(Tag) == Tag::knobs.size() * sizeof(std::size_t); };

/// Sets `name` to the name of a tag's knob number `which`, and returns the address of its value in the tag; null if
/// the tag has fewer knobs.
using knob_reader = std::size_t const* (*)(void const* tag, std::size_t which, std::string_view& name);
/// Null for a tag without knobs.
template <class Tag>
constexpr knob_reader knob_reader_of() {
  if constexpr (requires { Tag::knobs; })
    return [](void const* tag, std::size_t which, std::string_view& name) -> std::size_t const* {
      if (which >= Tag::knobs.size()) return nullptr;
      name = Tag::knobs[which].name;
      return &(tag_at<Tag>(tag).*Tag::knobs[which].member);
    };
  else return nullptr;
}

/// A knob for the number of groups that merge, or are cut, at a time: limited to 2 to p.
constexpr int radix_for(int p, std::size_t knob) {
  return static_cast<int>(std::clamp<std::size_t>(knob, 2, static_cast<std::size_t>(std::max(2, p))));
}

}  // namespace detail
}  // namespace colligo
