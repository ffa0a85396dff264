// SPDX-License-Identifier: BSL-1.0
/// @file
/// How operands travel: a model may have more than one way, and every algorithm runs over each of them.
#pragma once

#include "mode.hpp"

#include <cstdint>

namespace colligo::inline COLLIGO_MODE {

/// Messages, or memory that the ranks of one host share; between hosts always messages.
enum class transport : std::uint8_t { messages, shared_memory };

/// Any algorithm over the memory that the ranks of a host share: over_shared_memory{ring{}}; by name
/// "ring@shared_memory". Where memory can not be shared (another host, elements that do not travel as bytes or are
/// too large, from 2 KiB on with many ranks, no memory to be had, COLLIGO_SHARED_MEMORY=off), messages.
template <class Tag>
struct over_shared_memory : Tag {
  using over_memory = Tag;
  static constexpr transport over = transport::shared_memory;
};
template <class Tag>
over_shared_memory(Tag) -> over_shared_memory<Tag>;

/// The transport that a tag asks for.
template <class Tag>
constexpr transport transport_of() {
  if constexpr (requires { Tag::over; }) return Tag::over;
  else return transport::messages;
}

}  // namespace colligo
