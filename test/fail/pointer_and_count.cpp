// SPDX-License-Identifier: BSL-1.0
// expect: colligo: this collective has no form for a pointer and a count: write std::span(pointer, count)
// lines: 12
#include <colligo/reduce_scatter.hpp>

void sum(colligo::thread_communicator& comm, double const* in, std::size_t n, double& out) {
#ifdef COLLIGO_MUST_FAIL
  colligo::reduce_scatter_block(comm, in, n, &out, std::plus<>{});
#else
  colligo::reduce_scatter_block(comm, std::span(in, n), std::span(&out, 1), std::plus<>{});
#endif
}
