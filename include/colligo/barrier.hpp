// SPDX-License-Identifier: BSL-1.0
/// @file
/// barrier: no rank goes on before all have come.
#pragma once

#include <array>
#include <memory>

#include "select/communicators.hpp"
#include "select/door.hpp"
#include "select/mistakes.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// One byte to send and one to receive.
template <class Comm>
auto accept_barrier(Comm const& comm, std::span<std::byte, 2> signals) {
  door<collective::barrier, Comm> const its(comm);
  blocks const all = its.vector_of(2);
  return its.accept(all, std::span<std::byte const>(signals), all.whole, std::span<std::byte>(signals), all.whole);
}
struct owned_signals final : owned_functor<no_functor> {
  owned_signals() : owned_functor<no_functor>({}) {}
  std::array<std::byte, 2> signals{};
};

}  // namespace detail

/// Returns when every rank of comm has called it.
/// @param comm       communicator, all of whose ranks make the call
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws algorithm_error (unknown name), mpi_error. Cost: see the card of the algorithm. Collective over comm.
template <communicator Comm, algorithm Algorithm = automatic>
void barrier(Comm const& comm, Algorithm const& algorithm = {}) {
  std::array<std::byte, 2> signals{};
  detail::no_functor nothing;
  detail::accept_barrier(comm, std::span(signals)).run(nothing, algorithm);
}
/// The same, started: complete when every rank has started it. Throws as barrier does.
template <communicator Comm, algorithm Algorithm = automatic>
[[nodiscard]] request ibarrier(Comm const& comm, Algorithm const& algorithm = {}) {
  auto owned = std::make_unique<detail::owned_signals>();
  auto its = detail::accept_barrier(comm, std::span(owned->signals));
  return its.template start_owning<detail::no_functor>(std::move(owned), algorithm);
}
/// The same, made ready to be started any number of times. Collective.
template <communicator Comm, algorithm Algorithm = automatic>
[[nodiscard]] persistent barrier_init(Comm const& comm, Algorithm const& algorithm = {}) {
  auto owned = std::make_unique<detail::owned_signals>();
  auto its = detail::accept_barrier(comm, std::span(owned->signals));
  return its.template init_owning<detail::no_functor>(std::move(owned), algorithm);
}

}  // namespace colligo

COLLIGO_NO_OTHER_FORMS(barrier)
