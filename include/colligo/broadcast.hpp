// SPDX-License-Identifier: BSL-1.0
/// @file
/// broadcast: every rank gets the root's vector.
#pragma once

#include "transport/models.hpp"
#include "select/call.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Copies the root's `both` to every rank's.
/// @param both       contiguous range of n elements, the same n on every rank
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws argument_error (root out of range), algorithm_error (unknown name), mpi_error; nothing is
/// written before the arguments are accepted. Cost: see the card of the algorithm. Collective over comm.
template <communicator Comm, elements R, algorithm Algorithm = automatic>
void broadcast(Comm const& comm, R&& both, int root, Algorithm const& algorithm = {}) {
  using T = std::ranges::range_value_t<R>;
  auto const call = detail::enter<collective::broadcast>(comm);
  call.require_root(root);
  std::span<T> const to(both);
  std::span<T const> const from = call.at(root) ? to : std::span<T>{};
  auto const all = call.vector_of(to.size());
  detail::no_functor nothing;
  call.run(algorithm, all, detail::holding(from, {0, from.size()}), detail::holding(to, all.whole), nothing, root);
}

}  // namespace colligo
