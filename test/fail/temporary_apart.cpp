// SPDX-License-Identifier: BSL-1.0
// expect: colligo: a request reads its input until it is complete, but a temporary is destroyed before: give it a name,
//         and keep it until wait()
// lines: 14
#include <colligo/all_reduce.hpp>
#include <colligo/views.hpp>

#include <deque>
#include <vector>

void sum(boost::mpi::communicator& comm, std::deque<int>& kept, std::vector<int>& out) {
#ifdef COLLIGO_MUST_FAIL
  colligo::iall_reduce(comm, std::deque<int>(kept), out, std::plus<>{}).wait();
#else
  colligo::iall_reduce(comm, kept, out, std::plus<>{}).wait();
#endif
}
