// SPDX-License-Identifier: BSL-1.0
/// @file
/// The engine's view of an element type and a functor: a size and a few functions. The rest of the library sees bytes,
/// so for each type and functor the compiler compiles only the loop that combines.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "aggregate.hpp"
#include "copy.hpp"
#include "functor.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {
template <class T>
constexpr bool is_bytes();
}

/// Whether elements travel as their bytes. By default: what is trivially copyable, and pairs, tuples, arrays, located
/// and aggregates of such members. But neither addresses, nor classes with a member serialize(): it says what travels,
/// unless boost::mpi::is_mpi_datatype or BOOST_IS_BITWISE_SERIALIZABLE say that bytes do. Specialise it for a class
/// that you know better:
///   template <> inline constexpr bool colligo::travels_as_bytes<my_vector3> = true;
template <class T>
inline constexpr bool travels_as_bytes = detail::is_bytes<T>();

namespace detail {

struct any_archive {
  template <class T>
  any_archive& operator&(T&&);
};
struct has_name_serialize { void serialize(); };
template <class T>
struct with_name_serialize : T, has_name_serialize {};
/// A class with a member serialize(). If T has one, the look-up in a class with two is ambiguous, regardless of access;
/// of a final class, which has to have it public, it is called.
template <class T>
constexpr bool has_serialize() {
  if constexpr (!std::is_class_v<T>) return false;
  else if constexpr (std::is_final_v<T>) return requires(T& x, any_archive& to) { x.serialize(to, 0u); };
  else return !requires { &with_name_serialize<T>::serialize; };
}

template <class T>
constexpr bool holds_addresses_by_kind();
/// An address, or a type that contains one, as far as the compiler can tell: it sees the members of an aggregate, but
/// not the private ones of another class.
template <class T>
inline constexpr bool holds_addresses = holds_addresses_by_kind<T>();
template <class T, std::size_t Extent>
inline constexpr bool holds_addresses<std::span<T, Extent>> = true;
template <class... Traits>
inline constexpr bool holds_addresses<std::basic_string_view<Traits...>> = true;
template <class T>
inline constexpr bool holds_addresses<std::reference_wrapper<T>> = true;
template <class T, std::size_t N>
inline constexpr bool holds_addresses<std::array<T, N>> = holds_addresses<T>;
template <class T>
inline constexpr bool holds_addresses<std::vector<T>> = holds_addresses<T>;
template <class A, class B>
inline constexpr bool holds_addresses<std::pair<A, B>> = holds_addresses<A> || holds_addresses<B>;
template <class... Members>
inline constexpr bool holds_addresses<std::tuple<Members...>> = (holds_addresses<Members> || ...);
template <class T>
inline constexpr bool holds_addresses<T&> = true;
template <class T, class Index>
inline constexpr bool holds_addresses<located<T, Index>> = holds_addresses<T> || holds_addresses<Index>;

/// std::variant, whose header is not needed to know one.
template <class T>
inline constexpr bool holds_addresses_of_variant = false;
template <template <class...> class Variant, class... Members>
  requires requires(Variant<Members...> const& x) { x.valueless_by_exception(); }
inline constexpr bool holds_addresses_of_variant<Variant<Members...>> = (holds_addresses<Members> || ...);

struct any_address {
  template <class T>
    requires holds_addresses<T>
  operator T() const;
};
/// Whether one of the first 8 members of an aggregate can be made of Any.
template <class T, class Any, class... Before>
constexpr bool has_member_of() {
  if constexpr (requires { T{Before{}..., Any{}}; }) return true;
  else if constexpr (sizeof...(Before) < 8 && requires { T{Before{}..., any_member{}}; })
    return has_member_of<T, Any, Before..., any_member>();
  else return false;
}

template <class T>
constexpr bool holds_addresses_by_kind() {
  if constexpr (std::is_pointer_v<T> || std::is_member_pointer_v<T>) return true;
  else if constexpr (!std::is_class_v<T> || !std::is_trivially_copyable_v<T> || has_serialize<T>()) return false;
  else if constexpr (requires(T const& x) { x.has_value(); typename T::value_type; })   // std::optional
    return holds_addresses<typename T::value_type>;
  else if constexpr (std::is_aggregate_v<T>)   // or a reference, which is neither assigned to nor left out
    return has_member_of<T, any_address>() || (!std::is_copy_assignable_v<T> && !requires { T{}; });
  else return holds_addresses_of_variant<T> || requires { typename T::iterator_category; } ||
              requires(T const& x) { { x.category().name() } -> std::same_as<char const*>; } ||   // std::error_code
              requires(T const& x) { x.hash_code(); { x.name() } -> std::same_as<char const*>; };   // std::type_index
}

/// A value that means nothing on another rank, unless its author says that it does.
template <class T>
concept address = holds_addresses<T> && !travels_as_bytes<T>;

/// Said in the words of Boost, which needs not be there.
template <class T>
concept bytes_to_boost = requires { requires boost::mpi::is_mpi_datatype<T>::value; } ||
                         requires { requires boost::serialization::is_bitwise_serializable<T>::value; };

struct any_bytes {
  template <class T>
    requires travels_as_bytes<T>
  operator T() const;
};
template <class T, std::size_t... I>
constexpr bool is_made_of_bytes(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), any_bytes{})...}; };
}

