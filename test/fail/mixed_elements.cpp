// SPDX-License-Identifier: BSL-1.0
// expect: colligo: input and output must have the same element type
// lines: 12
#include <colligo/all_reduce.hpp>

#include <vector>

#ifdef COLLIGO_MUST_FAIL
using input = float;
#else
using input = double;
#endif

void sum(colligo::thread_communicator& comm, std::vector<input> const& in, std::vector<double>& out) {
  colligo::all_reduce(comm, in, out, std::plus<>{});
}
