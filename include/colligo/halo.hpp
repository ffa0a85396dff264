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
  /// This rank's edges out, with their elements: those of all ranks together are the graph for record().
  std::vector<graph_edge> edges() const { return parts->edges_out(); }

  std::shared_ptr<detail::halo_parts<T, D>> parts;   ///< for the calls
};

namespace detail {

/// The type of a mistaken halo(), with the message.
template <class... Arguments>
struct no_halo : mistake {
  static_assert(sizeof...(Arguments) > 99,
                "colligo: halo takes (grid of ranks, view of this rank's part, layers of ghosts): halo(grid, "
                "row_major(pointer, {height, width}), 1)");
};

template <made How, class Comm, class T, std::size_t D, class Algorithm>
made_t<How> exchange_halo(halo_exchange<Comm, T, D> const& halo, Algorithm const& algorithm) {
#if COLLIGO_HAS_BODIES
  set_hooks_of_counts<void>();
#endif
  auto& parts = *halo.parts;
  endpoint& state = parts.state();
  call_arguments<collective::exchange, Comm> const call(state);
  auto accepted = call.template accept<T>(blocks_along(parts.edges()), {}, {}, {}, {});
  values<std::byte> const field = parts.field();
  accepted.call.in = {field.data, field.covers}, accepted.call.out = field, accepted.call.beyond = parts.packed();
  with_distribution const now(state, parts.number());
  if constexpr (How == made::at_once) {
    if (parts.packs()) call.attempt([&] { parts.pack(); });   // copies may allocate
    accepted.make(no_functor{}, algorithm);
    if (parts.packs()) parts.unpack();
  } else {
    auto owned = accepted.template own<packing_halo<T, D>>(halo.parts);
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
/// argument_error if the part has fewer than `width` layers of its own, or elements overlap. Local.
template <communicator Comm, std::size_t D, detail::view_of_elements Field>
auto halo(grid<Comm, D> const& on, Field&& field, std::size_t width, corners which = corners::without) {
  auto const view = detail::view_of(field);
  using T = std::remove_pointer_t<decltype(view.data)>;
  static_assert(!std::is_const_v<T>, "colligo: the ghosts of a halo are written: its elements can not be const");
  static_assert(std::tuple_size_v<decltype(view.extents)> == D,
                "colligo: a halo needs an array of as many dimensions as the grid of ranks");
  static_assert(detail::travels_over<T, Comm>, "colligo: elements of this type can not be sent");
  detail::call_arguments<collective::exchange, Comm> const arguments(on.state());
  std::shared_ptr<detail::halo_parts<T, D>> parts;
  arguments.attempt([&] {
    std::string const where =
        detail::concat({"colligo: halo on rank ", arguments.rank(), " of ", arguments.size(), ": "});
    if (width == 0) throw argument_error(where + "its width is 0");
    for (std::size_t d = 0; d < D; ++d) {
      if (view.strides[d] < 0)
        throw argument_error(where + "the stride of axis " + std::to_string(d) + " is negative");
      if (view.extents[d] / 3 < width)
        throw argument_error(where + "axis " + std::to_string(d) + " has " + std::to_string(view.extents[d]) +
                             " elements, too few for " + std::to_string(width) +
                             " layers of its own and as many ghosts on both sides");
    }
    if (std::string const why = detail::why_not_written(view); !why.empty()) throw argument_error(where + why);
    parts = std::make_shared<detail::halo_parts<T, D>>(on, view, width, which);
  });
  return halo_exchange<Comm, T, D>(std::move(parts));
}
/// For arguments that no form accepts: the message says what to write.
template <class... Arguments>
  requires(!requires(Arguments&&... arguments) { colligo::halo(static_cast<Arguments&&>(arguments)...); })
detail::no_halo<Arguments...> halo(Arguments&&...);

/// Fills the ghosts of a halo with the neighbours' elements: one message for each neighbour. Ghosts where there is none
/// keep their values. Throws mismatch_error if neighbours' sides have different lengths, or failed_elsewhere where
/// another rank has seen that; error if the communicator has been freed. A repeated call allocates nothing. Collective
/// over the grid's communicator.
template <communicator Comm, class T, std::size_t D, algorithm Algorithm = automatic>
void exchange(halo_exchange<Comm, T, D> const& declared, Algorithm const& algorithm = {}) {
  detail::exchange_halo<detail::made::at_once>(declared, algorithm);
}
/// As a request: the elements at the border are packed now, and have to stay if they are not packed; the ghosts have
/// their values when it is complete. Meanwhile the program may work on elements that are at no border.
template <communicator Comm, class T, std::size_t D, algorithm Algorithm = automatic>
[[nodiscard]] request iexchange(halo_exchange<Comm, T, D> const& declared, Algorithm const& algorithm = {}) {
  return detail::exchange_halo<detail::made::started>(declared, algorithm);
}
/// As a persistent request, which packs at each start.
template <communicator Comm, class T, std::size_t D, algorithm Algorithm = automatic>
[[nodiscard]] persistent exchange_init(halo_exchange<Comm, T, D> const& declared, Algorithm const& algorithm = {}) {
  return detail::exchange_halo<detail::made::ready>(declared, algorithm);
}

}  // namespace by_name

}  // namespace colligo
