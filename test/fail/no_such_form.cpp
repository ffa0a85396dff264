// SPDX-License-Identifier: BSL-1.0
// expect: colligo: this algorithm has no form for this collective: those that have are in the
//         table "Algorithms and knobs"
// lines: 20
#include <colligo/reduce.hpp>

int sum(colligo::thread_communicator& comm) {
#ifdef COLLIGO_MUST_FAIL
  return colligo::reduce(comm, 1, std::plus<>{}, 0, colligo::recursive_doubling{});
#else
  return colligo::reduce(comm, 1, std::plus<>{}, 0, colligo::binary_tree{});
#endif
}
