// SPDX-License-Identifier: BSL-1.0
// expect: colligo: maxloc and minloc combine values with their places: write colligo::located<T, Index>{value, index}
// lines: 12
#include <colligo/all_reduce.hpp>

void largest(colligo::thread_communicator& comm, double value) {
#ifdef COLLIGO_MUST_FAIL
  colligo::all_reduce(comm, value, colligo::maxloc{});
#else
  colligo::all_reduce(comm, colligo::located<double>{value, comm.rank()}, colligo::maxloc{});
#endif
}
