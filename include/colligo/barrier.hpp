// SPDX-License-Identifier: BSL-1.0
/// @file
/// barrier: no rank goes on before all have come.
#pragma once

#include "transport/models.hpp"
#include "select/call.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Returns when every rank of comm has called it.
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws algorithm_error (unknown name), mpi_error. Cost: see the card of the algorithm. Collective over comm.
template <communicator Comm, algorithm Algorithm = automatic>
void barrier(Comm const& comm, Algorithm const& algorithm = {}) {
  auto const call = detail::enter<collective::barrier>(comm);
  std::array<std::byte, 2> signals{};   // one to send and one to receive
  std::span<std::byte> const both(signals);
  detail::no_functor nothing;
  call.run(algorithm, call.vector_of(2), detail::holding(std::span<std::byte const>(both), {0, 2}), detail::holding(both, {0, 2}), nothing);
}

}  // namespace colligo
