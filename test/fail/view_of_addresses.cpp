// SPDX-License-Identifier: BSL-1.0
// expect: colligo: elements that are addresses (pointers, references, spans, string_views) mean nothing on another
//         rank: send what they point to
// lines: 12
#include <colligo/all_gather.hpp>
#include <colligo/views.hpp>

#ifdef COLLIGO_MUST_FAIL
using sent = int*;
#else
using sent = int;
#endif

void columns(boost::mpi::communicator& comm, sent* in, sent* out) {
  colligo::all_gather(comm, colligo::strided(in, 4, 2), colligo::strided(out, 8, 2));
}