/// A class that says itself what travels, or a member of an aggregate that does.
struct any_that_serialises;
template <class T>
constexpr bool serialises() {
  if constexpr (has_serialize<T>()) return !travels_as_bytes<T>;
  else if constexpr (std::is_class_v<T> && std::is_aggregate_v<T>) return has_member_of<T, any_that_serialises>();
  else return false;
}
struct any_that_serialises {
  template <class T>
    requires(serialises<T>())
  operator T() const;
};

template <class T>
constexpr bool is_bytes() {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) return true;
  else if constexpr (holds_addresses<T>) return false;
  else if constexpr (has_serialize<T>()) return std::is_trivially_copyable_v<T> && bytes_to_boost<T>;
  else if constexpr (std::is_trivially_copyable_v<T>) return !serialises<T>();
  else if constexpr (std::is_aggregate_v<T> && std::is_trivially_copy_constructible_v<T> &&
                     std::is_trivially_destructible_v<T> && count_members<T>() <= 8)
    return is_made_of_bytes<T>(std::make_index_sequence<count_members<T>()>{});
  else return false;
}

}  // namespace detail

// The language never calls the assignment of a pair or a tuple trivial, even if copying its bytes is enough.
template <class A, class B>
inline constexpr bool travels_as_bytes<std::pair<A, B>> = travels_as_bytes<A> && travels_as_bytes<B>;
template <class... Members>
inline constexpr bool travels_as_bytes<std::tuple<Members...>> = (travels_as_bytes<Members> && ...);
template <class T, std::size_t N>
inline constexpr bool travels_as_bytes<std::array<T, N>> = travels_as_bytes<T>;
template <class T, class Index>
inline constexpr bool travels_as_bytes<located<T, Index>> = travels_as_bytes<T> && travels_as_bytes<Index>;

