// SPDX-License-Identifier: BSL-1.0
/// @file
/// Calls whose first argument is no communicator, for names that a user's own functions may have: another argument is
/// one, or the first is a pointer to a class, as an MPI_Comm may be.
#pragma once

#include <type_traits>

#include "../communicators/communicators.hpp"
#include "mistakes.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

template <class First, class... Arguments>
concept lacks_communicator =
    !communicator<First> && ((std::is_pointer_v<First> && std::is_class_v<std::remove_pointer_t<First>>) ||
                             (communicator<std::remove_cvref_t<Arguments>> || ...));

/// The type of such a call, with the message.
template <class First>
struct no_communicator : mistake {
  static_assert(!std::is_same_v<First, First>, "colligo: the communicator is the first argument: sum(comm, range); "
                "for an MPI_Comm write colligo::mpi_communicator(comm)");
};

}  // namespace colligo

#define COLLIGO_COMMUNICATOR_FIRST(name)                                                                             \
  template <class First, class... Arguments>                                                                         \
    requires detail::lacks_communicator<First, Arguments...>                                                         \
  detail::no_communicator<First> name(First const&, Arguments&&...) { return {}; }
