// SPDX-License-Identifier: BSL-1.0
// expect: colligo: input and output must have the same element type
// lines: 12
#include <colligo/all_reduce.hpp>

#ifdef COLLIGO_MUST_FAIL
using output = float;
#else
using output = double;
#endif

void sum(colligo::thread_communicator& comm, double in, output& out) {
  colligo::all_reduce(comm, in, out, std::plus<>{});
}
