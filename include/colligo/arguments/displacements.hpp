// SPDX-License-Identifier: BSL-1.0
/// @file
/// Blocks at displacements, as MPI's, in elements. Collectives do not know displacements: blocks that follow one
/// another stay in place, others are copied.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

#include "forms.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Calls f(displacement, count) for all blocks that are not empty.
template <class Counts, class Displs, class F>
void for_each_block(Counts const& counts, Displs const& displs, F f) {
  auto place = std::ranges::begin(displs);
  for (auto const count : counts) {
    auto const at = static_cast<std::ptrdiff_t>(*place++);
    if (count != 0) f(at, static_cast<std::size_t>(count));
  }
}

struct extent_of_blocks {
  std::ptrdiff_t first = 0, last = 0;
  bool are_consecutive = true;
};
/// The range that the blocks cover.
template <class Counts, class Displs>
extent_of_blocks extent_of(Counts const& counts, Displs const& displs) {
  extent_of_blocks all;
  bool is_first = true;
  std::ptrdiff_t next = 0;
  for_each_block(counts, displs, [&](std::ptrdiff_t at, std::size_t n) {
    all.are_consecutive = all.are_consecutive && (is_first || at == next);
    next = at + static_cast<std::ptrdiff_t>(n);
    all.first = is_first ? at : std::min(all.first, at);
    all.last = is_first ? next : std::max(all.last, next);
    is_first = false;
  });
  return all;
}

/// Requires a size and a displacement for every rank.
template <collective C, communicator Comm, class Sizes, class Displs>
void require_displacements(Comm const& comm, Sizes const& sizes, Displs const& displs) {
  call_arguments<C, Comm> const arguments(comm);
  auto const p = static_cast<std::size_t>(arguments.size());
  arguments.require_size(std::ranges::size(sizes), p, "the list of sizes");
  arguments.require_size(std::ranges::size(displs), p, "the list of displacements");
  for (auto const size : sizes) arguments.require_count(size);
}
/// Requires the blocks to lie within this range.
template <collective C, communicator Comm, class R>
void require_room(Comm const& comm, R const& range, extent_of_blocks const& where, char const* which) {
  call_arguments<C, Comm> const arguments(comm);
  arguments.require_count(where.first);
  auto const last = static_cast<std::size_t>(where.last);
  arguments.require_size(std::min<std::size_t>(std::ranges::size(range), last), last, which);
}

/// Memory for the blocks one after the other. If there is none, the other ranks hear of it.
template <class T, class Door>
std::unique_ptr<T[]> joined_blocks(Door const& arguments, std::size_t n) {
  std::unique_ptr<T[]> joined;
  arguments.attempt([&] { joined = std::make_unique_for_overwrite<T[]>(n); });
  return joined;
}
/// gather(span) fills one block after the other. If blocks overlap, the higher rank's wins.
template <class Door, class T, class Counts, class Displs, class Gather>
void gather_apart(Door const& arguments, T* out, Counts const& counts, Displs const& displs, Gather gather) {
  extent_of_blocks const where = extent_of(counts, displs);
  std::size_t const n = sum_of(counts);
  if (where.are_consecutive) return gather(std::span(out + where.first, n));
  auto const joined = joined_blocks<T>(arguments, n);
  gather(std::span(joined.get(), n));
  T* from = joined.get();
  for_each_block(counts, displs, [&](std::ptrdiff_t at, std::size_t count) {
    std::move(from, from + count, out + at);
    from += count;
  });
}
/// scatter(span) reads one block after the other.
template <class Door, class T, class Counts, class Displs, class Scatter>
void scatter_apart(Door const& arguments, T const* in, Counts const& counts, Displs const& displs, Scatter scatter) {
  extent_of_blocks const where = extent_of(counts, displs);
  std::size_t const n = sum_of(counts);
  if (where.are_consecutive) return scatter(std::span(in + where.first, n));
  auto const joined = joined_blocks<T>(arguments, n);
  T* to = joined.get();
  arguments.attempt([&] {   // copies may allocate
    for_each_block(counts, displs,
                   [&](std::ptrdiff_t at, std::size_t count) { to = std::copy_n(in + at, count, to); });
  });
  scatter(std::span<T const>(joined.get(), n));
}

}  // namespace colligo
