// SPDX-License-Identifier: BSL-1.0
/// @file
/// Knobs of algorithms by name, for named("pipelined_ring:block=65536").
#pragma once

#include "mode.hpp"

#include <cstddef>
#include <string_view>

namespace colligo::inline COLLIGO_MODE {

/// A member of a tag that can be set by name: `static constexpr std::array knobs{knob<my_tag>{"block",
/// &my_tag::block}};`
template <class Tag>
struct knob {
  std::string_view name;
  std::size_t Tag::*member;
};

}  // namespace colligo
