// SPDX-License-Identifier: BSL-1.0
/// @file
/// broadcast: every rank gets the root's vector.
#pragma once

#include "select/call.hpp"
#include "transport/models.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <class Comm, class R>
auto accept_broadcast(Comm const& comm, R& both, int root) {
  using T = std::ranges::range_value_t<R>;
  door<collective::broadcast, Comm> const its(comm);
  its.require_root(root);
  std::span<T> const to(both);
  std::span<T const> const from = its.at(root) ? to : std::span<T>{};
  blocks const all = its.vector_of(to.size());
  return its.accept(all, from, {0, from.size()}, to, all.whole, root);
}

}  // namespace detail

/// Copies the root's `both` to every rank's.
/// @param both       contiguous range of n elements, the same n on every rank
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (root out of range), algorithm_error (unknown name), mpi_error; nothing is
/// written before the arguments are accepted. Cost: see the card of the algorithm. Collective over comm.
template <communicator Comm, elements R, algorithm Algorithm = automatic>
void broadcast(Comm const& comm, R&& both, int root, Algorithm const& algorithm = {}) {
  detail::no_functor nothing;
  detail::accept_broadcast(comm, both, root).run(nothing, algorithm);
}
/// The same, started: complete when the request says so. Throws as broadcast does.
template <communicator Comm, elements R, algorithm Algorithm = automatic>
[[nodiscard]] request ibroadcast(Comm const& comm, R&& both, int root, Algorithm const& algorithm = {}) {
  return detail::accept_broadcast(comm, both, root).start(detail::no_functor{}, algorithm);
}
/// The same, made ready to be started any number of times on the same memory. Collective.
template <communicator Comm, elements R, algorithm Algorithm = automatic>
[[nodiscard]] persistent broadcast_init(Comm const& comm, R&& both, int root, Algorithm const& algorithm = {}) {
  return detail::accept_broadcast(comm, both, root).init(detail::no_functor{}, algorithm);
}

}  // namespace colligo
