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

/// Bytes of a tag that is handed on by value; a tag that is more, or no bytes, is handed on by its address.
inline constexpr std::size_t most_held = 48;
template <class Tag>
inline constexpr bool is_held =
    std::is_trivially_copyable_v<Tag> && sizeof(Tag) <= most_held && alignof(Tag) <= alignof(std::size_t);
template <class Tag>
Tag const& tag_at(void const* held) {
  if constexpr (is_held<Tag>) return *static_cast<Tag const*>(held);
  else return **static_cast<Tag const* const*>(held);
}
/// All that it holds are its knobs.
template <class Tag>
inline constexpr bool is_knobs_alone = requires { requires sizeof(Tag) == Tag::knobs.size() * sizeof(std::size_t); };

/// Its knobs one after the other: a name, and where in a tag the value is; null: there are no more.
using knob_reader = std::size_t const* (*)(void const* tag, std::size_t which, std::string_view& name);
/// Null for a tag without any.
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

/// A knob that says how many groups of p ranks merge, or are cut, at a time.
constexpr int radix_for(int p, std::size_t knob) {
  return static_cast<int>(std::clamp<std::size_t>(knob, 2, static_cast<std::size_t>(std::max(2, p))));
}

}  // namespace detail
}  // namespace colligo
