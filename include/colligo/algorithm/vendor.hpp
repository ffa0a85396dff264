// SPDX-License-Identifier: BSL-1.0
/// @file
/// Vendor: the MPI library's own collective. It is not made of steps; transports over MPI call it
/// (messages/mpi_vendor.hpp). Picture  none, the library decides
/// Cost     unknown, measure it: benchmarks/compare
/// Needs    a communicator over MPI and an element type that travels as bytes
/// Order    kept (MPI asks for it unless the functor is known to commute); the standard only
///          recommends the same bits on all ranks
/// Errors   those of one rank alone (arguments, a functor that throws) the others do not hear of: a blocking collective
///          of MPI's returns to nobody before its end, one that has been started can not be cancelled, and what is left
///          of either meets the next. In checked mode arguments are refused on all ranks before the call
/// Requests do not go on in vendor{}, MPI's blocking collective: let no rank wait for one before it comes to the call
///          that another is in. Chosen by the environment, a table, adaptive or a name it is MPI's non-blocking one,
///          waited for with progress; MPI lets the two not meet
/// Prefer   where benchmarks/compare says so.   Avoid: user functors, most MPI libraries use slow algorithms for them
/// Source   MPI-3.1, section 5.9
#pragma once

#include "../core/mode.hpp"

#include <string_view>

namespace colligo::inline COLLIGO_MODE {

struct vendor {
  static constexpr std::string_view name = "vendor";

  struct form {
    static constexpr bool ordered = true;
    static constexpr bool is_made_of_steps = false;
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
