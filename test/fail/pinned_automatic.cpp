// SPDX-License-Identifier: BSL-1.0
// expect: colligo: with COLLIGO_PINNED a call names its algorithm by a tag: include <colligo/automatic.hpp> for others
// flags: -UCOLLIGO_COMPILED -DCOLLIGO_PINNED
#include <colligo/algorithm/ring.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/transport/threads/threads.hpp>

#include <functional>

int sum(colligo::thread_communicator& comm) {
#ifdef COLLIGO_MUST_FAIL
  return colligo::all_reduce(comm, 1, std::plus<>{});
#else
  return colligo::all_reduce(comm, 1, std::plus<>{}, colligo::ring{});
#endif
}
