// SPDX-License-Identifier: BSL-1.0
// expect: colligo: this algorithm takes the tree of the environment: include <colligo/trees.hpp>
// flags: -UCOLLIGO_COMPILED -DCOLLIGO_PINNED
#include <colligo/algorithm/configured.hpp>
#include <colligo/all_reduce.hpp>
#include <colligo/transport/threads/threads.hpp>

#include <functional>

int sum(colligo::thread_communicator& comm) {
  return colligo::all_reduce(comm, 1, std::plus<>{}, colligo::along_trees{});
}
