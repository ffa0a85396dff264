// SPDX-License-Identifier: BSL-1.0
/// @file
/// Arrays whose elements need not lie side by side: pointer, extents and strides, taken from the types of other
/// libraries by their members alone, and the loops that pack and unpack them.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>

#include "../core/error.hpp"
#include "../core/strings.hpp"

namespace colligo::inline COLLIGO_MODE {

/// An array of D dimensions. Strides are in elements. Its elements count in row-major order: the last index is the
/// fastest, whatever the strides.
template <class T, std::size_t D>
struct strided_view {
  T* data = nullptr;
  std::array<std::size_t, D> extents{};
  std::array<std::ptrdiff_t, D> strides{};

  constexpr std::size_t size() const {
    std::size_t n = 1;
    for (std::size_t const extent : extents) n *= extent;
    return n;
  }
  /// The part from `first` on, of these extents. Throws argument_error if it ends beyond the view.
  constexpr strided_view part(std::array<std::size_t, D> const& first, std::array<std::size_t, D> const& of) const {
    strided_view view{data, of, strides};
    for (std::size_t d = 0; d < D; ++d) {
      if (first[d] > extents[d] || of[d] > extents[d] - first[d])
        throw argument_error(detail::concat({"colligo: a part of ", of[d], " elements from ", first[d],
                                             " on, along axis ", d, " of ", extents[d]}));
      view.data += static_cast<std::ptrdiff_t>(first[d]) * strides[d];
    }
    return view;
  }
  /// Its elements lie one after the other in memory, in its order.
  constexpr bool is_contiguous() const {
    std::ptrdiff_t next = 1;
    for (std::size_t d = D; d-- > 0;) {
      if (extents[d] != 1 && strides[d] != next) return size() == 0;
      next *= static_cast<std::ptrdiff_t>(extents[d]);
    }
    return true;
  }
  /// An axis along which elements may share memory; D if there is none. For three axes and more each has to step over
  /// those of smaller strides.
  constexpr std::size_t overlapping_axis() const {
    if (size() == 0) return D;
    std::array<std::size_t, D> by_stride{};
    for (std::size_t d = 0; d < D; ++d) by_stride[d] = d;
    auto const length = [&](std::size_t d) { return strides[d] < 0 ? -strides[d] : strides[d]; };
    std::sort(by_stride.begin(), by_stride.end(),
              [&](std::size_t a, std::size_t b) { return length(a) < length(b); });
    std::ptrdiff_t covered = 0;   // by the axes of smaller strides, beyond the first element
    std::size_t before = D;       // the only one of these
    for (std::size_t const d : by_stride) {
      if (extents[d] <= 1) continue;
      // Of two axes, elements meet first where both have gone to a common multiple of their strides.
      auto const meets = [&](std::size_t of, std::size_t other) {
        return extents[of] > static_cast<std::size_t>(length(other) / std::gcd(length(of), length(other)));
      };
      bool const are_apart = length(d) > covered || (before < D && length(before) != 0 &&
                                                     !(meets(d, before) && meets(before, d)));
      if (!are_apart) return d;
      before = covered == 0 ? d : D;
      covered += length(d) * static_cast<std::ptrdiff_t>(extents[d] - 1);
    }
    return D;
  }
};

namespace detail {

/// An integer of any type: lengths are std::size_t in most programs, and {1, height} mixes types.
struct any_integer {
  template <std::integral N>
  constexpr any_integer(N n) : value(static_cast<std::ptrdiff_t>(n)) {}
  constexpr explicit operator std::ptrdiff_t() const { return value; }
  std::ptrdiff_t value;
};

template <class T, std::size_t D, class Extent, class Stride>
constexpr strided_view<T, D> made_strided(T* first, Extent const (&extents)[D], Stride const (&strides)[D]) {
  strided_view<T, D> view{first, {}, {}};
  for (std::size_t d = 0; d < D; ++d) {
    view.extents[d] = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(extents[d]));
    view.strides[d] = static_cast<std::ptrdiff_t>(strides[d]);
  }
  return view;
}
template <class R, std::size_t D>
constexpr strided_view<char, D> no_pointer() {
  static_assert(std::is_pointer_v<R>, "colligo: strided and row_major take a pointer to the first element: its.data()");
  return {};
}
template <class T, std::size_t D, class Extent>
constexpr strided_view<T, D> made_row_major(T* first, Extent const (&extents)[D]) {
  strided_view<T, D> view = made_strided(first, extents, extents);
  std::size_t next = 1;   // may overflow: such arrays are refused when they are used
  for (std::size_t d = D; d-- > 0;) {
    view.strides[d] = static_cast<std::ptrdiff_t>(next);
    next *= view.extents[d];
  }
  return view;
}

}  // namespace detail

