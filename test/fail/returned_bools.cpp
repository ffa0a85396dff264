// SPDX-License-Identifier: BSL-1.0
// expect: colligo: std::vector<bool> has bits instead of elements: give the call an output and counts
// lines: 55
#include <colligo/all_gatherv.hpp>

#include <array>
#include <vector>

void gather(boost::mpi::communicator const& comm, std::array<bool, 2> const& mine, std::vector<int> const& counts) {
#ifdef COLLIGO_MUST_FAIL
  static_cast<void>(colligo::all_gatherv(comm, mine)), static_cast<void>(counts);
#else
  std::array<bool, 100> all{};
  colligo::all_gatherv(comm, mine, all, counts);
#endif
}
