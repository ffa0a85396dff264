// SPDX-License-Identifier: BSL-1.0
// expect: colligo: require{any_order} is for sums of float and double by std::plus<>{}, and for exact operations: for
//         other functors write require{same_bits}, or colligo::accumulate(comm, range, op)
#include <colligo/all_reduce.hpp>
#include <colligo/require.hpp>

#ifdef COLLIGO_MUST_FAIL
using number = double;
#else
using number = int;
#endif

number product(boost::mpi::communicator& comm) {
  return colligo::all_reduce(comm, number{2}, std::multiplies<>{}, colligo::require{colligo::any_order});
}
