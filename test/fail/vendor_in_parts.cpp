// SPDX-License-Identifier: BSL-1.0
// expect: colligo: vendor is not made of steps, so it can be no stage of another algorithm
#include <colligo/all_reduce.hpp>

#ifdef COLLIGO_MUST_FAIL
using between = colligo::vendor;
#else
using between = colligo::recursive_doubling;
#endif

int sum(boost::mpi::communicator& comm) {
  return colligo::all_reduce(comm, 1, std::plus<>{}, colligo::hierarchical<colligo::binary_tree, between>{});
}
