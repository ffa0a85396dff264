// SPDX-License-Identifier: BSL-1.0
/// @file
/// The transport over an MPI_Comm. Elements that are bytes travel as bytes; a long pair send + recv or send + fold is
/// one MPI_Sendrecv, other steps are non-blocking. A warm communicator allocates nothing and makes no MPI object.
#pragma once

// Without the C++ bindings, which MPI 3.0 removed and Boost.MPI leaves out too: a third of a second in every unit.
#if !defined(OMPI_SKIP_MPICXX)
#define OMPI_SKIP_MPICXX
#endif
#if !defined(MPICH_SKIP_MPICXX)
#define MPICH_SKIP_MPICXX
#endif
#include <mpi.h>

#define COLLIGO_OVER_MPI

#include "../core/error.hpp"
#include "../transport/messages/mpi_endpoint.hpp"
#include "../transport/messages/mpi_error.hpp"
#include "../transport/messages/mpi_vendor.hpp"

namespace colligo::inline COLLIGO_MODE {

/// An MPI_Comm as this library's communicator. Does not own it. Precondition: not an
/// intercommunicator. Throws error before MPI_Init and after MPI_Finalize.
class mpi_communicator {
 public:
  mpi_communicator(MPI_Comm comm) : comm_(comm) {
    if (comm == MPI_COMM_NULL)
      throw argument_error("colligo: mpi_communicator: made from MPI_COMM_NULL: this rank is not in it");
    detail::require_mpi();
    detail::check_mpi(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
    detail::check_mpi(MPI_Comm_size(comm, &size_), "MPI_Comm_size");
  }

  int rank() const { return rank_; }
  int size() const { return size_; }
  operator MPI_Comm() const { return comm_; }

 private:
  MPI_Comm comm_;
  int rank_ = 0, size_ = 0;
};

namespace detail {

class letters;

/// Ports over MPI: the descriptions of elements and functors for their calls.
struct over_mpi {
  template <class T>
  static constexpr bool carries = requires { sizeof(serialised<T>); };
  template <class T>
  static constexpr bool has_vendor = vendor_takes<T>;
  template <class T, class Op, bool MayBeVendor>
  static void const* wire() { return &mpi_element_of<T, Op, MayBeVendor>; }
  static owner<letters> open_letters(endpoint& at, element const& of, void const* wire);   // exchange/
};

}  // namespace detail

template <>
struct state_of<mpi_communicator> : detail::over_mpi {
  static detail::endpoint& open(mpi_communicator const& comm) { return detail::mpi_endpoint(comm); }
};

}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include "../bootstrap/mpi_state_body.hpp"
#if defined(COLLIGO_HAS_POLICIES)   // without them no call can take the MPI library's own collective
#include "../transport/messages/mpi_vendor_body.hpp"
#endif
#endif
