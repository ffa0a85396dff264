// SPDX-License-Identifier: BSL-1.0
/// @file
/// Checked mode for one communicator: checked(comm). COLLIGO_CHECK=1 does the same for all communicators of a program.
#pragma once

#include <type_traits>

#include "call.hpp"

namespace colligo::inline COLLIGO_MODE {

/// A communicator whose ranks compare every call before it begins; all ranks have to pass such a one. It converts to
/// `comm`.
template <communicator Comm>
class checked_communicator {
 public:
  explicit checked_communicator(Comm const& comm) : comm_(comm) {}

  int rank() const { return comm_.rank(); }
  int size() const { return comm_.size(); }
  operator Comm const&() const { return comm_; }

 private:
  // A copy if possible, because it may outlive the original.
  std::conditional_t<std::copy_constructible<Comm>, Comm, Comm const&> comm_;
};

template <class Comm>
struct state_of<checked_communicator<Comm>> : state_of<Comm> {
  static constexpr bool checks_calls = true;
  static detail::endpoint& open(checked_communicator<Comm> const& comm) { return state_of<Comm>::open(comm); }
};

namespace by_name {

/// Every call over it, blocking or request, first compares collective, number of elements, root, types of elements and
/// functor, algorithm, knobs and transport, in an all_reduce of 16 bytes, and then, where each rank has counts of its
/// own, whether what is sent is expected, in one of 8 bytes. If ranks differ, or some refuse their call,
/// the others throw the same mismatch_error, which lists the calls of all ranks. Nothing has been sent then, and later
/// calls are right. A request begins when all ranks have made it.
template <communicator Comm>
checked_communicator<Comm> checked(Comm const& comm) { return checked_communicator<Comm>(comm); }

}  // namespace by_name

}  // namespace colligo
