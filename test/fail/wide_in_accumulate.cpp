// SPDX-License-Identifier: BSL-1.0
// expect: colligo: elements of top and accumulate may have at most an alignment of 16
// lines: 80
#include <colligo/sequence.hpp>

#include <vector>

#ifdef COLLIGO_MUST_FAIL
struct alignas(32) wide { long all[4]; };
#else
struct alignas(16) wide { long all[4]; };
#endif

wide first(boost::mpi::communicator const& comm, std::vector<wide> const& in) {
  return colligo::accumulate(comm, in, [](wide const& a, wide const&) { return a; });
}
