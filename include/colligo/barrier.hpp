// SPDX-License-Identifier: BSL-1.0
/// @file
/// barrier: no rank returns before all ranks have called.
#pragma once

#include <array>
#include <span>

#include "arguments/calls.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// One byte to send and one to receive.
struct owned_bytes final : owned_functor<no_functor> {
  owned_bytes() : owned_functor<no_functor>({}) {}
  std::array<std::byte, 2> bytes{};
};
template <>
struct calls<collective::barrier> {
  template <made How, communicator Comm, algorithm Algorithm = automatic>
  static made_t<How> make(Comm const& comm, Algorithm const& algorithm = {}) {
    call_arguments<collective::barrier, Comm> const arguments(comm);
    std::array<std::byte, 2> here{};
    if constexpr (How == made::at_once) {
      return arguments.accept_whole(std::span<std::byte>(here)).template make<How>(no_functor{}, algorithm);
    } else {
      auto owned = arguments.accept_whole(std::span<std::byte>(here)).template allocate<owned_bytes>();
      auto accepted = arguments.accept_whole(std::span<std::byte>(owned->bytes));
      return accepted.template make_owning<How, no_functor>(std::move(owned), algorithm);
    }
  }
};

}  // namespace detail

namespace by_name {

/// Returns when every rank of comm has called it.
/// @param comm       communicator, all of whose ranks make the call
/// @param algorithm  a tag (compile time), named("...") (run time), automatic{}
/// Throws algorithm_error (unknown name), mpi_error. Cost: see the card of the algorithm. Collective over comm.
template <communicator Comm, algorithm Algorithm = automatic>
void barrier(Comm const& comm, Algorithm const& algorithm = {}) {
  detail::calls<collective::barrier>::make<detail::made::at_once>(comm, algorithm);
}
/// ibarrier, barrier_init: the same as requests (request.hpp), complete when every rank has started them.
COLLIGO_REQUESTS(barrier)

}  // namespace by_name

}  // namespace colligo

COLLIGO_NO_OTHER_FORM(barrier)
