// SPDX-License-Identifier: BSL-1.0
// expect: colligo: require{any_order} is for blocking calls, because it makes two collectives: for requests take
//         elements of colligo::binned_sum<double>
#include <colligo/all_reduce.hpp>
#include <colligo/require.hpp>

#include <vector>

#ifdef COLLIGO_MUST_FAIL
using number = double;
#else
using number = int;
#endif

void sum(boost::mpi::communicator& comm, std::vector<number>& in, std::vector<number>& out) {
  colligo::iall_reduce(comm, in, out, std::plus<>{}, colligo::require{colligo::any_order}).wait();
}
