// SPDX-License-Identifier: BSL-1.0
/// @file
/// Halos: the layers of ghosts round each rank's part of an array, which hold its neighbours' elements.
///
///   colligo::grid const ranks(world, {0, 0});                                     // two axes, chosen
///   auto const h = colligo::halo(ranks, colligo::row_major(u, {rows + 2, columns + 2}), 1);
///   colligo::exchange(h);                                                         // fills the ghosts
#pragma once

#include "arguments/mistakes.hpp"
#include "communicators/communicators.hpp"
#include "exchange/halo_parts.hpp"
#include "rules/policies.hpp"

namespace colligo::inline COLLIGO_MODE {

/// A halo that has been declared: see halo(). Copies share what has been made.
template <communicator Comm, class T, std::size_t D>
class halo_exchange {
 public:
  explicit halo_exchange(std::shared_ptr<detail::halo_parts<T, D>> made) : parts(std::move(made)) {}
  halo_exchange(halo_exchange const&) = default;   // a move is a copy, as of neighbours
  halo_exchange& operator=(halo_exchange const&) = default;
  /// This rank's edges out, with their elements: those of all ranks together are the graph for record().
  std::vector<graph_edge> edges() const { return parts->edges_out(); }

  std::shared_ptr<detail::halo_parts<T, D>> parts;   ///< for the calls
};

namespace detail {

/// A halo that is asked for, and whether it can be.
template <class On, class Field>
struct asked_halo;
template <class Comm, std::size_t D, view_of_elements Field>
  requires(!makes_elements<Field>)
struct asked_halo<grid<Comm, D>, Field> {
  using view = decltype(view_of(std::declval<Field&>()));
  using T = std::remove_pointer_t<decltype(view::data)>;
  static constexpr bool is_written = !std::is_const_v<T>, has_axes = std::tuple_size_v<decltype(view::extents)> == D;
  static constexpr bool lasts = !temporary_array<Field>, travels = !address<T> && travels_over<T, Comm>;
  static constexpr bool is_packed = std::default_initializable<T> && !std::is_same_v<T, bool>;
  static constexpr bool is_right = is_written && has_axes && lasts && travels && is_packed;
};

/// The type of a mistaken halo(), with the message.
template <class... Arguments>
struct no_halo : mistake {
  static constexpr bool made = (makes_elements<Arguments> || ...);
  static_assert(!made, "colligo: this mdspan's accessor makes elements (scaled, conjugated), and a halo writes them");
  static_assert(made, "colligo: halo takes (grid of ranks, view of this rank's part, layers of ghosts): halo(grid, "
                "row_major(pointer, {height, width}), 1)");
};
template <class On, class Field, class... More>
  requires(!asked_halo<std::remove_cvref_t<On>, Field>::is_right)
struct no_halo<On, Field, More...> : mistake {
  using asked = asked_halo<std::remove_cvref_t<On>, Field>;
  static_assert(asked::is_written, "colligo: the ghosts of a halo are written: its elements can not be const");
  static_assert(asked::has_axes, "colligo: a halo needs an array of as many dimensions as the grid of ranks");
  static_assert(asked::lasts, "colligo: a halo reads and writes the array as long as it is used, but a temporary is "
                "destroyed before: give it a name");
  static_assert(asked::travels, "colligo: halo: elements of this type can not be sent");
  static_assert(asked::is_packed, "colligo: halo: elements are packed into a vector: they need a default constructor, "
                "and char stands for bool");
};

/// The type of a mistaken exchange(), with the message.
template <class Wrong>
struct no_exchange : mistake {
  static_assert(!std::is_same_v<Wrong, Wrong>, "colligo: exchange, iexchange and exchange_init take a halo, halo(grid, "
                "array, 1); over neighbours write all_to_all(graph, in, out)");
};

#define COLLIGO_NO_EXCHANGE(name) \
  template <class Wrong> \
    requires(!requires(Wrong const& declared) { colligo::name(declared); }) \
  detail::no_exchange<Wrong> name(Wrong const&) { return {}; }

template <made How, class Comm, class T, std::size_t D, class Algorithm>
made_t<How> exchange_halo(halo_exchange<Comm, T, D> const& halo, Algorithm const& algorithm) {
  set_hooks_of_counts<void>();
  auto& parts = *halo.parts;
  endpoint& state = parts.state();
  call_arguments<collective::exchange, Comm> const call(state);
  auto accepted = call.template accept<T>(blocks_along(parts.edges()), {}, {}, {}, {});
  values<std::byte> const field = parts.field();
  accepted.call.in = {field.data, field.covers}, accepted.call.out = field, accepted.call.beyond = parts.packed();
  with_distribution const now(state, parts.number());
  if constexpr (How == made::at_once) {
    call.attempt([&] { parts.pack(); });   // copies may allocate
    accepted.make(no_functor{}, algorithm);
    parts.unpack();
  } else {
    auto owned = accepted.template allocate<packing_halo<T, D>>(halo.parts);
    return accepted.template make_owning<How, no_functor>(std::move(owned), algorithm);
  }
}

}  // namespace detail

namespace by_name {

/// Declares a halo of an array on a grid of ranks: `field` is this rank's part with `width` layers of ghosts on each
/// side of each axis, also where there is no neighbour; exchange() then fills the ghosts with the neighbours' elements.
/// @param on     grid of as many dimensions as the array
/// @param field  row_major(pointer, {n, m}), strided(pointer, {n, m}, {s, t}), or a view of another library:
///               std::mdspan, Kokkos::View, Eigen's maps, boost::multi_array. Its elements have to live as long as the
///               halo is used.
/// @param width  layers of ghosts, 1 or more
/// @param which  corners::with: also diagonal neighbours' elements
/// Regions that lie side by side in memory are sent and received in place, others packed into memory of the halo.
/// Neighbours' parts have to have equal sides where they touch; otherwise exchange throws mismatch_error. Throws
/// argument_error if the part has fewer than `width` layers of its own, elements overlap, or it is null. Local.
template <communicator Comm, std::size_t D, detail::view_of_elements Field, std::integral Width>
  requires(detail::asked_halo<grid<Comm, D>, Field>::is_right)
auto halo(grid<Comm, D> const& on, Field&& field, Width width, corners which = corners::without) {
  using T = typename detail::asked_halo<grid<Comm, D>, Field>::T;
  detail::call_arguments<collective::exchange, Comm> const arguments(on.state());
  std::shared_ptr<detail::halo_parts<T, D>> parts;
  arguments.attempt([&] {
    auto const view = detail::view_of(field);
    if (std::string const why = detail::why_no_halo(view, static_cast<std::ptrdiff_t>(width)); !why.empty())
      throw argument_error(
          detail::concat({"colligo: halo on rank ", arguments.rank(), " of ", arguments.size(), ": ", why}));
    parts = std::make_shared<detail::halo_parts<T, D>>(on, view, static_cast<std::size_t>(width), which);
  });
  return halo_exchange<Comm, T, D>(std::move(parts));
}
/// For arguments that no form accepts: the message says what to write.
template <class... Arguments>
  requires(!requires(Arguments&&... arguments) { colligo::halo(static_cast<Arguments&&>(arguments)...); })
detail::no_halo<Arguments...> halo(Arguments&&...);

/// Fills the ghosts of a halo with the neighbours' elements: one message for each neighbour. Ghosts where there is none
/// keep their values. Throws mismatch_error if neighbours' sides have different lengths, or failed_elsewhere where
/// another rank has seen that; argument_error while a request of this halo is under way, until the program has seen it
/// complete; error if the communicator has been freed. A repeated call allocates nothing. Collective over the grid's
/// communicator.
template <communicator Comm, class T, std::size_t D, algorithm Algorithm = automatic>
void exchange(halo_exchange<Comm, T, D> const& declared, Algorithm const& algorithm = {}) {
  detail::exchange_halo<detail::made::at_once>(declared, algorithm);
}
/// As a request: the elements at the border are packed now, and have to stay if they are not packed; the ghosts have
/// their values when it is complete. Meanwhile the program may work on elements that are at no border.
template <communicator Comm, class T, std::size_t D, algorithm Algorithm = automatic>
request iexchange(halo_exchange<Comm, T, D> const& declared, Algorithm const& algorithm = {}) {
  return detail::exchange_halo<detail::made::started>(declared, algorithm);
}
/// As a persistent request, which packs at each start.
template <communicator Comm, class T, std::size_t D, algorithm Algorithm = automatic>
persistent exchange_init(halo_exchange<Comm, T, D> const& declared, Algorithm const& algorithm = {}) {
  return detail::exchange_halo<detail::made::ready>(declared, algorithm);
}

/// For arguments that are no halo: the message says what to write.
COLLIGO_NO_EXCHANGE(exchange)
COLLIGO_NO_EXCHANGE(iexchange)
COLLIGO_NO_EXCHANGE(exchange_init)
#undef COLLIGO_NO_EXCHANGE

}  // namespace by_name

}  // namespace colligo
