// SPDX-License-Identifier: BSL-1.0
// expect: colligo: a request reads its input until it is complete, but a temporary is destroyed before: give it a name,
//         and keep it until wait()
// lines: 14
#include <colligo/neighbours.hpp>
#include <colligo/views.hpp>

#include <deque>
#include <vector>

void gather(colligo::neighbours<boost::mpi::communicator> const& graph, std::deque<int>& kept, std::vector<int>& out) {
#ifdef COLLIGO_MUST_FAIL
  colligo::iall_gather(graph, std::deque<int>(kept), out).wait();
#else
  colligo::iall_gather(graph, kept, out).wait();
#endif
}
