// SPDX-License-Identifier: BSL-1.0
// expect: colligo: this mdspan's accessor makes elements (scaled, conjugated): copy them
#include <colligo/all_gather.hpp>
#include <colligo/views.hpp>
#include <cstddef>

// What std::linalg::scaled(2.0, x) is, as far as anybody looks.
struct scaled {
  using element_type = double;
#ifdef COLLIGO_MUST_FAIL
  using reference = double;
#else
  using reference = double&;
#endif
  static constexpr std::size_t rank() { return 1; }
  int stride(std::size_t) const;
  int extent(std::size_t) const;
  scaled const& mapping() const;
  scaled const& extents() const;
  double* data_handle() const;
};

void twice(boost::mpi::communicator& comm, scaled const& in, double* out) {
  colligo::all_gather(comm, in, colligo::strided(out, 8, 2));
}
