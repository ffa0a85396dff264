// SPDX-License-Identifier: BSL-1.0
// expect: colligo: an algorithm is a tag or a name: write colligo::ring{} or colligo::named(
// lines: 12
#include <colligo/broadcast.hpp>

void send(colligo::thread_communicator& comm, double& value) {
#ifdef COLLIGO_MUST_FAIL
  colligo::broadcast(comm, value, 0, "binary_tree");
#else
  colligo::broadcast(comm, value, 0, colligo::named("binary_tree"));
#endif
}
