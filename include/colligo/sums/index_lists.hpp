// SPDX-License-Identifier: BSL-1.0
/// @file
/// A rank's operations on sparse vectors (../sparse.hpp): checking and merging lists, making blocks.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "../core/element.hpp"

namespace colligo::inline COLLIGO_MODE {

/// A vector of which only some elements exist: their indices, in ascending order, and their values.
template <class T, std::integral Index>
struct sparse_vector {
  std::vector<Index> indices;
  std::vector<T> values;
  friend bool operator==(sparse_vector const&, sparse_vector const&) = default;
};

/// A view of the same: see sparse().
template <class T, std::integral Index>
struct sparse_range {
  std::span<Index const> indices;
  std::span<T const> values;
  std::int64_t length;   ///< of the vector; -1: it ends after the last index of any rank
};

namespace detail {

template <class T, class Index>
inline constexpr bool holds_addresses<sparse_range<T, Index>> = true;   // it can not be sent as a value

/// A mistake in a rank's list, and its place.
struct mistake_of_list {
  enum kind : std::int64_t { none, no_length, unequal, negative, beyond, unsorted, twice };
  std::int64_t what = none, first = 0, second = 0;
};
template <class T, class Index>
mistake_of_list mistake_in(sparse_range<T, Index> const& list) {
  using kind = mistake_of_list::kind;
  std::size_t const n = list.indices.size();
  if (list.length < -1) return {kind::no_length, list.length};
  if (n != list.values.size())
    return {kind::unequal, static_cast<std::int64_t>(n), static_cast<std::int64_t>(list.values.size())};
  std::int64_t const end = list.length >= 0 ? list.length : std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < n; ++i) {
    auto const index = static_cast<std::int64_t>(list.indices[i]);
    if (std::is_signed_v<Index> && index < 0) return {kind::negative, index};
    if (index < 0 || index >= end) return {kind::beyond, index, end};   // below 0: of 2^63 or more
    if (i == 0 || list.indices[i - 1] < list.indices[i]) continue;
    return {list.indices[i - 1] == list.indices[i] ? kind::twice : kind::unsorted, index,
            static_cast<std::int64_t>(list.indices[i - 1])};
  }
  return {};
}

/// The place of the first element whose index is not below this one.
template <class Index>
std::size_t first_not_below(std::span<Index const> indices, std::int64_t index) {
  return static_cast<std::size_t>(
      std::ranges::lower_bound(indices, index, {}, [](Index i) { return static_cast<std::int64_t>(i); }) -
      indices.begin());
}

/// Merges two lists; the left one's value is the left operand. Writes from out on, and returns the end.
template <class T, class Index, class Op>
std::size_t merge_two(sparse_range<T, Index> const& left, sparse_range<T, Index> const& right,
                      sparse_vector<T, Index>& out, std::size_t at, Op& op) {
  std::size_t i = 0, j = 0;
  for (; i < left.indices.size() && j < right.indices.size(); ++at) {
    // Without branches except for equal indices: branches on the lower index could not be predicted.
    Index const a = left.indices[i], b = right.indices[j];
    bool const take_left = a <= b, take_right = b <= a;
    out.indices[at] = take_left ? a : b;
    if (take_left && take_right) out.values[at] = static_cast<T>(std::invoke(op, left.values[i], right.values[j]));
    else out.values[at] = *(take_left ? &left.values[i] : &right.values[j]);
    i += take_left, j += take_right;
  }
  auto const rest = [&](sparse_range<T, Index> const& list, std::size_t from) {
    std::ranges::copy(list.indices.subspan(from), out.indices.begin() + static_cast<std::ptrdiff_t>(at));
    std::ranges::copy(list.values.subspan(from), out.values.begin() + static_cast<std::ptrdiff_t>(at));
    at += list.indices.size() - from;
  };
  rest(left, i), rest(right, j);
  return at;
}

/// Merges consecutive lists, the i-th from ends[i - 1] to ends[i], in neighbouring pairs until there is one, so that
/// operands stay in order.
template <class T, class Index, class Op>
void merge_all(sparse_vector<T, Index>& lists, std::vector<std::size_t> ends, Op& op) {
  sparse_vector<T, Index> merged{std::vector<Index>(lists.indices.size()), std::vector<T>(lists.values.size())};
  while (ends.size() > 1) {
    std::size_t begin = 0, at = 0, made = 0;
    auto const list = [&](std::size_t end) -> sparse_range<T, Index> {
      std::size_t const first = std::exchange(begin, end);
      return {std::span<Index const>(lists.indices).subspan(first, end - first),
              std::span<T const>(lists.values).subspan(first, end - first), -1};
    };
    for (std::size_t i = 0; i < ends.size(); i += 2) {
      auto const left = list(ends[i]), right = list(i + 1 < ends.size() ? ends[i + 1] : ends[i]);
      at = merge_two(left, right, merged, at, op);
      ends[made++] = at;
    }
    ends.resize(made);
    std::swap(lists, merged);
  }
  lists.indices.resize(ends.empty() ? 0 : ends[0]);
  lists.values.resize(ends.empty() ? 0 : ends[0]);
}

/// Indices within first .. last in a message: a list or, if that is shorter, a bit for each possible index.
template <class Index>
struct coded_indices {
  std::int64_t first, last;
  std::size_t count;

  std::size_t bits_bytes() const { return (static_cast<std::size_t>(last - first) + 7) / 8; }
  bool as_bits() const { return bits_bytes() < count * sizeof(Index); }
  std::size_t bytes() const { return as_bits() ? bits_bytes() : count * sizeof(Index); }

