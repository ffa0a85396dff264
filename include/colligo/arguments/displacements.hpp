// SPDX-License-Identifier: BSL-1.0
/// @file
/// Blocks at displacements, as MPI's, in elements. Collectives do not know displacements: blocks that follow one
/// another stay in place, others are packed.
#pragma once

#include <algorithm>
#include <cstddef>

#include "calls.hpp"
#include "packed.hpp"
#if COLLIGO_HAS_BODIES
#include "counts_body.hpp"
#endif

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

/// Where displacement 0 is: a pointer, a range, or what lies apart (../exchange/layouts.hpp).
template <class R>
struct base_of {};
template <contiguous R>
struct base_of<R> { using element = std::ranges::range_value_t<R>; };
template <class T>
struct base_of<T*> { using element = std::remove_const_t<T>; };
template <class R>
using element_at_base = typename base_of<std::remove_cvref_t<R>>::element;
template <class R, class T>
concept base_of_blocks = std::is_same_v<element_at_base<R>, T>;
template <class R, class T>
concept base_of_output = base_of_blocks<R, T> && (pointer_to<R, T> || output<R> ||
                         (stands_for_elements<std::remove_reference_t<R>> && !is_constant<R>));

/// Requires a size and a displacement for every rank.
template <class Checked, class Sizes, class Displs>
void require_displacements(Checked const& arguments, Sizes const& sizes, Displs const& displs) {
  auto const p = static_cast<std::size_t>(arguments.size());
  arguments.require_size(std::ranges::size(sizes), p, "the list of sizes");
  arguments.require_size(std::ranges::size(displs), p, "the list of displacements");
  for (auto const size : sizes) arguments.require_count(size);
}
/// A base whose elements lie side by side.
template <class T>
struct pointed_at {
  explicit pointed_at(T* to) : first(to) {}
  static constexpr bool lies_apart() { return false; }
  T* side_by_side() const { return first; }
  template <class To>
  void pack(To* to, std::ptrdiff_t at, std::size_t n) const { std::copy_n(first + at, n, to); }
  template <class From>
  void unpack(From* from, std::ptrdiff_t at, std::size_t n) const { std::move(from, from + n, first + at); }
  T* first;
};
/// Requires the blocks to lie within a range, and resizes an empty container so that they do. Returns where they begin.
template <class R, class Checked>
auto base_for(Checked const& arguments, std::remove_reference_t<R>& range, extent_of_blocks const& where,
              char const* which) {
  using type = std::remove_cvref_t<R>;
  auto const require_within = [&](std::size_t size) {
    if (where.first < 0)
      refuse_because(arguments.as_refused(), concat({"a block begins at the displacement ", std::to_string(where.first),
                                                     ", before ", which}));
    auto const last = static_cast<std::size_t>(where.last);
    arguments.require_size(std::min(size, last), last, which);
  };
  if constexpr (std::is_pointer_v<type>) {
    return pointed_at(range);
  } else if constexpr (contiguous<R>) {
    if (where.last > 0) fill_empty(arguments, range, static_cast<std::size_t>(where.last));
    require_within(std::ranges::size(range));
    return pointed_at(std::ranges::data(range));
  } else {
    auto layout = base_of<type>::template layout<R>(range);
    require_within(layout.size());
    return layout;
  }
}

/// A layout (packed.hpp): blocks at displacements, in the order of ranks. If blocks overlap, the higher rank's wins.
template <class Base>
class blocks_apart {
  using pointer = decltype(std::declval<Base>().side_by_side());

 public:
  struct block {
    std::ptrdiff_t place;
    std::size_t n;
  };
  /// Lists them in `memory`, unless they lie side by side.
  template <class Checked, class Counts, class Displs>
  blocks_apart(Checked const& arguments, borrowed_memory& memory, buffer packed_memory::*part, Base base,
               extent_of_blocks const& where, Counts const& counts, Displs const& displs)
      : base_(std::move(base)), elements_(sum_of(counts)) {
    if (elements_ == 0) return;
    if (where.are_consecutive && !base_.lies_apart()) {
      side_by_side_ = base_.side_by_side() + where.first;
      return;
    }
    arguments.attempt([&] {
      blocks_ = reinterpret_cast<block*>((memory.get().*part).of_size(std::ranges::size(counts) * sizeof(block)));
    });
    if (where.are_consecutive) blocks_[count_++] = {where.first, elements_};
    else for_each_block(counts, displs, [&](std::ptrdiff_t place, std::size_t n) { blocks_[count_++] = {place, n}; });
  }

  std::size_t size() const { return elements_; }
  pointer side_by_side() const { return side_by_side_; }
  template <class To>
  void pack(To* to) {
    for (std::size_t i = 0; i < count_; to += blocks_[i++].n) base_.pack(to, blocks_[i].place, blocks_[i].n);
  }
  template <class From>
  void unpack(From* from) requires(!std::is_const_v<std::remove_pointer_t<pointer>>) {
    for (std::size_t i = 0; i < count_; from += blocks_[i++].n) base_.unpack(from, blocks_[i].place, blocks_[i].n);
  }

 private:
  Base base_;
  block* blocks_ = nullptr;
  std::size_t count_ = 0, elements_ = 0;
  pointer side_by_side_ = nullptr;
};

/// Each rank's `mine`, on every rank, in borrowed memory.
template <class Comm>
std::span<std::size_t const> counts_of_ranks(Comm const& comm, std::size_t mine, borrowed_memory& memory) {
  call_arguments<collective::all_gather, Comm> const arguments(comm);
  auto const p = static_cast<std::size_t>(arguments.size());
  std::size_t* all = nullptr;
  arguments.attempt([&] { all = reinterpret_cast<std::size_t*>(memory.get().counts.of_size(p * sizeof(mine))); });
  calls<collective::all_gather>::make<made::at_once>(comm, one(std::as_const(mine)), std::span(all, p));
  return {all, p};
}

/// An argument in blocks at displacements; `which` names it in errors. R: as it was given.
template <class T, class R, class Checked, class Counts, class Displs>
auto in_blocks(use on_this_rank, Checked const& arguments, borrowed_memory& memory, std::remove_reference_t<R>& given,
               Counts const& counts, Displs const& displs, char const* which) {
  require_displacements(arguments, counts, displs);
  extent_of_blocks const where = extent_of(counts, displs);
  auto const places = on_this_rank.reads ? &packed_memory::places : &packed_memory::places_out;
  blocks_apart blocks(arguments, memory, places, base_for<R>(arguments, given, where, which), where, counts, displs);
  return packed_argument<T, decltype(blocks)>(std::move(blocks), on_this_rank);
}

}  // namespace colligo
