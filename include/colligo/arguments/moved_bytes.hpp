// SPDX-License-Identifier: BSL-1.0
/// @file
/// Vectors in bytes that do not lie in memory as the engine reads and writes them: copied before a call, and after it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "../core/copy.hpp"
#include "../engine/scratch.hpp"
#include "displacements.hpp"

namespace colligo::inline COLLIGO_MODE {

/// The ranks' blocks in a vector, in elements: block i has counts[i] elements and begins `displacements[i]` elements
/// after the pointer of the call; without displacements the blocks follow one another.
struct block_places {
  std::span<std::ptrdiff_t const> counts, displacements = {};
};

namespace detail {
inline constinit char place_of_in_place = 0;
}
/// Instead of a pointer: input and output are one vector, as with MPI_IN_PLACE. In place of `in`; of `out` in scatter
/// and scatterv.
inline void* const in_place_bytes = &detail::place_of_in_place;

namespace detail {

/// Copies that belong to a call, and the memory that they need.
class moved_bytes final : public owned_by_request {
 public:
  /// Aligned for any element.
  std::byte* make_room(std::size_t bytes) { return memory_.emplace_back().of_size(std::max<std::size_t>(bytes, 1)); }
  void before(std::byte const* from, std::size_t bytes, std::byte* to) { add(before_, from, bytes, to); }
  void after(std::byte const* from, std::size_t bytes, std::byte* to) { add(after_, from, bytes, to); }

  void begin() override { copy(before_); }
  void finish() override { copy(after_); }

 private:
  struct stretch {
    std::byte const* from;
    std::size_t bytes;
    std::byte* to;
  };
  static void add(std::vector<stretch>& to_do, std::byte const* from, std::size_t bytes, std::byte* to) {
    if (bytes != 0) to_do.push_back({from, bytes, to});
  }
  static void copy(std::vector<stretch> const& all) {
    for (stretch const& stretch : all) copy_bytes(stretch.from, stretch.bytes, stretch.to);
  }

  std::vector<buffer> memory_;
  std::vector<stretch> before_, after_;
};

/// The blocks of a call one after the other: in place if they lie so, otherwise where `moved` copies them. The call
/// refuses in_place_bytes.
template <class Move>
std::byte* joined(std::byte* base, block_places const& where, std::size_t size, owner<moved_bytes>& moved, Move move) {
  if (where.displacements.empty() || base == in_place_bytes) return base;
  extent_of_blocks const covered = extent_of(where.counts, where.displacements);
  auto const bytes_of = [&](std::ptrdiff_t elements) { return elements * static_cast<std::ptrdiff_t>(size); };
  if (covered.are_consecutive) return covered.last == covered.first ? base : base + bytes_of(covered.first);
  if (!moved) moved = make_owner<moved_bytes>();
  std::byte* const all = moved->make_room(size * sum_of(where.counts));
  std::byte* next = all;
  for_each_block(where.counts, where.displacements, [&](std::ptrdiff_t at, std::size_t n) {
    move(base + bytes_of(at), n * size, next);
    next += n * size;
  });
  return all;
}
inline std::byte const* joined_input(std::byte const* in, block_places const& where, std::size_t size,
                                     owner<moved_bytes>& moved) {
  return joined(const_cast<std::byte*>(in), where, size, moved,
                [&](std::byte* there, std::size_t n, std::byte* here) { moved->before(there, n, here); });
}
inline std::byte* joined_output(std::byte* out, block_places const& where, std::size_t size,
                                owner<moved_bytes>& moved) {
  return joined(out, where, size, moved,
                [&](std::byte* there, std::size_t n, std::byte* here) { moved->after(here, n, there); });
}

}  // namespace detail
}  // namespace colligo
