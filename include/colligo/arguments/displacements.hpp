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

/// Where the blocks of a call begin: a pointer to displacement 0, in the user's memory.
template <class R, class T>
concept base_of_blocks = pointer_to<R, T> || pointer_to<R, T const> || element_of_range<T, std::remove_cvref_t<R>>;
template <class R, class T>
concept base_of_output = pointer_to<R, T> || (output<R> && element_of_range<T, std::remove_cvref_t<R>>);
template <class R>
struct element_of_base {};
template <std::ranges::range R>
struct element_of_base<R> { using type = std::ranges::range_value_t<R>; };
template <class T>
struct element_of_base<T*> { using type = std::remove_const_t<T>; };
/// The element type of a range, or of a pointer.
template <class R>
using element_at_base = typename element_of_base<std::remove_cvref_t<R>>::type;

/// Requires a size and a displacement for every rank.
template <class Checked, class Sizes, class Displs>
void require_displacements(Checked const& arguments, Sizes const& sizes, Displs const& displs) {
  auto const p = static_cast<std::size_t>(arguments.size());
  arguments.require_size(std::ranges::size(sizes), p, "the list of sizes");
  arguments.require_size(std::ranges::size(displs), p, "the list of displacements");
  for (auto const size : sizes) arguments.require_count(size);
}
/// Requires the blocks to lie within a range, and resizes an empty container so that they do. Returns where they begin.
template <class Checked, class R>
auto* base_for(Checked const& arguments, R& range, extent_of_blocks const& where, char const* which) {
  if constexpr (std::is_pointer_v<std::remove_cvref_t<R>>) {
    return range;
  } else {
    if (where.last > 0) fill_empty(arguments, range, static_cast<std::size_t>(where.last));
    if (where.first < 0)
      refuse_because(arguments.as_refused(), concat({"a block begins at the displacement ", std::to_string(where.first),
                                                     ", before ", which}));
    auto const last = static_cast<std::size_t>(where.last);
    arguments.require_size(std::min<std::size_t>(std::ranges::size(range), last), last, which);
    return std::ranges::data(range);
  }
}

/// A layout (packed.hpp): blocks at displacements, in the order of ranks. If blocks overlap, the higher rank's wins.
template <class T>
class blocks_apart {
 public:
  struct block {
    T* first;
    std::size_t n;
  };
  /// Lists them in `memory`, unless they lie side by side.
  template <class Checked, class Counts, class Displs>
  blocks_apart(Checked const& arguments, borrowed_memory& memory, buffer packed_memory::*part, T* base,
               extent_of_blocks const& where, Counts const& counts, Displs const& displs) {
    elements_ = sum_of(counts);
    if (elements_ == 0) return;
    if (where.are_consecutive) {
      side_by_side_ = base + where.first;
      return;
    }
    arguments.attempt([&] {
      blocks_ = reinterpret_cast<block*>((memory.get().*part).of_size(std::ranges::size(counts) * sizeof(block)));
    });
    for_each_block(counts, displs, [&](std::ptrdiff_t at, std::size_t n) { blocks_[count_++] = {base + at, n}; });
  }

  std::size_t size() const { return elements_; }
  T* side_by_side() const { return side_by_side_; }
  template <class To>
  void pack(To* to) const {
    for (std::size_t i = 0; i < count_; ++i) to = std::copy_n(blocks_[i].first, blocks_[i].n, to);
  }
  template <class From>
  void unpack(From* from) const requires(!std::is_const_v<T>) {
    for (std::size_t i = 0; i < count_; from += blocks_[i++].n)
      std::move(from, from + blocks_[i].n, blocks_[i].first);
  }

 private:
  block* blocks_ = nullptr;
  std::size_t count_ = 0, elements_ = 0;
  T* side_by_side_ = nullptr;
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

/// The input of a call, in blocks at displacements.
template <class T>
auto input_in_blocks(blocks_apart<T const> const& where) {
  return packed_argument<T, blocks_apart<T const>>(where, {true, false});
}
template <class T>
auto output_in_blocks(blocks_apart<T> const& where) {
  return packed_argument<T, blocks_apart<T>>(where, {false, true});
}
/// gather(span) fills one block after the other.
template <made How, class Checked, class T, class Counts, class Displs, class Gather>
made_t<How> gather_apart(Checked const& arguments, endpoint& state, T* out, extent_of_blocks const& where,
                         Counts const& counts, Displs const& displs, Gather gather) {
  borrowed_memory memory(state);
  auto to = output_in_blocks<T>({arguments, memory, &packed_memory::places_out, out, where, counts, displs});
  return make_packed<How>(arguments, memory, packed_arguments<plain_argument, decltype(to)>{{}, std::move(to)},
                          [&](auto const& packed) { return gather(packed.out.elements()); });
}
/// scatter(span) reads one block after the other.
template <made How, class Checked, class T, class Counts, class Displs, class Scatter>
made_t<How> scatter_apart(Checked const& arguments, endpoint& state, T const* in, extent_of_blocks const& where,
                          Counts const& counts, Displs const& displs, Scatter scatter) {
  borrowed_memory memory(state);
  auto from = input_in_blocks<T>({arguments, memory, &packed_memory::places, in, where, counts, displs});
  return make_packed<How>(arguments, memory,
                          packed_arguments<decltype(from), plain_argument>{std::move(from), {}},
                          [&](auto const& packed) { return scatter(std::span<T const>(packed.in.elements())); });
}

}  // namespace colligo
