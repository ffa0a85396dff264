// SPDX-License-Identifier: BSL-1.0
/// @file
/// broadcast: every rank gets the root's vector.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "arguments/calls.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <class Comm, class R>
auto accept_broadcast(Comm const& comm, R& both, int root) {
  using T = std::ranges::range_value_t<R>;
  call_arguments<collective::broadcast, Comm> const arguments(comm, root);
  std::span<T> const to(both);
  std::span<T const> const from = arguments.at(root) ? to : std::span<T>{};
  return arguments.accept_whole(from, to, root);
}

template <>
struct calls<collective::broadcast> {
  template <made How, communicator Comm, output_over<Comm> R, algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, R&& both, int root, Algorithm const& algorithm = {}) {
    return accept_broadcast(comm, both, root).template make<How>(no_functor{}, algorithm);
  }
};
template <class Comm, class R, class Algorithm>
void broadcast_elements(Comm const& comm, R& both, int root, Algorithm const& algorithm) {
  accept_broadcast(comm, both, root).make(no_functor{}, algorithm);
}

/// The message that a rank with an empty container sends or expects. In checked mode there is none: there the ranks
/// compare their numbers of elements.
template <class T>
struct nothing_of {
  static constexpr auto name_in_errors = words_around<T>("word for an empty container of ", "");
  static constexpr std::array<std::uint64_t, 4> expected{0x9c1f27a24fd0b6e3, 0x3b5a6d90e8c714f2, 0x61e84d07b92fca35,
                                                     0xf40a93c5162be87d};
  std::array<std::uint64_t, 4> word;
};
/// A broadcast of no elements: a short message that all ranks expect. Without it a rank with an empty container would
/// expect no message, and take the root's for the next broadcast.
template <class T, class Comm, class Algorithm>
void broadcast_nothing(Comm const& comm, int root, Algorithm const& algorithm) {
  call_arguments<collective::broadcast, Comm> const arguments(comm);
  nothing_of<T> here{};
  if (arguments.at(root)) here.word = nothing_of<T>::expected;
  auto const both = one(here);
  try {
    broadcast_elements(comm, both, root, algorithm);
  } catch (mismatch_error const& e) {
    arguments.refuse_empty_container(e.what());
  } catch (mpi_error const& e) {   // the MPI library's own collectives report it so
    arguments.refuse_empty_container(e.what());
  }
  if (here.word != nothing_of<T>::expected) arguments.refuse_empty_container("");
}

/// The type of a mistaken resized(), with the message.
template <class R>
struct not_resized : resized_container<std::vector<char>> {
  static_assert(!std::is_object_v<std::remove_reference_t<R>>,
                "colligo: resized takes a container with resize() and a name, which gets the root's size");
};

/// The number of the root's elements.
template <class T>
struct number_of {
  static constexpr auto name_in_errors = words_around<T>("number of ", "");
  std::size_t n;
};
template <class T, class Comm>
std::size_t number_at_root(Comm const& comm, std::size_t here, int root) {
  number_of<T> number{here};
  auto const both = one(number);
  broadcast_elements(comm, both, root, automatic{});
  return number.n;
}

}  // namespace detail

namespace by_name {

/// Copies the root's `both` to every rank's.
/// @param comm       communicator, all of whose ranks make the call
/// @param both       contiguous range of n elements, the same n on every rank; if it differs, resized(container).
///                   An empty container of elements that are serialised takes the root's size
/// @param root       the rank that has the elements, the same on every rank
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (root out of range), algorithm_error (unknown name), mpi_error; nothing is
/// written before the arguments are accepted. Cost: see the card of the algorithm. Collective over comm.
template <communicator Comm, detail::output_over<Comm> R, algorithm Algorithm = automatic>
  requires(!detail::is_text<std::remove_cvref_t<R>>)
void broadcast(Comm const& comm, R&& both, int root, Algorithm const& algorithm = {}) {
  using T = std::ranges::range_value_t<R>;
  if constexpr (!travels_as_bytes<T>) {
    detail::call_arguments<collective::broadcast, Comm> const arguments(comm);
    arguments.make_calls(2, [&] {
      std::size_t const n = detail::number_at_root<T>(comm, std::ranges::size(both), root);
      detail::fill_empty(arguments, both, n);
      arguments.require_size(std::ranges::size(both), n, "the range");
      detail::broadcast_elements(comm, both, root, algorithm);
    });
  } else {
    auto accepted = detail::accept_broadcast(comm, both, root);
    if (std::ranges::size(both) == 0 && !accepted.call.checked()) [[unlikely]]
      return detail::broadcast_nothing<T>(comm, root, algorithm);
    accepted.make(detail::no_functor{}, algorithm);
  }
}
/// ibroadcast, broadcast_init: the range form as requests (request.hpp). No range takes the root's size.
COLLIGO_REQUESTS(broadcast)

/// One value.
template <communicator Comm, detail::single T, algorithm Algorithm = automatic>
  requires(!elements<T&> && !std::is_const_v<T> && detail::travels_over<T, Comm>)
void broadcast(Comm const& comm, T& value, int root, Algorithm const& algorithm = {}) {
  auto const both = detail::one(value);
  detail::broadcast_elements(comm, both, root, algorithm);
}
/// n elements from a pointer on.
template <communicator Comm, detail::travels_over<Comm> T, std::integral N, algorithm Algorithm = automatic>
void broadcast(Comm const& comm, T* both, N n, int root, Algorithm const& algorithm = {}) {
  auto const all = [&] {
    colligo::broadcast(comm, detail::counted<collective::broadcast>(comm, both, n), root, algorithm);
  };
  if constexpr (travels_as_bytes<T>) all();
  else detail::call_arguments<collective::broadcast, Comm>(comm).make_calls(2, all);
}

/// Marks a container that takes the root's size: broadcast(comm, resized(values), root).
template <detail::resizable R>
resized_container<R> resized(R& container) { return {container}; }
template <class R>
  requires(!detail::resizable<std::remove_reference_t<R>> || !std::is_lvalue_reference_v<R>)
detail::not_resized<R> resized(R&&);

/// Sends the root's size first, then its elements. If resizing throws, it does so before the elements are sent.
template <communicator Comm, class R, algorithm Algorithm = automatic>
void broadcast(Comm const& comm, resized_container<R> both, int root, Algorithm const& algorithm = {}) {
  using T = std::ranges::range_value_t<R>;
  detail::call_arguments<collective::broadcast, Comm> const arguments(comm);
  arguments.make_calls(2, [&] {
    detail::with_size(arguments, both.elements,
                      detail::number_at_root<T>(comm, std::ranges::size(both.elements), root));
    detail::broadcast_elements(comm, both.elements, root, algorithm);
  });
}
/// A string is one value, and takes the root's length.
template <communicator Comm, class S, algorithm Algorithm = automatic>
  requires detail::is_text<S>
void broadcast(Comm const& comm, S& text, int root, Algorithm const& algorithm = {}) {
  colligo::broadcast(comm, resized(text), root, algorithm);
}

}  // namespace by_name

}  // namespace colligo

COLLIGO_NO_OTHER_FORM(broadcast)
