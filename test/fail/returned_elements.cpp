// SPDX-License-Identifier: BSL-1.0
// expect: colligo: elements that a call returns need a default constructor: give the call an output and counts
// lines: 55
#include <colligo/all_gatherv.hpp>

#include <vector>

struct room {
  int number;
  explicit room(int n) : number(n) {}
};

void gather(boost::mpi::communicator const& comm, std::vector<room>& all, std::vector<int> const& counts) {
#ifdef COLLIGO_MUST_FAIL
  static_cast<void>(colligo::all_gatherv(comm, all));
#else
  colligo::all_gatherv(comm, std::vector<room>(1, all[0]), all, counts);
#endif
}
