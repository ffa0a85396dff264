// SPDX-License-Identifier: BSL-1.0
/// @file
/// Vendor: the MPI library's own collective. It has no text here; models over MPI call it (model/mpi_vendor.hpp).
/// Picture  none, the library decides
/// Cost     unknown, measure it: benchmarks/compare
/// Needs    a communicator over MPI and an element type that travels as bytes
/// Order    kept (MPI asks for it unless the functor is known to commute); the standard only recommends the same bits on all ranks
/// Prefer   where benchmarks/compare says so.   Avoid: user functors, most MPI libraries use slow algorithms for them
/// Source   MPI-3.1, section 5.9
#pragma once

#include <string_view>

namespace colligo {

struct vendor {
  static constexpr std::string_view name = "vendor";

  template <class T, class Op>
  struct all_reduce {
    static constexpr bool ordered = true;
  };
  template <class T, class Op>
  struct reduce {
    static constexpr bool ordered = true;
  };
};

}  // namespace colligo
