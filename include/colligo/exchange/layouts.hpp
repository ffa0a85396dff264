// SPDX-License-Identifier: BSL-1.0
/// @file
/// Arguments whose elements do not lie side by side (../views.hpp): which types they are, how they are packed, whether
/// two of them share an element, and what becomes of them in messages and in sequences (../sequence.hpp).
#pragma once

#include <numeric>

#include "../arguments/displacements.hpp"
#include "../arguments/mistakes.hpp"
#include "../arguments/packed.hpp"
#include "strided_view.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// A random access range as input.
template <class R>
concept range_apart = std::ranges::random_access_range<R> && std::ranges::sized_range<R> && !contiguous<R> &&
                      !view_of_elements<R> && !std::is_same_v<std::remove_cvref_t<R>, std::vector<bool>>;
template <class R>
concept view_apart = view_of_elements<R> && !contiguous<R>;
template <class R>
concept lies_apart = view_apart<R> || range_apart<R>;

template <class R>
struct element_apart { using type = std::remove_pointer_t<decltype(view_of(std::declval<R>()).data)>; };
template <range_apart R>
struct element_apart<R> { using type = std::ranges::range_value_t<R> const; };

/// The message for a call that no form accepts is about the elements.
template <view_apart View>
  requires(!std::ranges::range<View>)
struct element_in<View> { using type = std::remove_const_t<typename element_apart<View>::type>; };
/// No value of one of these types is sent as an element.
template <class View>
  requires like_mdspan<View> || like_kokkos<View> || like_multi_array<View>
inline constexpr bool holds_addresses<View> = true;

}  // namespace detail

/// A view that is input and output at once: see in_place().
template <class View>
struct in_place_view {
  View view;
};

namespace detail {

template <view_apart View>
inline constexpr bool stands_for_elements<View> = true;
template <view_apart View>
inline constexpr bool is_constant<View> = std::is_const_v<typename element_apart<View>::type>;
template <class T>
inline constexpr bool is_view_in_place = false;
template <class View>
inline constexpr bool is_view_in_place<in_place_view<View>> = true;

}  // namespace detail

namespace by_name {

/// Marks a view as input and output at once: all_reduce(comm, in_place(strided(p, n, s)), op).
template <detail::view_apart View>
auto in_place(View&& view) {
  static_assert(!std::is_const_v<std::remove_pointer_t<decltype(detail::view_of(view).data)>>,
                "colligo: the call writes to in_place(view), but the view's elements are const");
  return in_place_view<decltype(detail::view_of(view))>{detail::view_of(view)};
}

}  // namespace by_name

namespace detail {

/// Layouts (packed.hpp), and bases of blocks (displacements.hpp).
template <class T, std::size_t D>
struct strided_layout {
  strided_view<T, D> view;

  std::size_t size() const { return view.size(); }
  bool lies_apart() const { return !view.is_contiguous(); }
  T* side_by_side() const { return lies_apart() ? nullptr : view.data; }
  void pack(std::remove_const_t<T>* to) const { detail::pack(view, to); }
  void unpack(T const* from) const requires(!std::is_const_v<T>) { detail::unpack(from, view); }
  void pack(std::remove_const_t<T>* to, std::ptrdiff_t at, std::size_t n) const {
    for_each_part(view, static_cast<std::size_t>(at), n,
                  [&](auto const& part) { detail::pack(part, to), to += part.size(); });
  }
  void unpack(T const* from, std::ptrdiff_t at, std::size_t n) const requires(!std::is_const_v<T>) {
    for_each_part(view, static_cast<std::size_t>(at), n,
                  [&](auto const& part) { detail::unpack(from, part), from += part.size(); });
  }
};
/// Of a range that outlives the call, or of a view in the sense of <ranges>, which is copied.
template <class R>
struct range_layout {
  static constexpr bool keeps = !std::is_lvalue_reference_v<R> && std::ranges::view<std::remove_cvref_t<R>>;
  using element = std::ranges::range_value_t<R>;
  std::conditional_t<keeps, std::remove_cvref_t<R>, std::remove_reference_t<R>*> range;

  explicit range_layout(std::remove_reference_t<R>& of) requires keeps : range(of) {}
  explicit range_layout(std::remove_reference_t<R>& of) requires(!keeps) : range(&of) {}
  std::size_t size() { return static_cast<std::size_t>(std::ranges::size(get())); }
  static constexpr bool lies_apart() { return true; }
  static element const* side_by_side() { return nullptr; }
  void pack(element* to) {
    for (auto&& one : get()) *to++ = one;
  }
  void pack(element* to, std::ptrdiff_t at, std::size_t n) {
    for (auto from = std::ranges::begin(get()) + static_cast<std::ranges::range_difference_t<decltype(get())>>(at);
         n != 0; --n, ++from) *to++ = *from;
  }

