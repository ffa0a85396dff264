// SPDX-License-Identifier: BSL-1.0
// expect: colligo: rotating_ring and census use a rank's own contribution to the end, so they can not combine
//         the results of an earlier stage
#include <colligo/all_reduce.hpp>

#ifdef COLLIGO_MUST_FAIL
using between = colligo::census;
#else
using between = colligo::recursive_doubling;
#endif

int sum(boost::mpi::communicator& comm) {
  return colligo::all_reduce(comm, 1, std::plus<>{}, colligo::hierarchical<colligo::binary_tree, between>{});
}