namespace detail {

/// Whether the length of a cache line is found when the program runs (environment/cache_line.hpp).
inline constexpr bool line_is_found = COLLIGO_CACHE_LINE == 0;
/// The shortest and the longest line, in bytes, that a machine may have for which this is compiled.
inline constexpr std::size_t cache_line = line_is_found ? 64 : COLLIGO_CACHE_LINE;
inline constexpr std::size_t longest_line = line_is_found ? 256 : cache_line;
static_assert(cache_line >= 64 && cache_line <= 4096 && (cache_line & (cache_line - 1)) == 0,
              "COLLIGO_CACHE_LINE is a power of two from 64 to 4096, or 0 to ask the system");
/// The distance in bytes between data that different cores write: processors with lines of 64 bytes fetch two at a
/// time.
inline constexpr std::size_t lines_apart = longest_line < 128 ? 128 : longest_line;

/// The functor of collectives that combine nothing.
struct no_functor {};

/// Whether an algorithm may change the order of operands.
template <class Op, class T>
constexpr bool may_reorder() { return commutative<Op, T> || std::is_same_v<Op, no_functor>; }

/// out[i] = op(out[i], from[i]...).
template <class T, class Op, class... From>
void combine_each(T* __restrict out, std::size_t n, Op const& op, From const* __restrict... from) {
  std::size_t i = 0;
  // Compilers vectorise loops of constant length over memory that does not overlap even at -O2. The length is 32,
  // because g++ -O3 unrolls 16 completely before it vectorises, and then does not vectorise maximum.
  if constexpr (travels_as_bytes<T>)
    for (constexpr std::size_t width = 32; i + width <= n; i += width)
      for (std::size_t j = 0; j < width; ++j) out[i + j] = static_cast<T>(op(out[i + j], from[i + j]...));
  for (; i < n; ++i) out[i] = static_cast<T>(op(out[i], from[i]...));
}

/// out[i] = op(left[i], right[i]). out may be left or right; otherwise they do not overlap.
template <class T, class Op>
void combine(T const* left, T const* right, T* out, std::size_t n, Op& op) {
  if (out == left) combine_each(out, n, [&](T const& l, T const& r) { return op(l, r); }, right);
  else if (out == right) combine_each(out, n, [&](T const& r, T const& l) { return op(l, r); }, left);
  else combine_each(out, n, [&](T const&, T const& l, T const& r) { return op(l, r); }, left, right);
}

/// The operations on elements that do not travel as bytes.
struct object_operations {
  void (*construct)(std::byte* first, std::size_t n);
  void (*destroy)(std::byte* first, std::size_t n);
  void (*assign)(std::byte const* from, std::size_t n, std::byte* to);
};

template <class T>
inline constexpr object_operations objects_of{
    [](std::byte* first, std::size_t n) { std::uninitialized_value_construct_n(reinterpret_cast<T*>(first), n); },
    [](std::byte* first, std::size_t n) { std::destroy_n(reinterpret_cast<T*>(first), n); },
    [](std::byte const* from, std::size_t n, std::byte* to) {
      std::copy_n(reinterpret_cast<T const*>(from), n, reinterpret_cast<T*>(to));
    }};

/// Finds T in "... [with T = double; ...]".
consteval std::string_view type_in(std::string_view function) {
  auto const first = function.find("T = ") + 4;
  return function.substr(first, function.find_first_of(";]", first) - first);
}
/// A type's name, as the compiler writes it or as the type gives it.
template <class T>
constexpr std::string_view name_of_type() {
  if constexpr (requires { T::name_in_errors; requires !std::is_member_pointer_v<decltype(&T::name_in_errors)>; })
    return {T::name_in_errors.data(), T::name_in_errors.size()};
  else return type_in(__PRETTY_FUNCTION__);
}
/// The name of an internal element type that carries data about elements of type T.
template <class T, std::size_t N, std::size_t M>
consteval auto words_around(char const (&before)[N], char const (&after)[M]) {
  constexpr std::string_view name = name_of_type<T>();
  std::array<char, N - 1 + name.size() + M - 1> words{};
  std::copy_n(after, M - 1, std::copy_n(name.data(), name.size(), std::copy_n(before, N - 1, words.data())));
  return words;
}

/// Combines elements from `first` on with a functor that takes an index, and finds the index of elements that
/// algorithms keep elsewhere (indexed.hpp).
struct known_places;
struct indexed_combination {
  void (*combine)(void* op, std::size_t first, std::byte const* left, std::byte const* right, std::byte* out,
                  std::size_t n);
  known_places const* places;
};

/// A name in errors, checks and tables: a type's, or one that is kept with an element that is described at run time.
class element_name {
 public:
  constexpr element_name(std::string_view (*of_type)() = nullptr) : of_type_(of_type) {}
  constexpr explicit element_name(std::string const& kept) : kept_(&kept) {}
  std::string_view operator()() const { return kept_ ? std::string_view(*kept_) : of_type_(); }
  friend bool operator==(element_name const&, element_name const&) = default;
  /// Equal names have one, in this process; 0: there is no name.
  std::uintptr_t key() const {
    return kept_ ? reinterpret_cast<std::uintptr_t>(kept_) : reinterpret_cast<std::uintptr_t>(of_type_);
  }

 private:
  std::string_view (*of_type_)() = nullptr;
  std::string const* kept_ = nullptr;
};

struct element {
  std::size_t size, alignment;          ///< bytes
  bool commutes;                        ///< operands may change places
  bool exact;                           ///< any grouping and order is known to give the same bits
  object_operations const* objects;     ///< null: travels as bytes
  element_name name;
  element_name functor_name;
  /// out[i] = op(left[i], right[i]) for n elements; out may be left or right.
  void (*combine)(void* op, std::byte const* left, std::byte const* right, std::byte* out, std::size_t n);
  /// Not null if the functor takes an index; `combine` is null then.
  indexed_combination const* by_index = nullptr;
  /// What else ranks have to agree on, in words, if not all of it is in the names; null: nothing.
  std::string (*details)(void const* op) = nullptr;

