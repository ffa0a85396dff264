// SPDX-License-Identifier: BSL-1.0
// expect: colligo: a request takes the arguments of the blocking call, ranges that are no temporaries, functors that
//         can be copied, and last a variable of the type that the blocking call returns
// lines: 12
#include <colligo/sequence.hpp>
#include <colligo/views.hpp>

#include <deque>

void sum(boost::mpi::communicator& comm, std::deque<int>& kept, std::int64_t& out) {
#ifdef COLLIGO_MUST_FAIL
  colligo::isum(comm, std::deque<int>(kept), out).wait();
#else
  colligo::isum(comm, kept, out).wait();
#endif
}
