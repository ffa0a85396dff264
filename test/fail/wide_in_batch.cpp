// SPDX-License-Identifier: BSL-1.0
// expect: colligo: element types may have at most the alignment of a cache line
// lines: 12
#include <colligo/batch.hpp>

#ifdef COLLIGO_MUST_FAIL
struct alignas(128) wide { long all[16]; };
#else
struct alignas(64) wide { long all[8]; };
#endif

void add(boost::mpi::communicator const& comm, std::vector<wide> const& in, std::vector<wide>& out) {
  colligo::batch calls(comm);
  calls.all_reduce(in, out, [](wide const& a, wide const&) { return a; });
  calls.run();
}