namespace by_name {

/// count elements, each `stride` elements behind the one before: a column of a matrix.
template <class T, std::integral Count, std::integral Stride>
constexpr strided_view<T, 1> strided(T* first, Count count, Stride stride) {
  return {first, {static_cast<std::size_t>(count)}, {static_cast<std::ptrdiff_t>(stride)}};
}
/// An array with these extents and strides, integers: strided(p, {rows, columns}, {1, leading_dimension}).
template <class T, std::integral Extent, std::integral Stride, std::size_t D>
constexpr strided_view<T, D> strided(T* first, Extent const (&extents)[D], Stride const (&strides)[D]) {
  return detail::made_strided(first, extents, strides);
}
template <class T, std::size_t D>   // of different types
constexpr strided_view<T, D> strided(T* first, detail::any_integer const (&extents)[D],
                                     detail::any_integer const (&strides)[D]) {
  return detail::made_strided(first, extents, strides);
}
/// An array that lies one row after the other: row_major(p, {rows, columns}).
template <class T, std::integral Extent, std::size_t D>
constexpr strided_view<T, D> row_major(T* first, Extent const (&extents)[D]) {
  return detail::made_row_major(first, extents);
}
template <class T, std::size_t D>   // of different types
constexpr strided_view<T, D> row_major(T* first, detail::any_integer const (&extents)[D]) {
  return detail::made_row_major(first, extents);
}

/// For a container in place of a pointer: the message says what to write.
template <class R, std::integral Count, std::integral Stride>
  requires(!std::is_pointer_v<std::decay_t<R>>)
constexpr auto strided(R&&, Count, Stride) { return detail::no_pointer<R, 1>(); }
template <class R, std::size_t D>
  requires(!std::is_pointer_v<std::decay_t<R>>)
constexpr auto strided(R&&, detail::any_integer const (&)[D], detail::any_integer const (&)[D]) {
  return detail::no_pointer<R, D>();
}
template <class R, std::size_t D>
  requires(!std::is_pointer_v<std::decay_t<R>>)
constexpr auto row_major(R&&, detail::any_integer const (&)[D]) { return detail::no_pointer<R, D>(); }

}  // namespace by_name

