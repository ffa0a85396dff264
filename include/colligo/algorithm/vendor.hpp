// SPDX-License-Identifier: BSL-1.0
/// @file
/// Vendor: the MPI library's own collective. It does not consist of steps; transports over MPI call it
/// (transport/messages/mpi_vendor.hpp).
/// Picture  all_reduce of doubles by std::plus<> is one MPI_Allreduce of MPI_DOUBLE by MPI_SUM; other types are
///          contiguous bytes to MPI, other functors an MPI_Op that calls them
/// Cost     unknown, measure it with benchmarks' compare
/// Needs    a communicator over MPI and an element type that travels as bytes
/// Order    kept (MPI requires it unless the functor is known to commute); the standard only recommends the same bits
///          on all ranks
/// Errors   other ranks do not see an error of one rank (arguments, a functor that throws): MPI's blocking collective
///          does not return before its end, a started one can not be cancelled, and messages left of either match the
///          next call. In checked mode all ranks refuse arguments before the call
/// Requests make no progress in vendor{}, MPI's blocking collective: no rank may wait for a request while another rank
///          is already in the call. The environment, a table, adaptive or a name use MPI's non-blocking one, and wait
///          with progress; MPI does not let the two match
/// Prefer   if compare says so.   Avoid: user functors, for which most MPI libraries use slow algorithms
/// Source   MPI-3.1, section 5.9
#pragma once

#include "../core/mode.hpp"

#include <string_view>

namespace colligo::inline COLLIGO_MODE {

struct vendor {
  static constexpr std::string_view name = "vendor";

  struct form {
    static constexpr bool ordered = true, is_made_of_steps = false;
  };
  template <class T, class Op> struct all_reduce : form {};
  template <class T, class Op> struct reduce : form {};
  template <class T, class Op> struct reduce_scatter : form {};
  template <class T, class Op> struct scan : form {};
  template <class T, class Op> struct exclusive_scan : form {};
  template <class T> struct broadcast : form {};
  template <class T> struct all_gatherv : form {};
  template <class T> struct gatherv : form {};
  template <class T> struct scatterv : form {};
  template <class T> struct all_to_all_v : form {};
  struct barrier : form {};
};

}  // namespace colligo