  /// The same type and functor, up to const.
  bool is_like(element const& other) const {
    return size == other.size && name == other.name && functor_name == other.functor_name &&
           commutes == other.commutes && exact == other.exact;
  }
  friend bool operator==(element const&, element const&) = default;
  std::size_t bytes(std::size_t n) const { return n * size; }
  void copy(std::byte const* from, std::size_t n, std::byte* to) const {
    if (objects) objects->assign(from, n, to);
    else copy_bytes(from, n * size, to);
  }
};

/// The size of an element that is made at run time for n units: of more than 1024 up to an eighth more, so that not
/// each length of a long list makes another element.
constexpr std::size_t rounded_size(std::size_t n) {
  std::size_t const step = n <= 1024 ? 1 : std::bit_floor(n) / 8;
  return n > static_cast<std::size_t>(-1) - step ? n : (n + step - 1) / step * step;
}
/// Keeps an element that is made at run time, of a rounded_size(); it is never destroyed, because decisions for a call
/// refer to it.
template <class Lazy = void>
element const& kept_element(element const& wanted) {
  struct entry { element kept; entry* next; };
  static std::array<std::atomic<entry*>, 64> all{};
  std::atomic<entry*>& newest = all[wanted.size * 0x9e3779b97f4a7c15u >> 58];
  entry* const known = newest.load(std::memory_order_acquire);
  for (entry const* at = known; at; at = at->next)
    if (at->kept == wanted) return at->kept;
  auto* const fresh = new entry{wanted, known};
  while (!newest.compare_exchange_weak(fresh->next, fresh, std::memory_order_acq_rel)) {}   // a duplicate does no harm
  return fresh->kept;
}

template <class T, class Op>
void combine_bytes(void* op, std::byte const* left, std::byte const* right, std::byte* out, std::size_t n) {
  auto const *const l = reinterpret_cast<T const*>(left), *const r = reinterpret_cast<T const*>(right);
  auto* const into = reinterpret_cast<T*>(out);
  if (n == 1) *into = static_cast<T>((*static_cast<Op*>(op))(*l, *r));
  else combine(l, r, into, n, *static_cast<Op*>(op));
}

/// Defined in indexed.hpp; element_of refers to it if a functor takes an index.
template <class Lazy = void>
struct places_for_indices;
template <class T, class Op>
void combine_with_index(void* op, std::size_t first, std::byte const* left, std::byte const* right, std::byte* out,
                        std::size_t n) {
  auto const *l = reinterpret_cast<T const*>(left), *r = reinterpret_cast<T const*>(right);
  for (std::size_t i = 0; i < n; ++i)
    reinterpret_cast<T*>(out)[i] = static_cast<T>((*static_cast<Op*>(op))(first + i, l[i], r[i]));
}
template <class T, class Op, class Lazy = void>
inline constexpr indexed_combination indexed_combination_of{&combine_with_index<T, Op>, &places_for_indices<Lazy>::all};

/// A type's own function that combines, if it is better than assigning the functor's result; null: none.
using combination = void (*)(void* op, std::byte const* left, std::byte const* right, std::byte* out, std::size_t n);
template <class Op, class T>
inline constexpr std::nullptr_t own_combination = nullptr;

/// Barriers fold signals, which carry no data.
inline void combine_nothing(void*, std::byte const*, std::byte const*, std::byte*, std::size_t) {}

template <class T, class Op>
inline constexpr element element_of{
    sizeof(T), alignof(T), may_reorder<std::remove_cv_t<Op>, T>(), exact<std::remove_cv_t<Op>, T>,
    [] {
      if constexpr (travels_as_bytes<T>) return static_cast<object_operations const*>(nullptr);
      else return &objects_of<T>;
    }(),
    &name_of_type<T>, &name_of_type<std::remove_cv_t<Op>>,
    [] {
      if constexpr (std::is_same_v<std::remove_cv_t<Op>, no_functor>) return &combine_nothing;
      else if constexpr (takes_index<Op, T>) return static_cast<combination>(nullptr);
      else if constexpr (!std::is_null_pointer_v<decltype(own_combination<std::remove_cv_t<Op>, T>)>)
        return own_combination<std::remove_cv_t<Op>, T>;
      else return &combine_bytes<T, Op>;
    }(),
    [] {
      if constexpr (takes_index<Op, T>) return &indexed_combination_of<T, Op>;
      else return static_cast<indexed_combination const*>(nullptr);
    }()};

/// The element type for which the library's algorithms are compiled, once.
struct any_element { std::byte nothing; };
struct any_functor {};

}  // namespace detail
}  // namespace colligo