namespace detail {

template <class View>
inline constexpr bool is_strided_view = false;
template <class T, std::size_t D>
inline constexpr bool is_strided_view<strided_view<T, D>> = true;

// std::mdspan and its reference implementation.
template <class View>
concept like_mdspan = requires(View const& x) {
  x.data_handle()[0];
  x.mapping().stride(std::size_t{});
  x.extents().extent(std::size_t{});
  { std::remove_cvref_t<View>::rank() } -> std::convertible_to<std::size_t>;
};
/// An mdspan whose elements are no objects in memory (scaled, conjugated).
template <class View>
concept makes_elements =
    like_mdspan<View> && requires { typename std::remove_cvref_t<View>::reference; } &&
    !std::is_same_v<typename std::remove_cvref_t<View>::reference, typename std::remove_cvref_t<View>::element_type&>;
// Kokkos::View, whose rank is a constant.
template <class View>
concept like_kokkos = requires(View const& x) {
  x.data()[0];
  x.extent(0);
  x.stride(0);
  static_cast<std::size_t>(std::remove_cvref_t<View>::rank);
};
// Eigen's matrices, maps and blocks.
template <class View>
concept like_eigen = requires(View const& x) {
  x.data()[0];
  { x.rows() } -> std::integral;
  { x.cols() } -> std::integral;
  x.rowStride(), x.colStride();
};
// boost::multi_array, multi_array_ref and views of them.
template <class View>
concept like_multi_array = requires(View const& x) {
  x.origin()[0];
  x.shape()[0], x.strides()[0], x.index_bases()[0];
  static_cast<std::size_t>(std::remove_cvref_t<View>::dimensionality);
};

/// A type with an array's extents and strides, this library's or another one's.
template <class View>
concept view_of_elements = is_strided_view<std::remove_cvref_t<View>> || like_mdspan<View> || like_kokkos<View> ||
                           like_eigen<View> || like_multi_array<View>;

template <std::size_t D, class T, class Extent, class Stride>
constexpr strided_view<T, D> made_view(T* data, Extent extent, Stride stride) {
  strided_view<T, D> view{data, {}, {}};
  for (std::size_t d = 0; d < D; ++d) {
    view.extents[d] = static_cast<std::size_t>(extent(d));
    view.strides[d] = static_cast<std::ptrdiff_t>(stride(d));
  }
  return view;
}

/// A temporary that owns its elements, which are destroyed with it. Of Boost's arrays only those that own them have a
/// default constructor.
template <class View>
concept temporary_array = !std::is_reference_v<View> && view_of_elements<View> &&
                          (requires { typename View::allocator_type; } ||
                           (like_multi_array<View> && std::default_initializable<View>) ||
                           requires(View& x) { x.conservativeResize(1, 1); });

/// As pointer, extents and strides.
template <view_of_elements View>
constexpr auto view_of(View&& view) {
  using type = std::remove_cvref_t<View>;
  if constexpr (is_strided_view<type>) {
    return view;
  } else if constexpr (like_mdspan<View>) {
    static_assert(!makes_elements<View>,
                  "colligo: this mdspan's accessor makes elements (scaled, conjugated): copy them");
    auto* const first = [&] {
      if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(view.data_handle())>>) return view.data_handle();
      else return &view.data_handle()[0];
    }();
    return made_view<type::rank()>(first, [&](auto d) { return view.extents().extent(d); },
                                   [&](auto d) { return view.mapping().stride(d); });
  } else if constexpr (like_multi_array<View>) {
    auto first = view.origin();
    for (std::size_t d = 0; d < type::dimensionality; ++d) first += view.index_bases()[d] * view.strides()[d];
    return made_view<type::dimensionality>(first, [&](auto d) { return view.shape()[d]; },
                                           [&](auto d) { return view.strides()[d]; });
  } else if constexpr (like_eigen<View>) {
    return made_view<2>(view.data(), [&](auto d) { return d == 0 ? view.rows() : view.cols(); },
                        [&](auto d) { return d == 0 ? view.rowStride() : view.colStride(); });
  } else {
    return made_view<static_cast<std::size_t>(type::rank)>(view.data(), [&](auto d) { return view.extent(d); },
                                                           [&](auto d) { return view.stride(d); });
  }
}

/// The same elements in the same order, with as few axes as possible, as arrays of one length.
template <class T>
struct merged_axes {
  static constexpr std::size_t most = 8;
  T* data;
  std::size_t axes = 0;
  std::array<std::size_t, most> extents{};
  std::array<std::ptrdiff_t, most> strides{};

  template <std::size_t D>
  explicit merged_axes(strided_view<T, D> const& view) : data(view.data) {
    static_assert(D <= most, "colligo: a view has at most 8 dimensions");
    for (std::size_t d = 0; d < D; ++d) {
      if (view.extents[d] == 1) continue;
      auto const n = static_cast<std::ptrdiff_t>(view.extents[d]);
      if (axes != 0 && strides[axes - 1] == view.strides[d] * n) {
        extents[axes - 1] *= view.extents[d];
        strides[axes - 1] = view.strides[d];
      } else {
        extents[axes] = view.extents[d], strides[axes++] = view.strides[d];
      }
    }
    if (axes == 0) extents[0] = 1, strides[0] = 1, axes = 1;
  }
};

inline constexpr std::size_t tile = 16;   // rows and columns: both sides' lines of a tile stay in a first-level cache

