// SPDX-License-Identifier: BSL-1.0
/// @file
/// Transports: a communicator may have more than one, and every algorithm runs over each of them.
#pragma once

#include "mode.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace colligo::inline COLLIGO_MODE {

/// messages; shared_memory: memory within a host, messages between hosts; best: shared_memory if the ranks have it and
/// the elements can travel through it, otherwise messages. A tag or a name without transport means best.
enum class transport : std::uint8_t { best, messages, shared_memory };

constexpr std::string_view name_of(transport over) {
  constexpr std::array<std::string_view, 3> names{"best", "messages", "shared_memory"};
  return names[static_cast<std::size_t>(over)];
}

/// Any algorithm over messages, even if there is a better transport: over_messages{ring{}}; by name "ring@messages".
/// The bits of a result do not depend on the transport.
template <class Tag>
struct over_messages : Tag {
  using base_tag = Tag;
  static constexpr transport over = transport::messages;
};
template <class Tag>
over_messages(Tag) -> over_messages<Tag>;

/// Any algorithm over the memory that the ranks of a host share: over_shared_memory{ring{}}; by name
/// "ring@shared_memory". Throws algorithm_error on all ranks if they share no memory: each is on a host of its own, the
/// elements do not travel as bytes or are too large (from 2 KiB on with many ranks), there is no memory left, or
/// COLLIGO_SHARED_MEMORY=off.
template <class Tag>
struct over_shared_memory : Tag {
  using base_tag = Tag;
  static constexpr transport over = transport::shared_memory;
};
template <class Tag>
over_shared_memory(Tag) -> over_shared_memory<Tag>;

/// The transport that a tag asks for: its member `over`, or transport_needed() if that depends on its value.
template <class Tag>
constexpr transport transport_of(Tag const& tag) {
  if constexpr (requires { Tag::over; }) return Tag::over;
  else if constexpr (requires { tag.transport_needed(); }) return tag.transport_needed();
  else return transport::best;
}

namespace detail {

/// How chunks are stored into shared memory: see transport/memory/stores.hpp.
enum class stores_setting : unsigned char { measured, cached, streaming };

/// Settings for messages through shared memory, the same on all ranks. Values above the capacity of lines or rings mean
/// the capacity. as_it_is, by_ring: not set; what is read in place then says shared_host::announces().
struct memory_limits {
  static constexpr std::size_t as_it_is = static_cast<std::size_t>(-1), by_ring = as_it_is - 1;

  std::size_t lines = as_it_is;       ///< bytes of the longest message in lines
  std::size_t chunks = as_it_is;      ///< bytes of the longest chunk of a ring
  std::size_t read_from = by_ring;    ///< bytes of the shortest message read in the sender's memory
  stores_setting stores = stores_setting::measured;
};

}  // namespace detail
}  // namespace colligo