 private:
  auto& get() {
    if constexpr (keeps) return range;
    else return *range;
  }
};

/// The same of what lies apart, ranges too.
template <class R>
concept temporary_owner = !std::is_reference_v<R> && !is_view_in_place<R> &&
                          ((range_apart<R> && !std::ranges::view<R>) || (view_apart<R> && temporary_array<R>));

/// The first and the last of a view's elements in memory.
template <class T, std::size_t D>
std::pair<T*, T*> ends_of(strided_view<T, D> const& view) {
  std::pair<T*, T*> ends{view.data, view.data};
  for (std::size_t d = 0; d < D; ++d) {
    std::ptrdiff_t const length = view.strides[d] * static_cast<std::ptrdiff_t>(view.extents[d] - 1);
    (length < 0 ? ends.first : ends.second) += length;
  }
  return ends;
}
/// A view has an element at this distance from its first one in memory. `passed`: axes along which it has one place.
template <class T, std::size_t D>
bool has_element_at(strided_view<T, D> const& view, std::ptrdiff_t distance, std::array<bool, D> passed = {}) {
  std::size_t longest = D;   // of the strides
  std::ptrdiff_t reach = 0;
  for (std::size_t d = 0; d < D; ++d) {
    if (passed[d] || view.extents[d] == 1) continue;
    if (longest == D || std::abs(view.strides[d]) > std::abs(view.strides[longest])) longest = d;
    reach += std::abs(view.strides[d]) * static_cast<std::ptrdiff_t>(view.extents[d] - 1);
  }
  if (longest == D) return distance == 0;
  passed[longest] = true;
  std::ptrdiff_t const stride = std::abs(view.strides[longest]);
  auto const last = static_cast<std::ptrdiff_t>(view.extents[longest] - 1);
  for (std::ptrdiff_t i = std::min(distance / stride, last); i >= 0; --i) {
    if (distance - i * stride > reach - last * stride) return false;   // beyond the other axes
    if (has_element_at(view, distance - i * stride, passed)) return true;
  }
  return false;
}
/// Whether an element of one view is an element of the other one, which has none twice.
template <class T, std::size_t D, std::size_t E>
bool share_elements(strided_view<T const, D> const& in, strided_view<T, E> const& out) {
  if (in.size() == 0 || out.size() == 0) return false;
  auto const a = ends_of(in);
  auto const b = ends_of(out);
  std::less<T const*> const before;
  if (before(a.second, b.first) || before(b.second, a.first)) return false;
  std::ptrdiff_t unit = 0;
  for (std::size_t d = 0; d < D; ++d)
    if (in.extents[d] != 1) unit = std::gcd(unit, in.strides[d]);
  for (std::size_t d = 0; d < E; ++d)
    if (out.extents[d] != 1) unit = std::gcd(unit, out.strides[d]);
  if (unit != 0 && (a.first - b.first) % unit != 0) return false;   // columns of one matrix
  bool shared = false;
  merged_axes<T const> const merged(in);
  auto line = [&](T const* first, std::size_t n, std::ptrdiff_t stride, std::size_t) {
    for (; n != 0 && !shared; --n, first += stride)
      shared = !before(first, b.first) && !before(b.second, first) && has_element_at(out, first - b.first);
  };
  for_each_line(merged, 0, merged.data, 0, line);
  return shared;
}

/// An argument's elements, to compare input and output.
template <class T, class Argument>
auto memory_of(Argument& argument) {
  if constexpr (view_apart<Argument&>) {
    auto const view = view_of(argument);
    return strided_view<T, std::tuple_size_v<decltype(view.extents)>>{view.data, view.extents, view.strides};
  } else {
    return strided_view<T, 1>{std::ranges::data(argument), {std::ranges::size(argument)}, {1}};
  }
}

/// An argument that lies apart.
template <class Argument, class Given>
auto layout_of(Given& given) {
  if constexpr (range_apart<Argument>) {
    return range_layout<Argument>(given);
  } else {
    auto const view = [&] {
      if constexpr (is_view_in_place<std::remove_cvref_t<Argument>>) return given.view;
      else return view_of(given);
    }();
    using T = std::remove_pointer_t<decltype(view.data)>;
    return strided_layout<T, std::tuple_size_v<decltype(view.extents)>>{view};
  }
}
template <lies_apart R>
struct base_of<R> {
  using element = std::remove_const_t<typename element_apart<R>::type>;
  template <class Argument, class Given>
  static auto layout(Given& given) { return layout_of<Argument>(given); }
};
/// And of elements that may lie side by side.
template <class Argument, class Given>
auto layout_of_any(Given& given) {
  if constexpr (contiguous<Argument>) {
    using T = std::remove_reference_t<std::ranges::range_reference_t<Argument>>;
    return strided_layout<T, 1>{memory_of<T>(given)};
  } else {
    return layout_of<Argument>(given);
  }
}
template <class Argument, class Given>
auto to_be_packed(Given& given, use on_this_rank) {
  auto layout = layout_of<Argument>(given);
  using T = std::remove_cvref_t<decltype(*layout.side_by_side())>;
  return packed_argument<T, decltype(layout)>(std::move(layout), on_this_rank);
}

/// What a call of a batch (../sums/batching.hpp) keeps: its functor, and its layouts.
template <class Op, class In, class Out>
struct part_with_layouts final : owned_functor<Op> {
  using element = std::remove_cvref_t<decltype(*std::declval<Out&>().side_by_side())>;
  static_assert(travels_as_bytes<element>, "colligo: a batch takes elements that travel as bytes");
  part_with_layouts(Op functor, In from, Out to)
      : owned_functor<Op>(std::move(functor)), in(std::move(from)), out(std::move(to)) {}
  static void pack(owned_by_request& part, std::byte* to) {
    static_cast<part_with_layouts&>(part).in.pack(reinterpret_cast<element*>(to));
  }
  static void unpack(owned_by_request& part, std::byte const* from) {
    static_cast<part_with_layouts&>(part).out.unpack(reinterpret_cast<element const*>(from));
  }
  In in;
  Out out;
};
template <class Op, class In, class Out>
auto make_part(Op&& op, In in, Out out) {
  return make_owner<part_with_layouts<std::decay_t<Op>, In, Out>>(static_cast<Op&&>(op), std::move(in), std::move(out));
}

/// One of a sparse_all_to_all, which keeps it until the exchange is complete.
template <class M>
struct message_elements;
template <lies_apart M>
  requires lies_apart<M const&>
struct message_elements<M> {
  using element = std::remove_const_t<typename element_apart<M>::type>;
  template <class Given>
  static constexpr bool lasts = !temporary_owner<Given>;
  static std::span<element const> side_by_side(M const& values, std::vector<std::vector<element>>& packed) {
    auto layout = layout_of<M const&>(values);
    if (auto* const at = layout.side_by_side()) return {at, layout.size()};
    packed.emplace_back(layout.size());
    layout.pack(packed.back().data());
    return packed.back();
  }
};

/// Two ranges for sums(), of which one lies apart.
template <class A, class B>
struct two_factors;
template <class T>
inline constexpr bool are_apart = false;
template <class A, class B>
inline constexpr bool are_apart<two_factors<A, B>> = lies_apart<A> || lies_apart<B>;
template <class T>
concept factors_apart = are_apart<std::remove_cvref_t<T>>;

/// f(inputs), where those that lie apart are packed, as long as f runs or the request that it makes lives.
template <made How, class Checked, class F, class... Inputs>
auto with_packed(Checked const& checked, endpoint& state, F f, Inputs&... inputs) {
  if constexpr (sizeof...(Inputs) == 0) {
    return f();
  } else {
    return [&](auto& first, auto&... more) {
      using argument = decltype(first);
      auto const behind = [&](auto& now) {
        return with_packed<How>(checked, state, [&](auto&... rest) { return f(now, rest...); }, more...);
      };
      if constexpr (factors_apart<argument>) {
        auto const factors = [&](auto& a, auto& b, auto&... rest) {
          two_factors<decltype(a), decltype(b)> const now{a, b};
          return f(now, rest...);
        };
        return with_packed<How>(checked, state, factors, first.a, first.b, more...);
      } else if constexpr (!lies_apart<argument>) {
        return behind(first);
      } else {
        borrowed_memory memory(state);
        packed_arguments arguments{to_be_packed<argument>(first, {true, false}), plain_argument{}};
        return make_packed<How>(checked, memory, std::move(arguments), [&](auto const& packed) {
          auto const now = constant(packed.in.elements());
          return behind(now);
        });
      }
    }(inputs...);
  }
}

/// An argument of sequence.hpp.
template <class T>
struct asked_about;
template <class T>
using asked_as = typename asked_about<T>::type;
template <lies_apart T>
struct asked_about<T> {
  using type = std::span<std::remove_const_t<typename element_apart<T>::type> const>;
  static constexpr bool packs = true;
  static constexpr bool may_be_kept = std::is_lvalue_reference_v<T> || !temporary_owner<std::remove_cvref_t<T>>;
};
template <class T>
struct factors_asked;
template <class A, class B>
struct factors_asked<two_factors<A, B>> {
  using type = two_factors<asked_as<A>, asked_as<B>>;
  static constexpr bool packs = true, may_be_kept = asked_about<A>::may_be_kept && asked_about<B>::may_be_kept;
};
template <factors_apart T>
struct asked_about<T> : factors_asked<std::remove_cvref_t<T>> {};

}  // namespace detail

}  // namespace colligo
