// SPDX-License-Identifier: BSL-1.0
/// @file
/// Elements that are described at run time: a size, and a function that combines stretches of them.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include "element.hpp"
#include "error.hpp"

namespace colligo::inline COLLIGO_MODE {

/// An element described at run time. Elements travel as their bytes; the n-th of a vector begins n * size bytes after
/// the first.
struct byte_element {
  std::size_t size = 1;        ///< bytes, at least 1, a multiple of the alignment
  std::size_t alignment = 1;   ///< of the memory that `combine` is given: a power of two, at most a line of cache
  /// into[i] = left[i] op right[i] for n elements; `left` is of lower ranks. `into` may be left or right, otherwise
  /// none of the three overlap. Null: such elements are moved alone, and collectives that combine refuse them.
  void (*combine)(void* context, std::byte const* left, std::byte const* right, std::byte* into,
                  std::size_t n) = nullptr;
  void* context = nullptr;     ///< for `combine`; lives as long as calls and requests that use it
  bool commutative = false;    ///< operands may change places
  bool exact = false;          ///< any grouping and order gives the same bits
  std::string_view name = "bytes";      ///< in errors, checks and tables; the same on all ranks
  std::string_view functor = "combine"; ///< the name of what `combine` does, likewise
};

namespace detail {

/// Keeps a name for as long as the program runs: elements refer to it. Equal names have one address.
template <class Lazy = void>
std::string const& kept_name(std::string_view name) {
  struct entry { std::string name; entry* next; };
  static std::atomic<entry*> newest{nullptr};
  entry* seen = nullptr;
  entry* known = newest.load(std::memory_order_acquire);
  entry* fresh = nullptr;
  do {
    for (entry* at = known; at != seen; at = at->next)
      if (at->name == name) {
        delete fresh;
        return at->name;
      }
    if (!fresh) fresh = new entry{std::string(name), nullptr};
    fresh->next = seen = known;
  } while (!newest.compare_exchange_weak(known, fresh, std::memory_order_acq_rel, std::memory_order_acquire));
  return fresh->name;
}

/// Functors that need no object: all are equal.
template <class Op>
concept stateless = std::is_empty_v<Op> && std::is_default_constructible_v<Op>;

}  // namespace detail

/// A byte_element that has been checked and is known to the library: cheap to copy and to pass. What is kept of it is
/// never freed; equal descriptions share it, so a program may register the same element again and again.
class registered_element {
 public:
  /// Throws argument_error if the size is 0 or no multiple of the alignment, or the alignment is no power of two or
  /// above a line of cache (64 bytes; on some processors 128 or 256).
  registered_element(byte_element const& element)
      : moved_(&detail::kept_element(described(element))),
        of_(element.combine ? &detail::kept_element(with_functor(*moved_, element)) : moved_),
        context_(element.context) {}

  /// The element type T with a functor without state, as the templates know it: the library's own vectorised loops, and
  /// COLLIGO_SUM=exact for sums of floating point numbers.
  template <class T, detail::stateless Op = detail::no_functor>
    requires(travels_as_bytes<T> && !detail::takes_index<Op, T>)
  static registered_element of() {
    static Op functor{};
    return {&detail::element_of<T, detail::no_functor>, &detail::element_of<T, Op>, &functor};
  }

  std::size_t size() const { return of_->size; }
  bool combines() const { return of_ != moved_; }
  bool commutative() const { return of_->commutes; }
  /// The same element for a functor with another state.
  registered_element with_context(void* context) const {
    registered_element other = *this;
    other.context_ = context;
    return other;
  }

  /// For bindings, which keep these three: the element of calls that only move it, of calls that combine, the context.
  registered_element(detail::element const* moved, detail::element const* combined, void* context)
      : moved_(moved), of_(combined), context_(context) {}
  detail::element const& moved() const { return *moved_; }
  detail::element const& combined() const { return *of_; }
  void* context() const { return context_; }

 private:
  static detail::element described(byte_element const& element) {
    if (!std::has_single_bit(element.alignment) || element.alignment > detail::cache_line)
      throw argument_error("colligo: byte_element: the alignment " + std::to_string(element.alignment) +
                           " is no power of two up to " + std::to_string(detail::cache_line));
    if (element.size == 0 || element.size % element.alignment != 0)
      throw argument_error("colligo: byte_element: the size " + std::to_string(element.size) +
                           " is no positive multiple of the alignment " + std::to_string(element.alignment));
    return {element.size,
            element.alignment,
            true,
            false,
            nullptr,
            detail::element_name(detail::kept_name(element.name)),
            &detail::name_of_type<detail::no_functor>,
            &detail::combine_nothing};
  }
  static detail::element with_functor(detail::element moved, byte_element const& element) {
    moved.commutes = element.commutative, moved.exact = element.exact;
    moved.functor_name = detail::element_name(detail::kept_name(element.functor));
    moved.combine = element.combine;
    return moved;
  }

  detail::element const *moved_, *of_;
  void* context_;
};

}  // namespace colligo