  void encode(std::span<Index const> indices, std::span<std::byte> out) const {
    if (!as_bits()) {
      std::ranges::copy(std::as_bytes(indices), out.begin());
      return;
    }
    std::fill(out.begin(), out.end(), std::byte{});
    for (Index const i : indices) {
      auto const bit = static_cast<std::size_t>(static_cast<std::int64_t>(i) - first);
      out[bit / 8] |= std::byte{1} << bit % 8;
    }
  }
  void decode(std::span<std::byte const> in, std::span<Index> indices) const {
    if (!as_bits()) {
      std::ranges::copy(in, std::as_writable_bytes(indices).begin());
      return;
    }
    std::size_t at = 0;
    for (std::size_t i = 0; i < in.size(); ++i)
      for (auto rest = std::to_integer<unsigned>(in[i]); rest != 0; rest &= rest - 1)
        indices[at++] = static_cast<Index>(first + static_cast<std::int64_t>(8 * i) + std::countr_zero(rest));
  }
};

/// 64 neighbouring elements of a vector, and a bit for each that exists. If the functor has an identity, it is the
/// value of missing ones.
template <class T>
struct sparse_block {
  std::uint64_t there;
  T values[64];
};

/// x op identity == x == identity op x for every x, bit by bit.
template <class Op, class T>
inline constexpr bool has_identity =
    std::is_arithmetic_v<T> && (std::is_same_v<Op, std::plus<>> || std::is_same_v<Op, std::plus<T>>);
template <class T>
inline constexpr T missing_value{};
template <std::floating_point T>
inline constexpr T missing_value<T> = -T{};   // 0 + -0 is 0, and -0 + -0 is -0

template <class Op>
struct combined_blocks {
  Op& op;

  template <class T>
  void operator()(sparse_block<T> const& a, sparse_block<T> const& b, sparse_block<T>& out) {
    std::uint64_t const in_a = a.there, in_b = b.there;
    if (has_identity<std::remove_cv_t<Op>, T> || (in_a & in_b) == ~std::uint64_t{}) {
      for (int i = 0; i < 64; ++i) out.values[i] = static_cast<T>(op(a.values[i], b.values[i]));
    } else {
      for (int i = 0; i < 64; ++i) {
        bool const left = (in_a >> i & 1) != 0, right = (in_b >> i & 1) != 0;
        if (left && right) out.values[i] = static_cast<T>(std::invoke(op, a.values[i], b.values[i]));
        else out.values[i] = right ? b.values[i] : a.values[i];
      }
    }
    out.there = in_a | in_b;
  }
  template <class T>
  sparse_block<T> operator()(sparse_block<T> const& a, sparse_block<T> const& b) {
    sparse_block<T> out;
    (*this)(a, b, out);
    return out;
  }
};
template <class Op, class T>
void combine_blocks(void* op, std::byte const* left, std::byte const* right, std::byte* out, std::size_t n) {
  auto const *a = reinterpret_cast<sparse_block<T> const*>(left), *b = reinterpret_cast<sparse_block<T> const*>(right);
  auto* const made = reinterpret_cast<sparse_block<T>*>(out);
  for (std::size_t i = 0; i < n; ++i) (*static_cast<combined_blocks<Op>*>(op))(a[i], b[i], made[i]);
}
template <class Op, class T>
inline constexpr combination own_combination<combined_blocks<Op>, sparse_block<T>> = &combine_blocks<Op, T>;

inline constexpr std::int64_t block_width = 64;

/// The blocks of the vector's stretches bounds[i] .. bounds[i + 1], each of which begins with one of its own.
template <class Op, class T, class Index>
std::vector<sparse_block<T>> blocks_of_list(sparse_range<T, Index> const& list, std::span<std::int64_t const> bounds) {
  std::size_t count = 0;
  for (std::size_t i = 1; i < bounds.size(); ++i)
    count += static_cast<std::size_t>((bounds[i] - bounds[i - 1] + block_width - 1) / block_width);
  sparse_block<T> none{};
  if constexpr (has_identity<std::remove_cv_t<Op>, T>) std::ranges::fill(none.values, missing_value<T>);
  std::vector<sparse_block<T>> made(count, none);
  sparse_block<T>* block = made.data();
  std::size_t at = 0;
  for (std::size_t i = 1; i < bounds.size(); ++i) {
    for (; at < list.indices.size() && static_cast<std::int64_t>(list.indices[at]) < bounds[i]; ++at) {
      std::int64_t const place = static_cast<std::int64_t>(list.indices[at]) - bounds[i - 1];
      block[place / block_width].values[place % block_width] = list.values[at];
      block[place / block_width].there |= std::uint64_t{1} << place % block_width;
    }
    block += (bounds[i] - bounds[i - 1] + block_width - 1) / block_width;
  }
  return made;
}
template <class Index, class T>
sparse_vector<T, Index> list_of_blocks(std::span<sparse_block<T> const> blocks, std::int64_t first) {
  std::size_t count = 0, at = 0;
  for (auto const& block : blocks) count += static_cast<std::size_t>(std::popcount(block.there));
  sparse_vector<T, Index> made{std::vector<Index>(count), std::vector<T>(count)};
  for (auto const& block : blocks) {
    for (std::uint64_t rest = block.there; rest != 0; rest &= rest - 1, ++at) {
      int const bit = std::countr_zero(rest);
      made.indices[at] = static_cast<Index>(first + bit);
      made.values[at] = block.values[bit];
    }
    first += block_width;
  }
  return made;
}

}  // namespace detail

template <class Op, class T>
inline constexpr bool commutative<detail::combined_blocks<Op>, detail::sparse_block<T>> =
    commutative<std::remove_cv_t<Op>, T>;
template <class Op, class T>
inline constexpr bool exact<detail::combined_blocks<Op>, detail::sparse_block<T>> = exact<std::remove_cv_t<Op>, T>;

}  // namespace colligo