template <class T, class Line>
void for_each_line(merged_axes<T> const& merged, std::size_t axis, T* first, std::size_t at, Line& line) {
  std::size_t const last = merged.axes - 1, n = merged.extents[axis];
  std::ptrdiff_t const stride = merged.strides[axis];
  if (axis == last) return line(first, n, stride, at);
  std::size_t inner = 1;
  for (std::size_t d = axis + 1; d <= last; ++d) inner *= merged.extents[d];
  auto const length = [](std::ptrdiff_t of) { return of < 0 ? -of : of; };
  if (axis + 1 == last && length(merged.strides[last]) > length(stride)) {   // a transpose, in tiles
    std::size_t const columns = merged.extents[last];
    for (std::size_t column = 0; column < columns; column += tile)
      for (std::size_t row = 0; row < n; row += tile)
        for (std::size_t r = row; r < std::min(n, row + tile); ++r)
          line(first + static_cast<std::ptrdiff_t>(r) * stride +
                   static_cast<std::ptrdiff_t>(column) * merged.strides[last],
               std::min(tile, columns - column), merged.strides[last], at + r * inner + column);
    return;
  }
  for (std::size_t i = 0; i < n; ++i)
    for_each_line(merged, axis + 1, first + static_cast<std::ptrdiff_t>(i) * stride, at + i * inner, line);
}

/// Copies the elements of a view, in its order, to adjacent ones.
template <class T, std::size_t D, class To>
void pack(strided_view<T, D> const& from, To* to) {
  if (from.size() == 0) return;
  merged_axes<T> const merged(from);
  auto line = [to](T* first, std::size_t n, std::ptrdiff_t stride, std::size_t at) {
    To* next = to + at;
    if (stride == 1) std::copy_n(first, n, next);
    else
      for (; n != 0; --n, first += stride) *next++ = *first;
  };
  for_each_line(merged, 0, merged.data, 0, line);
}
/// The other way.
template <class From, class T, std::size_t D>
void unpack(From const* from, strided_view<T, D> const& to) {
  if (to.size() == 0) return;
  merged_axes<T> const merged(to);
  auto line = [from](T* first, std::size_t n, std::ptrdiff_t stride, std::size_t at) {
    From const* next = from + at;
    if (stride == 1) std::copy_n(next, n, first);
    else
      for (; n != 0; --n, first += stride) *first = *next++;
  };
  for_each_line(merged, 0, merged.data, 0, line);
}

/// Calls f(part) for parts that have together the n elements from the at-th on, in their order: of a 2D view the end of
/// a row, whole rows, and the beginning of one. Before `axis` all extents are 1.
template <class T, std::size_t D, class F>
void for_each_part(strided_view<T, D> const& view, std::size_t at, std::size_t n, F const& f, std::size_t axis = 0) {
  if (n == 0) return;
  if (axis == D) return f(view);   // of no dimensions
  std::size_t row = 1;   // elements at one index of the axis
  for (std::size_t d = axis + 1; d < D; ++d) row *= view.extents[d];
  auto const rows = [&](std::size_t count) {
    strided_view<T, D> part = view;
    part.data += static_cast<std::ptrdiff_t>(at / row) * view.strides[axis];
    part.extents[axis] = count;
    return part;
  };
  auto const within_row = [&](std::size_t count) {
    for_each_part(rows(1), at % row, count, f, axis + 1);
    at += count, n -= count;
  };
  if (at % row != 0) within_row(std::min(n, row - at % row));
  if (std::size_t const whole = n / row; whole != 0) {
    f(rows(whole));
    at += whole * row, n -= whole * row;
  }
  if (n != 0) within_row(n);
}

/// "elements overlap along axis 1", for an output; empty if none do.
template <class T, std::size_t D>
std::string why_not_written(strided_view<T, D> const& view) {
  std::size_t const axis = view.overlapping_axis();
  return axis == D ? std::string()
                   : concat({"elements of the output overlap along axis ", axis, ", whose stride is ",
                             std::to_string(view.strides[axis])});
}

}  // namespace detail
}  // namespace colligo
