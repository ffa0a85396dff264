// SPDX-License-Identifier: BSL-1.0
// expect: colligo: the output is const: the call can not write to it
// lines: 12
#include <colligo/broadcast.hpp>
#include <colligo/views.hpp>

#ifdef COLLIGO_MUST_FAIL
using got = int const;
#else
using got = int;
#endif

void column(boost::mpi::communicator& comm, got* out) { colligo::broadcast(comm, colligo::strided(out, 4, 2), 0); }
